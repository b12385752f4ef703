"""What the tests that only compile have in common: run.py [--compiler COMMAND] [--only NAME]... DIRECTORY -- FLAG..."""
import concurrent.futures
import os
import pathlib
import subprocess
import sys


only = []


def arguments():
    """(compiler command as a list, directory, flags); fills `only`, the names that were asked for if not all are."""
    own, flags = sys.argv[1:], []
    if "--" in own:
        own, flags = own[: own.index("--")], own[own.index("--") + 1 :]
    compiler = ["g++"]
    if "--compiler" in own:
        at = own.index("--compiler")
        compiler = own[at + 1].split()
        del own[at : at + 2]
    while "--only" in own:
        at = own.index("--only")
        only.append(own[at + 1])
        del own[at : at + 2]
    return compiler, pathlib.Path(own[0]), flags


def check_syntax(compiler, flags, source, text=None):
    """(exit status, messages) of compiling a file, or the text given, without making an object."""
    command = [*compiler, *flags, "-fsyntax-only", "-fno-diagnostics-color", "-x", "c++", "-" if text is not None else str(source)]
    environment = dict(os.environ, LC_ALL="C")
    done = subprocess.run(command, input=text, stderr=subprocess.PIPE, text=True, errors="replace", env=environment)
    return done.returncode, done.stderr


def precompiled(compiler, flags, header, directory):
    """Flags that let the compiler take `header`, where it is a file's first include, from a precompiled one."""
    version = subprocess.run([*compiler, "--version"], capture_output=True, text=True).stdout
    clang = "clang" in version
    target = pathlib.Path(directory) / f"{header}.{'pch' if clang else 'gch'}"
    target.parent.mkdir(parents=True)
    source = pathlib.Path(directory) / "first.hpp"
    source.write_text(f"#include <{header}>\n", encoding="utf-8")
    done = subprocess.run([*compiler, *flags, "-x", "c++-header", str(source), "-o", str(target)], stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return []
    return ["-include-pch", str(target)] if clang else ["-I", str(directory)]


def run_all(check, items):
    """Calls check(item), which returns None or what is wrong, for each item; prints; the exit status."""
    failed = 0
    items = list(items)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as executor:
        for item, problem in zip(items, executor.map(check, items)):
            if problem:
                failed += 1
                print(f"{item}: {problem}")
    print(f"{len(items) - failed} passed, {failed} failed")
    return 1 if failed else 0
