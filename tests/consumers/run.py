#!/usr/bin/env python3
"""run.py [--compiler COMMAND] [--mpi FLAVOUR|disabled] ROOT: installs plait and builds projects outside of it.

Beside these: libraries that a program loads and closes by hand, link-time optimisation, and separate compilation.

meson: as a subproject. cmake: find_package, all and core alone. make: pkg-config. Each builds a program of two units
and a shared library on plait's core, and one of two units on all of plait, and runs both.
"""
import argparse
import concurrent.futures
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


class failure(Exception):
    pass


def run(*command, cwd, env):
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        raise failure(" ".join(map(str, command)) + f": exit status {done.returncode}\n" + done.stdout[-6000:])
    return done.stdout


class outside:
    """A copy of a consumer, an environment that knows the installed plait, and nothing of the checkout."""

    def __init__(self, kind, work, root, prefix, compiler, mpi):
        self.root, self.mpi = root, mpi
        self.directory = work / kind
        shutil.copytree(HERE / kind.split("-")[0], self.directory)
        shutil.copytree(HERE / "src", self.directory / "src")
        self.prefix = prefix
        self.env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "DESTDIR", "CXXFLAGS", "LDFLAGS")}
        self.env.update(CXX=compiler, PKG_CONFIG_PATH=f"{prefix}/share/pkgconfig:" + os.environ.get("PKG_CONFIG_PATH", ""),
                        OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def call(self, *command):
        return run(*command, cwd=self.directory, env=self.env)

    def run_programs(self, where, names=("core_program", "plait_program")):
        for name in names:
            self.call(self.directory / where / name)
            if name == "plait_program" and self.mpi != "disabled":
                run(self.directory / where / name, cwd=self.directory, env=dict(self.env, PLAIT_MPI="0"))


def with_meson(project, *options):
    subproject = project.directory / "subprojects" / "plait"
    subproject.mkdir(parents=True)
    for name in ("meson.build", "meson_options.txt", "include", "separate", "cmake", "subprojects"):
        (subproject / name).symlink_to(project.root / name)
    flavour = [f"-Dplait:mpi={project.mpi}"] if project.mpi == "disabled" else [f"-Dplait:mpi_flavour={project.mpi}"]
    project.call("meson", "setup", "build", "--force-fallback-for=plait,plait-core", *flavour, *options)
    project.call("ninja", "-C", "build", "-j1")
    project.run_programs("build")


def with_meson_separate(project):
    with_meson(project, "-Dplait:separate=true")


def with_cmake(project, *options, names=("core_program", "plait_program")):
    if project.mpi == "mpich":
        options += ("-DMPI_CXX_COMPILER=" + (shutil.which("mpicxx.mpich") or "mpicxx"),)
    project.call("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={project.prefix}", *options)
    project.call("cmake", "--build", "build")
    project.run_programs("build", names)


def with_cmake_core(project):
    with_cmake(project, "-DONLY_CORE=ON", names=("core_program",))


def with_make(project):
    project.call("make", f"CXX={project.env['CXX']}")
    project.run_programs(".")


def check_settings(work, prefix, compiler):
    """Units with and without MPI must not link, also where they share nothing of the distributed layer."""
    directory = work / "settings"
    directory.mkdir()
    (directory / "main.cpp").write_text("#include <plait/dist/options.hpp>\nint other();\nint main() { return other(); }\n")
    (directory / "other.cpp").write_text("#include <plait/dist/options.hpp>\nint other() { return 0; }\n")
    command = [*shlex.split(compiler), "-std=c++20", f"-I{prefix}/include"]
    for unit, setting in (("main", 0), ("other", 0), ("other", 1)):
        run(*command, f"-DPLAIT_WITH_MPI={setting}", "-c", f"{unit}.cpp", "-o", f"{unit}{setting}.o", cwd=directory, env=None)
    run(*command, "main0.o", "other0.o", "-o", "same", cwd=directory, env=None)
    try:
        run(*command, "main0.o", "other1.o", "-o", "different", cwd=directory, env=None)
    except failure as refused:
        if "PLAIT_WITH_MPI" in str(refused):
            return
        raise
    raise failure("a unit with MPI and one without it were linked")


def check_loading(work, prefix, compiler):
    """Two libraries with plait inside, loaded, used and closed by programs that export their symbols, or do not."""
    directory = work / "loading"
    shutil.copytree(HERE / "src", directory)
    command = [*shlex.split(compiler), "-std=c++20", "-O2", f"-I{prefix}/include", "-pthread"]
    run(*command, "-c", "loading.cpp", "-o", "loading.o", cwd=directory, env=None)
    run(*command, "-fPIC", "-shared", "loaded.cpp", "-o", "first.so", cwd=directory, env=None)
    shutil.copy(directory / "first.so", directory / "second.so")
    for how, flags in (("shared", ["-rdynamic"]), ("alone", [])):
        run(*command, "loading.o", *flags, "-o", how, "-ldl", cwd=directory, env=None)
        run(directory / how, how, "./first.so", "./second.so", cwd=directory, env=None)


def check_link_time_optimisation(work, prefix, compiler):
    directory = work / "lto"
    shutil.copytree(HERE / "src", directory)
    command = [*shlex.split(compiler), "-std=c++20", "-O1", "-flto", f"-I{prefix}/include", "-pthread"]
    if "clang" in compiler:
        command.append("-fuse-ld=lld")
    run(*command, "-fPIC", "-shared", "core_plugin.cpp", "-o", "libplugin.so", cwd=directory, env=None)
    run(*command, "core_main.cpp", "core_fib.cpp", "libplugin.so", "-rdynamic", "-Wl,-rpath,$ORIGIN", "-o", "program",
        cwd=directory, env=None)
    run(directory / "program", cwd=directory, env=None)


def check_separate(work, prefix, compiler):
    """Units that leave to one other what is no template, beside a unit and a library that do not; that one is needed."""
    directory = work / "separate"
    shutil.copytree(HERE / "src", directory)
    (directory / "plait.cpp").write_text("#define PLAIT_IMPLEMENTATION\n#include <plait/core.hpp>\n")
    command = [*shlex.split(compiler), "-std=c++20", "-O0", f"-I{prefix}/include", "-pthread"]
    separate = [*command, "-DPLAIT_SEPARATE=1"]
    run(*command, "-fPIC", "-shared", "core_plugin.cpp", "-o", "libplugin.so", cwd=directory, env=None)
    run(*command, "-c", "core_fib.cpp", "-o", "core_fib.o", cwd=directory, env=None)
    for unit in ("core_main", "plait"):
        run(*separate, "-c", f"{unit}.cpp", "-o", f"{unit}.o", cwd=directory, env=None)
    link = [*command, "core_main.o", "core_fib.o", "libplugin.so", "-rdynamic", "-ldl", "-Wl,-rpath,$ORIGIN"]
    run(*link, "plait.o", "-o", "program", cwd=directory, env=None)
    run(directory / "program", cwd=directory, env=None)
    if "clang" in compiler:  # it compiles in each unit what that uses
        return
    small, whole = (sum(1 for line in run("nm", "--defined-only", f"{unit}.o", cwd=directory, env=None).splitlines()
                        if "5plait5sched" in line) for unit in ("core_main", "plait"))
    if not 10 * small < whole:
        raise failure(f"a unit compiled with PLAIT_SEPARATE holds {small} of the scheduler's functions, of {whole}")
    (directory / "alone.cpp").write_text("#include <plait/core.hpp>\nint main() { plait::pool::default_pool(); }\n")
    try:
        run(*separate, "alone.cpp", "-rdynamic", "-ldl", "-o", "alone", cwd=directory, env=None)
    except failure as refused:
        if "undefined reference" in str(refused):
            return
        raise
    raise failure("a program compiled with PLAIT_SEPARATE was linked without the implementation")


def check_tree(root, prefix):
    ours = {p.relative_to(root / "include") for p in (root / "include").rglob("*.hpp")}
    theirs = {p.relative_to(prefix / "include") for p in (prefix / "include").rglob("*.hpp")}
    if ours != theirs:
        raise failure(f"installed headers differ: {sorted(map(str, ours ^ theirs))}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--mpi", default="auto")
    options = parser.parse_args()
    root = options.root.resolve()
    if not (root / "include/plait/core.hpp").is_file() or not (root / "include/plait/plait.hpp").is_file():
        print("no core.hpp or plait.hpp: nothing to consume")
        return 77
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory(prefix="plait-consumers-") as folder:
        work = pathlib.Path(folder)
        prefix = work / "prefix"
        env = dict(os.environ, CXX=options.compiler)
        env.pop("DESTDIR", None)
        mpi = ["-Dmpi=disabled"] if options.mpi == "disabled" else [f"-Dmpi_flavour={options.mpi}", "-Dmpi=enabled"]
        run("meson", "setup", work / "build", root, f"--prefix={prefix}", "-Dtests=false", "-Dexamples=false", *mpi,
            cwd=work, env=env)
        run("meson", "install", "-C", work / "build", cwd=work, env=env)
        kinds = {"meson": with_meson, "meson-separate": with_meson_separate, "cmake": with_cmake, "cmake-core": with_cmake_core, "make": with_make}
        checks = {
            "install": lambda: check_tree(root, prefix),
            "settings": lambda: check_settings(work, prefix, options.compiler),
            "separate": lambda: check_separate(work, prefix, options.compiler),
            "loading": lambda: check_loading(work, prefix, options.compiler),
            "lto": lambda: check_link_time_optimisation(work, prefix, options.compiler),
        }
        for kind, build in kinds.items():
            if not shutil.which(kind.split("-")[0]):
                print(f"{kind}: left out, there is no {kind.split('-')[0]} here")
                continue
            checks[kind] = lambda kind=kind, build=build: build(
                outside(kind, work, root, prefix, options.compiler, options.mpi))
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as executor:
            running = {name: executor.submit(check) for name, check in checks.items()}
        for name, check in running.items():
            wrong = check.exception()
            if wrong is None:
                passed += 1
            elif isinstance(wrong, failure):
                failed += 1
                print(f"{name}: {wrong}")
            else:
                raise wrong
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
