#!/usr/bin/env python3
"""check.py ROOT: whether the headers keep to the layers. Says what breaks which rule; exit status 1 if anything does.

Rules: a header includes only its own layer or lower ones, and no cycle; <mpi.h> is included by exactly one header, which
core.hpp does not reach, nor cereal; the doors (core.hpp, plait.hpp) hold includes only; macros are defined in
base/config.hpp and version.hpp only, with the prefix PLAIT_; every header has #pragma once, PLAIT_INTERFACE, at most 500
lines, and no standalone fence; the version is said alike in version.hpp and meson.build. Before that the script proves on small wrong trees that it finds each of these.
"""
import pathlib
import re
import sys
import tempfile

BELOW = {
    "base": [],
    "obs": ["base"],
    "sched": ["base", "obs"],
    "task": ["base", "obs", "sched"],
    "wire": ["base", "obs"],
    "net": ["base", "obs", "wire"],
    "report": ["base", "obs"],
    "dist": ["base", "obs", "sched", "task", "wire", "net", "report"],
    "array": ["base", "obs", "sched", "task", "wire", "net", "report", "dist"],
}
DOORS = {"core.hpp": ["base", "obs", "sched", "task"], "plait.hpp": list(BELOW), "version.hpp": []}
MACRO_HEADERS = ["base/config.hpp", "version.hpp"]
MPI_SETTINGS = r"(?:OMPI|MPICH)_SKIP_MPICXX"  # asked of <mpi.h> by the header that includes it
LONGEST = 500
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', re.MULTILINE)


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


class tree:
    """The headers below include/plait by their names there, with the text and what each includes."""

    def __init__(self, root):
        self.top = root / "include" / "plait"
        self.text = {p.relative_to(self.top).as_posix(): p.read_text(encoding="utf-8") for p in self.top.rglob("*.hpp")}
        self.own = {}
        self.foreign = {}
        for name, text in self.text.items():
            found = [(a or b, bool(b)) for a, b in INCLUDE.findall(without_comments_keep_strings(text))]
            self.own[name] = [path[len("plait/") :] for path, _ in found if path.startswith("plait/")]
            self.foreign[name] = [path for path, _ in found if not path.startswith("plait/")]

    def reaches(self, start):
        seen, todo = set(), [start]
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self.own.get(name, [])
        return seen


def without_comments_keep_strings(text):
    return re.sub(r"^\s*//[^\n]*", "", text, flags=re.MULTILINE)


def layer_of(name):
    return name.split("/")[0] if "/" in name else None


def check_direction(headers):
    for name, included in headers.own.items():
        layer = layer_of(name)
        if layer is None and name not in DOORS:
            yield f"{name}: a header outside of the layers; known are {', '.join(DOORS)}"
            continue
        if layer is not None and layer not in BELOW:
            yield f"{name}: unknown layer {layer}; known are {', '.join(BELOW)}"
            continue
        allowed = DOORS[name] if layer is None else [layer, *BELOW[layer]]
        for other in included:
            if other not in headers.text:
                yield f"{name}: includes plait/{other}, which does not exist"
            elif layer_of(other) is None:
                if other != "version.hpp" and not (name == "plait.hpp" and other == "core.hpp"):
                    yield f"{name}: includes the door plait/{other}"
            elif layer_of(other) not in allowed:
                yield f"{name}: includes plait/{other}, a layer that {name} must not know"
        for path in headers.foreign[name]:
            if (headers.top / pathlib.PurePosixPath(name).parent / path).is_file():
                yield f"{name}: includes \"{path}\"; write <plait/LAYER/{pathlib.PurePosixPath(path).name}>"


def check_cycles(headers):
    done, path = set(), []

    def visit(name):
        if name in path:
            yield "cycle: " + " -> ".join(path[path.index(name) :] + [name])
        elif name not in done:
            path.append(name)
            for other in headers.own.get(name, []):
                yield from visit(other)
            path.pop()
            done.add(name)

    for name in sorted(headers.own):
        yield from visit(name)


def check_foreign(headers):
    with_mpi = sorted(name for name, included in headers.foreign.items() if "mpi.h" in included)
    has_transport = any(layer_of(name) == "net" for name in headers.text)
    if len(with_mpi) > 1 or (has_transport and not with_mpi):
        yield f"<mpi.h> must be included by exactly one header, not by {len(with_mpi)}: {', '.join(with_mpi)}"
    for name in headers.reaches("core.hpp"):
        for path in headers.foreign.get(name, []):
            if path == "mpi.h" or path.startswith("cereal/"):
                yield f"{name}: core.hpp reaches it, and it includes <{path}>"


def check_each(headers):
    for name, text in headers.text.items():
        if not re.search(r"^#pragma once$", text, re.MULTILINE):
            yield f"{name}: no #pragma once"
        if text.count("\n") > LONGEST:
            yield f"{name}: {text.count(chr(10))} lines; split it by concept at {LONGEST}"
        code = without_comments(text)
        if name in ("core.hpp", "plait.hpp") and re.sub(r"^\s*#.*$", "", code, flags=re.MULTILINE).strip():
            yield f"{name}: a door holds includes only"
        if "atomic_thread_fence" in code:
            yield f"{name}: a standalone fence, which ThreadSanitizer does not understand"
        for macro in re.findall(r"^\s*#\s*define\s+(\w+)", code, re.MULTILINE):
            if "mpi.h" in headers.foreign[name] and re.fullmatch(MPI_SETTINGS, macro):
                continue
            if name not in MACRO_HEADERS and not re.search(rf"^\s*#\s*undef\s+{macro}\b", code, re.MULTILINE):
                yield f"{name}: defines the macro {macro}; macros live in {MACRO_HEADERS[0]}"
            elif name in MACRO_HEADERS and not macro.startswith("PLAIT_"):
                yield f"{name}: the macro {macro} lacks the prefix PLAIT_"


def check_interface(headers):
    """What the implementation files compile once is what the doors reach."""
    reached = set().union(*(headers.reaches(door) for door in DOORS if door in headers.text)) - set(DOORS)
    for name, text in headers.text.items():
        code = without_comments(text)
        opening = re.search(r'^namespace |^extern "C"', code, re.MULTILINE)
        if name in reached and opening and not re.search(r"^PLAIT_INTERFACE$", code[: opening.start()], re.MULTILINE):
            yield f"{name}: no PLAIT_INTERFACE before its first namespace (see base/config.hpp)"
        elif name not in reached and re.search(r"^PLAIT_INTERFACE$", code, re.MULTILINE):
            yield f"{name}: has PLAIT_INTERFACE, but no door includes it, so that nobody would compile it"


def check_version(headers):
    build = headers.top.parent.parent / "meson.build"
    if "version.hpp" in headers.text and build.is_file():
        numbers = ".".join(re.findall(r"define PLAIT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", headers.text["version.hpp"]))
        text = re.search(r'version = "([^"]+)"', headers.text["version.hpp"])
        built = re.search(r"\bversion: '([^']+)'", build.read_text(encoding="utf-8"))
        said = {numbers, text and text.group(1), built and built.group(1)}
        if len(said) != 1:
            yield f"version.hpp and meson.build say different versions: {sorted(map(str, said))}"


def problems_of(root):
    headers = tree(root)
    checks = (check_direction, check_cycles, check_foreign, check_each, check_interface, check_version)
    return [problem for check in checks for problem in check(headers)]


# Wrong trees, and a part of what must be said about them.
WRONG = [
    ({"base/a.hpp": "#include <plait/sched/b.hpp>", "sched/b.hpp": ""}, "a layer that base/a.hpp must not know"),
    ({"wire/a.hpp": "#include <plait/task/b.hpp>", "task/b.hpp": ""}, "a layer that wire/a.hpp must not know"),
    ({"base/a.hpp": "#include <plait/base/b.hpp>", "base/b.hpp": "#include <plait/base/a.hpp>"}, "cycle: base/a.hpp ->"),
    ({"net/a.hpp": "#include <mpi.h>", "net/b.hpp": "#include <mpi.h>"}, "exactly one header, not by 2"),
    ({"net/a.hpp": ""}, "exactly one header, not by 0"),
    ({"core.hpp": "#include <plait/base/a.hpp>", "base/a.hpp": "#include <cereal/cereal.hpp>"}, "core.hpp reaches it"),
    ({"core.hpp": "int x;"}, "a door holds includes only"),
    ({"base/a.hpp": "#include <plait/base/gone.hpp>"}, "which does not exist"),
    ({"base/a.hpp": "#define MINE 1"}, "defines the macro MINE"),
    ({"base/config.hpp": "#define MINE 1"}, "lacks the prefix"),
    ({"other/a.hpp": ""}, "unknown layer other"),
    ({"base/a.hpp": '#include "b.hpp"', "base/b.hpp": ""}, "write <plait/LAYER/b.hpp>"),
    ({"task/a.hpp": "#include <plait/core.hpp>", "core.hpp": ""}, "includes the door plait/core.hpp"),
    ({"base/a.hpp": "std::atomic_thread_fence(x);"}, "a standalone fence"),
    ({"base/a.hpp": "\n" * 600}, "split it by concept"),
    ({"base/a.hpp": "namespace plait {}\nPLAIT_INTERFACE", "core.hpp": "#include <plait/base/a.hpp>"}, "no PLAIT_INTERFACE"),
    ({"base/a.hpp": "PLAIT_INTERFACE\nnamespace plait {}", "core.hpp": ""}, "no door includes it"),
]


def blind_spots():
    for files, expected in WRONG:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / "include" / "plait" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("#pragma once\n" + text + "\n", encoding="utf-8")
            found = problems_of(pathlib.Path(folder))
            if not any(expected in problem for problem in found):
                yield f"the check is blind: '{expected}' not found in {files}, only {found}"


def main():
    problems = [*blind_spots(), *problems_of(pathlib.Path(sys.argv[1]))]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
