#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compile time of a 15-line program with plait/core.hpp and with plait/plait.hpp, against one with <regex>.

    bench/compile_time/compile_time.py [--compiler g++,clang++] [--repeat 5] [--flags=-O0] [--json]

Each program is compiled to an object file, in turns; the figures are medians of the processor time of the compiler.
"separate": with -DPLAIT_SEPARATE=1, see base/config.hpp; clang does not know it.
"""
import argparse
import json
import pathlib
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = {  # the program and what it is compiled with
    "regex": ("regex", []),
    "core": ("core", []),
    "plait": ("plait", []),
    "core separate": ("core", ["-DPLAIT_SEPARATE=1"]),  # the rest is in one other file of the program
    "plait separate": ("plait", ["-DPLAIT_SEPARATE=1"]),
}


def mpi_flags():
    """The include flags of the first MPI that pkg-config knows; nothing if there is none."""
    for package in ("ompi-cxx", "ompi", "mpich"):
        found = subprocess.run(["pkg-config", "--cflags", package], capture_output=True, text=True)
        if found.returncode == 0:
            return shlex.split(found.stdout)
    return []


def compile_once(compiler, flags, variant, target):
    """Seconds of processor time for one compilation; ends the script if it fails."""
    program, own_flags = VARIANTS[variant]
    command = [compiler, "-std=c++20", *flags, *own_flags, "-I", str(HERE.parents[1] / "include"), *mpi_flags(),
               "-c", str(HERE / f"{program}.cpp"), "-o", target]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if subprocess.run(command).returncode != 0:
        sys.exit(f"compile_time: {shlex.join(command)} failed: no figures")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="g++", help="one or more, separated by commas")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--flags", default="-O0")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for compiler in options.compiler.split(","):
            if not shutil.which(compiler):
                sys.exit(f"compile_time: there is no compiler {compiler}")
            times = {variant: [] for variant in VARIANTS}
            for turn in range(options.repeat + 1):
                for variant in VARIANTS:
                    elapsed = compile_once(compiler, shlex.split(options.flags), variant, f"{folder}/program.o")
                    if turn > 0:  # the first turn fills the file cache
                        times[variant].append(elapsed)
            reference = statistics.median(times["regex"])
            for variant in VARIANTS:
                median = statistics.median(times[variant])
                rows.append({"benchmark": "compile_time", "variant": variant, "compiler": compiler,
                             "flags": options.flags, "median_s": round(median, 3),
                             "of_regex": round(median / reference, 3)})
    if options.json:
        for row in rows:
            print(json.dumps(row))
        return
    print("compile_time")
    print(f"  {'variant':15}{'compiler':>12}{'flags':>8}{'median_s':>10}{'of_regex':>10}")
    for row in rows:
        print(f"  {row['variant']:15}{row['compiler']:>12}{row['flags']:>8}{row['median_s']:>10.3f}{row['of_regex']:>10.3f}")


if __name__ == "__main__":
    main()
