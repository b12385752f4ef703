#!/usr/bin/env python3
"""run_example.py SOURCE RANKS COMMAND...: runs an example and compares what it prints with what its source says.

In the source, in comments at the start of a line:
    // expect: REGEX        a whole line of the output matches
    // expect once: REGEX   exactly one line does
    // expect on 4: REGEX   as the first, when run on 4 ranks (several: "on 2 4"; also "once on 4")
    // never: REGEX         no line matches
The order of the lines does not matter. The exit status must be 0, and a source must expect something.
"""
import pathlib
import re
import subprocess
import sys

RULE = re.compile(r"^// (expect|never)( once)?((?: on)?(?: \d+)*): ?(.*)$", re.MULTILINE)


def main():
    source, ranks, command = sys.argv[1], int(sys.argv[2]) or 1, sys.argv[3:]
    rules = RULE.findall(pathlib.Path(source).read_text(encoding="utf-8"))
    if not any(kind == "expect" for kind, *_ in rules):
        print(f"{source}: has no line '// expect: REGEX'")
        return 1
    done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, errors="replace")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    problems = [] if done.returncode == 0 else [f"exit status {done.returncode}"]
    for kind, once, where, pattern in rules:
        if where and ranks not in [int(n) for n in where.split()[1:]]:
            continue
        hits = sum(1 for line in lines if re.fullmatch(pattern, line))
        if kind == "never" and hits:
            problems.append(f"printed, but must not be: {pattern}")
        elif kind == "expect" and once and hits != 1:
            problems.append(f"printed {hits} times instead of once: {pattern}")
        elif kind == "expect" and not hits:
            problems.append(f"not printed: {pattern}")
    print(done.stdout, end="")
    for problem in problems:
        print(f"{source} on {ranks} ranks: {problem}")
    return 1 if problems else 0


sys.exit(main())
