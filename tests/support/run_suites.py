#!/usr/bin/env python3
"""run_suites.py [--only-build] BUILD LABEL JOBS SUITE... [-- MESON TEST OPTION...]: builds and runs the tests of these suites.

Prints the end of the log of each test that fails, and as its last line "LABEL: N passed, N failed". What counts:
each doctest case in each run (a case that runs on 1, 2, 3 and 4 ranks is four), each case of a test that ends with
"N passed, N failed", else the test itself. A program that does not compile, crashes or hangs is at least one failure.
A test that skips itself (exit status 77) counts as nothing and is named.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ANSI = re.compile(r"\x1b\[[0-9;]*m")
DOCTEST = re.compile(r"^\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed", re.MULTILINE)
COUNTED = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
TAIL = 60  # lines


def build(directory, tests, jobs):
    """Builds what the tests need; returns those that cannot run because a program of theirs is missing."""
    targets = {t["id"]: [os.path.relpath(f, directory) for f in t["filename"]] for t in introspect(directory, "targets")}
    files = {t["name"]: [f for d in t["depends"] for f in targets[d]] for t in tests}
    wanted = sorted({f for group in files.values() for f in group})
    if not wanted:
        return []
    command = ["ninja", "-C", str(directory), "-k", "0", "-j", str(jobs), *wanted]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    (directory / "build.log").write_text(done.stdout)
    if done.returncode == 0:
        return []
    lines = done.stdout.splitlines()
    wrong = [n for n, line in enumerate(lines) if line.startswith("FAILED:")]
    for n in wrong[:5]:
        print("\n".join(line[:400] for line in lines[n : n + 1] + lines[n + 2 : n + 2 + TAIL // 2]))
    if len(wrong) > 5:
        print(f"... and {len(wrong) - 5} more: {directory}/build.log")
    if not wrong:
        print("\n".join(lines[-TAIL:]))
    outputs = [output for n in wrong for output in lines[n].split()[1:]]
    own = {f for f in wanted if any(o == f or o.startswith(f + ".p/") for o in outputs)}
    if all(any(o == f or o.startswith(f + ".p/") for f in own) for o in outputs) and outputs:
        return [name for name, group in files.items() if own.intersection(group)]
    # A library that they share is broken, or ninja stopped: what is still to be made, also where an old program lies there.
    pending = subprocess.run(["ninja", "-C", str(directory), "-n", "-v", *wanted], capture_output=True, text=True).stdout
    return [
        name
        for name, group in files.items()
        if any(not (directory / f).exists() or re.search(rf"-o {re.escape(f)} ", pending) for f in group)
    ]


def introspect(directory, what):
    done = subprocess.run(["meson", "introspect", f"--{what}", str(directory)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def count(result):
    """(passed, failed) of one finished test."""
    text = ANSI.sub("", result.get("stdout") or "").replace("\r", "")
    good = result["result"] in ("OK", "EXPECTEDFAIL")
    cases = [tuple(map(int, m)) for m in DOCTEST.findall(text)]
    if cases:
        passed, failed = min(c[1] for c in cases), max(c[2] for c in cases)
    elif COUNTED.search(text):
        passed, failed = map(int, COUNTED.findall(text)[-1])
    else:
        passed, failed = (1, 0) if good else (0, 1)
    return passed, failed if good else max(failed, 1)


def main():
    arguments, options = sys.argv[1:], []
    if "--" in arguments:
        options = arguments[arguments.index("--") + 1 :]
        arguments = arguments[: arguments.index("--")]
    only_build = arguments[0] == "--only-build"
    if only_build:
        del arguments[0]
    directory, label, jobs, suites = pathlib.Path(arguments[0]), arguments[1], arguments[2], arguments[3:]
    tests = [t for t in introspect(directory, "tests") if any(s.split(":")[-1] in suites for s in t["suite"])]
    broken = build(directory, tests, jobs)
    if only_build:
        return 0
    for name in broken:
        print(f"NOT BUILT {label}: {name}")
    runnable = [t["name"] for t in tests if t["name"] not in broken]
    passed, failed = 0, len(broken)
    if runnable:
        log = directory / "meson-logs" / "suites.json"
        log.unlink(missing_ok=True)
        command = ["meson", "test", "-C", str(directory), "--no-rebuild", "--logbase", "suites"]
        command += ["--num-processes", str(jobs), *options, *runnable]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        results = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        if not results:
            print(done.stdout)
            failed += len(runnable)
        for result in results:
            name = f"{label}: {result['name'].split(' / ')[-1]}"
            if result["result"] == "SKIP":
                print(f"SKIPPED {name}: " + " ".join((result.get("stdout") or "").split())[:200])
                continue
            good, bad = count(result)
            passed, failed = passed + good, failed + bad
            if bad:
                print(f"{result['result']} {name} ({result['duration']:.1f} s)")
                output = (result.get("stdout") or "") + (result.get("stderr") or "")
                for line in ANSI.sub("", output).replace("\r", "").splitlines()[-TAIL:]:
                    print("  | " + line[:400])
    print(f"{label}: {passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


sys.exit(main())
