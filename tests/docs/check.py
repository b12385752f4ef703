#!/usr/bin/env python3
"""check.py ROOT: whether what the pages say is still so. Prints what is not; exit status 1 if anything is.

- Each block of C++ in a page quotes a file that is compiled, and is the same as what stands there. The line before it says
  which: `<!-- examples/04_map.cpp -->`: these lines stand together somewhere in it, as far indented as you like;
  `<!-- tests/docs/contract_test.cpp: locks -->`: the part between `// docs: locks` and `// docs: end`.
- A part that is marked in a file is quoted somewhere.
- Where a table names a test case, as `tests/FILE`: "WORDS", there is one whose name has these words.
- A link to a file or heading of the checkout leads there.
- README.md lists the environment variables that the headers read, and no others.
- The names in its tables of what there is stand in the headers; those in its table of what is missing are not defined.
"""
import pathlib
import re
import sys
import tempfile
import textwrap

PAGES = ["README.md", "CONTRIBUTING.md", "docs/*.md", "examples/README.md", "examples/*/README.md", "bench/README.md"]
MARKED = ["examples/*.cpp", "separate/*.cpp", "tests/docs/*.cpp"]
BLOCK = re.compile(r"(?:^<!-- ([\w./-]+)(?:: ([^>]+?))? -->\n\n?)?^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PART = re.compile(r"^[ ]*// docs: (?!end$)(.+?)\n(.*?)^[ ]*// docs: end$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def even(text):
    lines = textwrap.dedent(text).strip("\n").split("\n")
    return [line.rstrip() for line in lines]


def stands_in(block, text):
    lines = text.split("\n")
    return any(even("\n".join(lines[i : i + len(block)])) == block for i in range(len(lines) - len(block) + 1))


def check_blocks(root, page, text, quoted):
    for source, part, code in BLOCK.findall(text):
        what = f"{page}: the block '{even(code)[0]}'"
        if not source:
            yield f"{what} does not say which file it quotes"
        elif not (root / source).is_file():
            yield f"{what} quotes {source}, which does not exist"
        elif not part:
            if not stands_in(even(code), (root / source).read_text(encoding="utf-8")):
                yield f"{what} does not stand in {source}"
        else:
            parts = dict(PART.findall((root / source).read_text(encoding="utf-8")))
            quoted.add((source, part))
            if part not in parts:
                yield f"{what} quotes '{part}' of {source}, where no part is marked so"
            elif even(parts[part]) != even(code):
                yield f"{what} is not the same as '{part}' in {source}"


def check_quoted(root, quoted):
    for pattern in MARKED:
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            for part, _ in PART.findall(path.read_text(encoding="utf-8")):
                if (name, part) not in quoted:
                    yield f"{name}: no page quotes '{part}'"


def anchors(text):
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def check_links(root, page, text):
    for link in LINK.findall(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)):
        target, _, anchor = link.partition("#")
        if re.match(r"\w+:", link):
            continue
        path = root / pathlib.PurePosixPath(page).parent / target if target else root / page
        if not path.exists():
            yield f"{page}: the link to {link} leads nowhere"
        elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text(encoding="utf-8")):
            yield f"{page}: there is no heading '{anchor}' in {target or page}"


def check_cases(root, page, text):
    for line in re.findall(r"^\|.*$", text, re.MULTILINE):
        for source, words in re.findall(r'`(tests/[\w./*-]+)`: "([^"]+)"', line):
            if not any(words in name for path in root.glob(source)
                       for name in re.findall(r'_CASE\(\s*"([^"]+)"', path.read_text(encoding="utf-8"))):
                yield f"{page}: {source} has no case '{words}'"
        for source in re.findall(r"`(tests/[\w./*-]+)`", line):
            if "NAME" not in source and not any(root.glob(source)):
                yield f"{page}: {source} does not exist"


def section(text, name):
    """The first column of the tables between `<!-- NAME -->` and `<!-- /NAME -->`."""
    inner = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", text, re.DOTALL)
    rows = re.findall(r"^\| (`.*?) \|", inner.group(1), re.MULTILINE) if inner else []
    return [entry for row in rows for entry in re.findall(r"`([^`]+)`", row)]


def identifier(entry):
    """submit<f>(args) -> submit, f.get() -> get, mpi::comm() -> comm"""
    name = re.match(r"(?:[\w]+(?:::|\.))*(\w+)", entry)
    return name.group(1) if name else entry


def check_names(root, text):
    headers = "\n".join(p.read_text(encoding="utf-8") for p in sorted((root / "include").rglob("*.hpp")))
    code = re.sub(r"//[^\n]*", "", headers)
    without_texts = re.sub(r'"[^"\n]*"', "", code)

    read = set(re.findall(r'"(PLAIT_[A-Z_]+)"', code))
    listed = set(section(text, "variables"))
    for name in sorted(read ^ listed):
        yield f"README.md: {name} is " + ("read by the headers and not listed" if name in read else "listed, but nothing reads it")

    for entry in section(text, "there"):
        if not re.search(rf"\b{identifier(entry)}\b", without_texts):
            yield f"README.md: '{entry}' is listed among what there is, and does not occur in the headers"
    for entry in section(text, "missing"):
        name = identifier(entry)
        if re.search(rf"\b(?:class|struct|concept|using) {name}\b|(?<![\w.>:]){name}\(", without_texts):
            yield f"README.md: '{entry}' is listed among what is missing, and the headers define {name}"


def problems_of(root):
    quoted = set()
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            page, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
            yield from check_blocks(root, page, text, quoted)
            yield from check_links(root, page, text)
            yield from check_cases(root, page, text)
    yield from check_quoted(root, quoted)
    if (root / "README.md").is_file():
        yield from check_names(root, (root / "README.md").read_text(encoding="utf-8"))


SOURCE = "// docs: part\nint x;\n// docs: end\n"
# Wrong trees, and a part of what must be said about them.
WRONG = [
    ({"README.md": "```cpp\nint x;\n```\n"}, "does not say which file"),
    ({"README.md": "<!-- a.cpp -->\n```cpp\nint x;\n```\n"}, "which does not exist"),
    ({"README.md": "<!-- a.cpp -->\n```cpp\nint x;\n```\n", "a.cpp": "int y;\n"}, "does not stand in a.cpp"),
    ({"README.md": "<!-- a.cpp: part -->\n```cpp\nint y;\n```\n", "a.cpp": SOURCE}, "not the same as 'part'"),
    ({"README.md": "<!-- a.cpp: other -->\n```cpp\nint x;\n```\n", "a.cpp": SOURCE}, "no part is marked so"),
    ({"README.md": "", "examples/a.cpp": SOURCE}, "no page quotes 'part'"),
    ({"README.md": "[a](docs/a.md)\n"}, "leads nowhere"),
    ({"README.md": "# One\n[a](#two)\n"}, "no heading 'two'"),
    ({"README.md": '| x | `tests/a.cpp`: "it works" |\n', "tests/a.cpp": 'TEST_CASE("it fails") {}'}, "has no case 'it works'"),
    ({"README.md": "| x | `tests/a.cpp` |\n"}, "tests/a.cpp does not exist"),
    ({"README.md": "", "include/a.hpp": 'x("PLAIT_NEW")'}, "PLAIT_NEW is read by the headers"),
    ({"README.md": "<!-- variables -->\n| `PLAIT_OLD` | x |\n<!-- /variables -->"}, "nothing reads it"),
    ({"README.md": "<!-- there -->\n| `gone(x)` | x |\n<!-- /there -->"}, "does not occur in the headers"),
    ({"README.md": "<!-- missing -->\n| `when_any` | x |\n<!-- /missing -->", "include/a.hpp": "int when_any(int);"}, "define when_any"),
]
RIGHT = {"README.md": "<!-- a.cpp: part -->\n```cpp\nint x;\n```\n<!-- a.cpp -->\n```cpp\nint x;\n```\n[a](a.cpp)\n", "a.cpp": SOURCE}


def blind_spots():
    for files, expected in [*WRONG, (RIGHT, None)]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found = list(problems_of(pathlib.Path(folder)))
            if expected is None and found:
                yield f"the check complains about what is right: {found}"
            elif expected is not None and not any(expected in problem for problem in found):
                yield f"the check is blind: '{expected}' not found in {files}, only {found}"


def main():
    problems = [*blind_spots(), *problems_of(pathlib.Path(sys.argv[1]))]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
