# SPDX-License-Identifier: BSL-1.0
"""test.py MPIRUN FLAVOUR IMAGE_PIPELINE MAKE_PHOTOGRAPHS [RANKS...]: runs the example on small JPEG files of every kind,
good and damaged, on several numbers of ranks and workers, and compares the results with each other and with the decoder
and filter of jpeg_reference.py. Needs h5diff and h5dump (Debian: hdf5-tools)."""

import concurrent.futures
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import jpeg_reference

MPIRUN, FLAVOUR, PROGRAM, GENERATOR = sys.argv[1:5]
RANKS = [int(text) for text in sys.argv[5:]] or [0, 1, 2, 3, 4]
SIZE = 24
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
failures = 0


def check(good, text):
    global failures
    print(("ok      " if good else "FAILED  ") + text, flush=True)
    failures += not good


def run(ranks, *arguments, **variables):
    """The example on that many ranks; 0: without a launcher. After 100 s the launcher is told to end it."""
    return subprocess.run(["timeout", "-k", "10", "100", "sh", MPIRUN, FLAVOUR, str(ranks), PROGRAM,
                           *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, **variables})


def dump(file, dataset):
    """The bytes of a dataset as they are in the file: little endian."""
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(["h5dump", "-d", dataset, "-b", "FILE", "-o", raw.name, str(file)], check=True,
                       stdout=subprocess.DEVNULL)
        return Path(raw.name).read_bytes()


def strings(file, dataset, count):
    data = dump(file, dataset)
    length = len(data) // count
    return [data[i * length:(i + 1) * length].rstrip(b"\0").decode() for i in range(count)]


def image(file_bytes, index):
    length = SIZE * SIZE * 3 * 4
    return file_bytes[index * length:(index + 1) * length]


def make_photographs(directory):
    source = Path("/usr/share/backgrounds/mate/nature")
    photographs = sorted(str(path) for path in source.glob("*.jpg"))[:6] if source.is_dir() else []
    listing = subprocess.run([GENERATOR, str(directory), *photographs], check=True, stdout=subprocess.PIPE, text=True)
    pairs = [line.split(" ", 1) for line in listing.stdout.splitlines()]
    return {name: expected for expected, name in pairs}


def check_same_result_everywhere(work, tree, kinds):
    """Returns the first result."""
    first = None
    bad = sorted(name for name, kind in kinds.items() if kind == "fail")
    runs = [(ranks, "1", "1") for ranks in RANKS] + [(max(RANKS), "3", "2"), (min(2, max(RANKS)), "2", "100")]
    for ranks, workers, chunk in runs:
        what = f"{ranks} ranks, {workers} workers, chunks of {chunk}: "
        result = work / f"result_{ranks}_{workers}_{chunk}.h5"
        done = run(ranks, tree, "-o", result, "--size", SIZE, "--chunk", chunk, PLAIT_WORKERS=workers)
        check(done.returncode == 1, what + f"the exit status says that files are missing ({done.returncode})")
        if not result.exists():
            check(False, what + "there is a result\n" + done.stdout + done.stderr)
            continue
        named = re.findall(r"skipped (\S+): \S", done.stderr)
        check(sorted(named) == bad, what + "each damaged file is named once, with a reason" +
              ("" if sorted(named) == bad else "\n" + done.stderr))
        rows = [tuple(map(int, row)) for row in re.findall(r"^ +(\d+) +(\d+) +(\d+) +\d+ +\d+$", done.stdout, re.M)]
        every = range(max(ranks, 1) * int(workers))
        check([row[:2] for row in rows] == [(worker // int(workers), worker) for worker in every],
              what + "the table has a line for each worker")
        check(sum(row[2] for row in rows) == -(-len(kinds) // int(chunk)), what + "each task was executed once")
        if first is None:
            first = result
        else:
            same = subprocess.run(["h5diff", str(first), str(result)], capture_output=True, text=True)
            check(same.returncode == 0, what + "h5diff finds no difference" + same.stdout[:500])
            check(dump(first, "/images") == dump(result, "/images"), what + "the images have the same bytes")
    return first


def check_columns(result, tree, kinds):
    names = sorted(kinds, key=os.fsencode)
    check(strings(result, "/names", len(names)) == names, "names are sorted by their bytes")
    labels = [Path(name).parent.name or tree.name for name in names]
    check(strings(result, "/labels", len(names)) == labels, "labels are the names of the directories")
    classes = sorted(set(labels))
    check(strings(result, "/class_names", len(classes)) == classes, "class names are sorted and each there once")
    ids = struct.unpack(f"<{len(names)}i", dump(result, "/label_ids"))
    check([classes[i] for i in ids] == labels, "label ids point at the class names")
    status = struct.unpack(f"<{len(names)}b", dump(result, "/status"))
    check(list(status) == [int(kinds[name] == "fail") for name in names], "the status marks what could not be read")
    reasons = strings(result, "/reasons", len(names))
    check([bool(reason) for reason in reasons] == [bool(s) for s in status], "and each of them has a reason")
    sizes = struct.unpack(f"<{2 * len(names)}i", dump(result, "/sizes"))
    images = dump(result, "/images")
    for i, name in enumerate(names):
        if status[i]:
            check(not any(image(images, i)) and sizes[2 * i:2 * i + 2] == (0, 0), f"{name} is all zeros")


def check_pixels(result, tree, kinds):
    names = sorted(kinds, key=os.fsencode)
    sizes = struct.unpack(f"<{2 * len(names)}i", dump(result, "/sizes"))
    images = dump(result, "/images")
    for i, name in enumerate(names):
        if kinds[name] == "twin":
            check(image(images, i) == image(images, i + 1), f"{name} has the pixels of {names[i + 1]}")
        if kinds[name] != "read":
            continue
        rows = jpeg_reference.decode((tree / name).read_bytes())
        check(sizes[2 * i:2 * i + 2] == (len(rows[0]), len(rows)), f"{name}: width and height")
        values = struct.unpack(f"<{SIZE * SIZE * 3}f", image(images, i))
        worst = total = 0.0
        for y in range(SIZE):
            for x in range(SIZE):
                expected = jpeg_reference.resized_pixel(rows, SIZE, y, x)
                for k in range(3):
                    got = (values[(y * SIZE + x) * 3 + k] * DEVIATION[k] + MEAN[k]) * 255
                    worst = max(worst, abs(got - expected[k]))
                    total += abs(got - expected[k])
        average = total / (SIZE * SIZE * 3)
        # A decoder rounds to whole numbers in the transform and in the colours: up to about two steps of 255.
        check(worst < 2.5 and average < 0.5, f"{name}: as the reference decodes it (off by {worst:.2f} of 255 at most, "
              f"{average:.2f} on average)")


def jpeg_size(path):
    data, at = path.read_bytes(), 2
    while data[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + data[at + 2] * 256 + data[at + 3]
    return data[at + 7] * 256 + data[at + 8], data[at + 5] * 256 + data[at + 6]


def check_good_tree(work, tree, ranks):
    sheet, result = work / "sheet.jpg", work / "good.h5"
    result.write_text("an older result")
    done = run(ranks, tree / "other", f"--output={result}", "--size=300", "-s", sheet, "--progress", "lines")
    check(done.returncode == 0, f"a directory without damaged files: exit status 0 ({done.returncode})")
    check(re.search(r"^100 %  3 of 3 files$", done.stderr, re.M) is not None, "progress ends at 100 %")
    check(sheet.exists() and jpeg_size(sheet) == (4 + 2 * 228, 4 + 2 * 228), "the contact sheet holds three pictures")
    check(len(dump(result, "/images")) == 3 * 300 * 300 * 3 * 4, "an older result is replaced")
    check(not result.with_name("good.h5.part").exists(), "nothing unfinished is left behind")


def check_misuse(work, tree, ranks):
    (work / "no_images" / "deep").mkdir(parents=True)
    (work / "no_images" / "notes.txt").write_text("x")
    cases = [
        ([work / "nowhere"], "does not exist"),
        ([work / "no_images"], "no *.jpg or *.jpeg below"),
        ([work / "no_images" / "deep"], "it is empty"),
        ([work / "no_images" / "notes.txt"], "is not a directory"),
        ([tree, "--size", "0"], "accepted is a whole number from 1 to 4096"),
        ([tree, "--size", "12x"], "accepted is a whole number from 1 to 4096"),
        ([tree, "--chunk=-3"], "accepted is a whole number from 1 to"),
        ([tree, "--progress", "loud"], "accepted are auto, bar, lines and none"),
        ([tree, "--colour"], "unknown option '--colour'"),
        ([tree, "--output"], "needs a value"),
        ([tree, tree], "accepted is one"),
        ([tree, "-o", work / "nowhere" / "x.h5"], "cannot write"),
        ([tree, "-o", work], "it is a directory"),
        ([tree, "-o", "/dev/null"], "not a regular file"),
        ([tree, "-s", work / "nowhere" / "x.jpg"], "cannot write"),
        ([tree, "-o", work / "both", "-s", work / "no_images" / ".." / "both"], "accepted are two files"),
    ]
    # Launchers take their time over a job that ends with an error.
    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        ended = list(executor.map(lambda case: run(ranks, *case[0]), cases))
    for (_, message), done in zip(cases, ended):
        lines = [line for line in done.stderr.splitlines() if line.startswith("image_pipeline: ")]
        check(done.returncode == 2 and len(lines) == 1 and message in lines[0],
              f"one error, exit status 2: {message}" +
              ("" if done.returncode == 2 and len(lines) == 1 else f" ({done.returncode})\n{done.stderr}"))
    done = run(ranks, "--help")
    check(done.returncode == 0 and done.stdout.count("usage: image_pipeline") == 1, "--help is printed once")


def check_odd_names(work, ranks):
    (work / "odd").mkdir()
    (work / "odd" / "two\nlines\x1b[31m and a\ttab.jpg").write_bytes(b"")
    done = run(ranks, work / "odd", "-o", work / "odd.h5")
    expected = r"image_pipeline: skipped two\nlines\x1b[31m and a\ttab.jpg: the file is empty"
    check(done.returncode == 1 and expected in done.stderr.splitlines(),
          "a name with control characters is one line that no terminal obeys" +
          ("" if expected in done.stderr else "\n" + repr(done.stderr)))


def main():
    with tempfile.TemporaryDirectory(prefix="image_pipeline_") as directory:
        work = Path(directory)
        tree = work / "photographs"
        kinds = make_photographs(tree)
        result = check_same_result_everywhere(work, tree, kinds)
        if result is not None:
            check_columns(result, tree, kinds)
            check_pixels(result, tree, kinds)
        check_good_tree(work, tree, min(2, max(RANKS)))
        check_misuse(work, tree, min(2, max(RANKS)))
        check_odd_names(work, min(2, max(RANKS)))
    print(f"{failures} failed" if failures else "all passed")
    return 1 if failures else 0


sys.exit(main())
