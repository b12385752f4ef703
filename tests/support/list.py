#!/usr/bin/env python3
"""list.py DIRECTORY PATTERN...: prints "path;name;ranks;needs;arguments" for each source file that matches, sorted.

path is relative to DIRECTORY, name is the file's stem. A file can say in its comments
    // ranks: 1 2 4      on how many ranks it runs (none said: empty, the caller decides)
    // arguments: a b    run once with each of these words as its argument
    // needs: tbb        which optional dependencies it needs, beside those that its includes show
"""
import pathlib
import re
import sys

# An include that shows a need. <mpi.h> shows one only where the file does not ask whether there is MPI.
INCLUDES = {"eigen3": r"<(?:eigen3/)?Eigen/", "tbb": r"<(?:oneapi/)?tbb/", "openmp": r"<omp\.h>"}


def field(text, name):
    found = re.search(rf"^// {name}:(.*)$", text, re.MULTILINE)
    return found.group(1).split() if found else []


def needs(text):
    found = field(text, "needs")
    for need, pattern in INCLUDES.items():
        if re.search(rf"^\s*#\s*include {pattern}", text, re.MULTILINE) and need not in found:
            found.append(need)
    if re.search(r"^#include <mpi\.h>", text, re.MULTILINE) and "PLAIT_WITH_MPI" not in text and "mpi" not in found:
        found.append("mpi")
    return found


directory = pathlib.Path(sys.argv[1])
for path in sorted({p for pattern in sys.argv[2:] for p in directory.glob(pattern)}):
    text = path.read_text(encoding="utf-8", errors="replace")
    lists = (field(text, "ranks"), needs(text), field(text, "arguments"))
    print(";".join([path.relative_to(directory).as_posix(), path.stem, *map(" ".join, lists)]))
