#!/usr/bin/env python3
"""Compiles each *.cpp beside this file, which must fail with the error that the file expects.

    // expect-error: REGEX    the first error matches it; from a second such line on: the messages contain it somewhere
    // expect-success         compiles: the controls, which prove that a failure is not due to the flags
    // flags: -fno-rtti       are added to the others
    // needs: mpi             left out where PLAIT_WITH_MPI=0
"""
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import compiling  # noqa: E402

compiler, directory, flags = compiling.arguments()
# Most of the time would go into the same header. A file with flags of its own reads it anew.
scratch = tempfile.TemporaryDirectory()
precompiled = compiling.precompiled(compiler, flags, "plait/plait.hpp", scratch.name)


def tail(messages):
    return "\n    " + "\n    ".join(messages.splitlines()[:15])


def check(path):
    text = path.read_text(encoding="utf-8")
    expected = re.findall(r"^// expect-error: ?(.*)$", text, re.MULTILINE)
    succeeds = re.search(r"^// expect-success\b", text, re.MULTILINE)
    if bool(expected) == bool(succeeds):
        return "needs either '// expect-error: REGEX' or '// expect-success'"
    own = re.search(r"^// flags: (.*)$", text, re.MULTILINE)
    status, messages = compiling.check_syntax(compiler, flags + own.group(1).split() if own else precompiled + flags, path)
    if succeeds:
        return f"does not compile:{tail(messages)}" if status else None
    if status == 0:
        return "compiles, but must not"
    errors = [line for line in messages.splitlines() if re.search(r"\berror: ", line)]
    if not errors or not re.search(expected[0], errors[0]):
        return f"the first error is not '{expected[0]}':{tail(chr(10).join(errors) or messages)}"
    for pattern in expected[1:]:
        if not re.search(pattern, messages):
            return f"no message has '{pattern}':{tail(messages)}"
    return None


def wanted(path):
    needs = re.search(r"^// needs:.*\bmpi\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    return not (needs and "-DPLAIT_WITH_MPI=0" in flags)


sys.exit(compiling.run_all(check, [p for p in sorted(directory.glob("*.cpp")) if wanted(p)]))
