#!/usr/bin/env python3
"""Compiles each public header alone, with warnings as errors: by itself, included twice, or at the beginning of another."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import compiling  # noqa: E402

compiler, include, flags = compiling.arguments()
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
# These say `#error` where there is no MPI, as they should.
NEEDS_MPI = "plait/net/mpi"


def check(header):
    text = f"#include <{header}>\n#include <{header}>\nint main() {{}}\n"
    status, messages = compiling.check_syntax(compiler, [*flags, *WARNINGS], None, text)
    return "\n    " + "\n    ".join(messages.splitlines()[:15]) if status else None


headers = sorted(p.relative_to(include).as_posix() for p in include.rglob("*.hpp"))
if "-DPLAIT_WITH_MPI=0" in flags:
    headers = [h for h in headers if not h.startswith(NEEDS_MPI)]
if compiling.only:
    headers = [h for h in headers if h in compiling.only]
else:
    # What another header begins with stands alone at the beginning there.
    begins = re.compile(r"(?:\s|//[^\n]*\n|#pragma once)*#include <(plait/[^>]+)>")
    found = (begins.match((include / h).read_text(encoding="utf-8")) for h in headers)
    shown = {m.group(1) for m in found if m}
    headers = [h for h in headers if h not in shown]
sys.exit(compiling.run_all(check, headers))
