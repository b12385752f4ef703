#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Tables on stdout, and a page with a plot for each benchmark, from the JSON lines that bench/run has collected.

    bench/support/page.py DIRECTORY     reads DIRECTORY/*.jsonl, writes DIRECTORY/index.html and DIRECTORY/*.svg
"""
import collections
import html
import json
import pathlib
import platform
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  the backend comes first

# The figure that is drawn of a row: the first of these that the row has.
METRICS = {
    "median_s": "seconds, median",
    "p50_us": "µs, median",
    "millions_per_s": "millions a second",
    "efficiency": "efficiency",
    "percent_of_core": "% of a core",
    "of_raw": "of raw MPI",
}
# What tells the rows of a benchmark apart: a group of bars for each combination of the first, a bar for each of the second.
GROUPS = ["problem", "n", "workers", "ranks", "bytes", "flags"]
NAMES = ["variant", "role", "compiler"]
COLOURS = {"plait": "#0b6e99", "serial": "#9a9a9a", "onetbb": "#e07b39", "onetbb_enqueue": "#f0b37e", "openmp": "#7a9e3a"}


def read(directory):
    """The rows of each benchmark, in the order of the files' names. Ends the script at a line that is not JSON."""
    rows = collections.OrderedDict()
    for file in sorted(directory.glob("*.jsonl")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            try:
                row = json.loads(line)
                rows.setdefault(row["benchmark"], []).append(row)
            except (ValueError, KeyError, TypeError) as error:
                sys.exit(f"page.py: {file}:{number}: not a line of a benchmark: {error}")
    return rows


def text_of(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def label(row, fields, rows):
    """What the fields say that are not the same in all rows."""
    parts = [f"{field} {text_of(row[field])}" if field in ("n", "workers", "ranks") else text_of(row[field])
             for field in fields if field in row and len({r.get(field) for r in rows}) > 1]
    return ", ".join(parts)


def bars(name, rows, metric, target):
    """A bar for each row: groups of workers, sizes and the like side by side, variants in colours."""
    groups = list(dict.fromkeys(label(row, GROUPS, rows) for row in rows))
    names = list(dict.fromkeys(label(row, NAMES, rows) for row in rows))
    figure, axes = plt.subplots(figsize=(7, 3.2))
    width = 0.8 / len(names)
    for position, variant in enumerate(names):
        at, heights = [], []
        for row in rows:
            if label(row, NAMES, rows) == variant:
                at.append(groups.index(label(row, GROUPS, rows)) + (position - (len(names) - 1) / 2) * width)
                heights.append(row[metric])
        drawn = axes.bar(at, heights, width, label=variant or name, color=COLOURS.get(variant))
        axes.bar_label(drawn, [text_of(float(h)) for h in heights], fontsize=6, padding=1)
    largest = max(row[metric] for row in rows)
    smallest = min((row[metric] for row in rows if row[metric] > 0), default=largest)
    if smallest > 0 and largest > 30 * smallest:
        axes.set_yscale("log")
    axes.margins(y=0.15)
    axes.set_xticks(range(len(groups)), groups, fontsize=8)
    axes.set_ylabel(METRICS[metric])
    if len(names) > 1:
        axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, axes, target)


def lines(rows, metric, over, kind, target):
    """A line for each value of `kind`: the metric over ranks and the like."""
    figure, axes = plt.subplots(figsize=(7, 3.2))
    for value in dict.fromkeys(row[kind] for row in rows):
        mine = [row for row in rows if row[kind] == value]
        axes.plot([row[over] for row in mine], [row[metric] for row in mine], marker="o", label=value)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted({row[over] for row in rows}), sorted({row[over] for row in rows}))
    axes.set_xlabel(over)
    axes.set_ylabel(METRICS[metric])
    axes.set_ylim(0, 1.02)
    axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, axes, target)


def scaling(all_rows, target):
    """Speed-up over one worker with the most workers, of plait and its peers. False if nothing has been measured so."""
    chosen = collections.OrderedDict()
    for name, rows in all_rows.items():
        most = max((row.get("workers", 1) for row in rows if "speedup" in row), default=1)
        for row in rows:
            if most > 1 and row.get("workers") == most and row.get("speedup", 0) > 0:
                size = f" {row['n']}" if len({r["n"] for r in rows}) > 1 else ""
                chosen[f"{name}{size}\n{most} workers", row["variant"]] = row["speedup"]
    if not chosen:
        return False
    programs = list(dict.fromkeys(program for program, _ in chosen))
    variants = list(dict.fromkeys(variant for _, variant in chosen))
    figure, axes = plt.subplots(figsize=(9, 3.2))
    width = 0.8 / len(variants)
    for position, variant in enumerate(variants):
        has = [program for program in programs if (program, variant) in chosen]
        axes.bar([programs.index(program) + (position - (len(variants) - 1) / 2) * width for program in has],
                 [chosen[program, variant] for program in has], width, label=variant, color=COLOURS.get(variant))
    axes.axhline(1, color="#444444", linewidth=0.6)
    axes.set_xticks(range(len(programs)), programs, fontsize=7)
    axes.set_ylabel("times as fast as with 1")
    axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, axes, target)
    return True


def save(figure, axes, target):
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


def columns(rows):
    """The fields that say something: not the name of the benchmark, nor parts of peers that were left out."""
    fields = dict.fromkeys(field for row in rows for field in row)
    return [field for field in fields if field != "benchmark" and
            not ("of_" in field and all(row.get(field, 0) == 0 for row in rows))]


def print_table(name, rows):
    fields = columns(rows)
    cells = [fields] + [[text_of(row.get(field, "")) for field in fields] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(fields))]
    print(f"\n{name}")
    for line in cells:
        print("  " + "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(line, widths))))


def html_table(rows):
    fields = columns(rows)
    head = "".join(f"<th>{html.escape(field)}</th>" for field in fields)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text_of(row.get(field, '')))}</td>" for field in fields) + "</tr>\n"
                   for row in rows)
    return f"<div class=wide><table><tr>{head}</tr>\n{body}</table></div>"


def machine():
    """The processor, as the system calls it, and the number of them."""
    try:
        cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    models = [line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")]
    return f"{len(models)} × {models[0]}" if models else platform.machine()


STYLE = """body{font:15px/1.4 sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#222}
img{max-width:100%}table{border-collapse:collapse;font-size:12px;margin:1em 0}td,th{padding:.2em .7em;text-align:right;
border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}.wide{overflow-x:auto}"""


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: page.py DIRECTORY, where files of JSON lines are")
    directory = pathlib.Path(sys.argv[1])
    all_rows = read(directory)
    if not all_rows:
        sys.exit(f"page.py: there are no results in {directory}")
    sections = []
    if scaling(all_rows, directory / "scaling.svg"):
        sections.append('<h2>Speed-up</h2>\n<img src="scaling.svg" alt="times as fast as with one worker">')
    for name, rows in all_rows.items():
        print_table(name, rows)
        sections.append(f"<h2>{html.escape(name)}</h2>")
        metric = next((metric for metric in METRICS if all(metric in row for row in rows)), None)
        if metric is not None:
            target = directory / f"{name}.svg"
            if metric == "efficiency":
                lines(rows, metric, "ranks", "problem", target)
            else:
                bars(name, rows, metric, target)
            sections.append(f'<img src="{html.escape(name)}.svg" alt="{METRICS[metric]}, a bar each">')
        sections.append(html_table(rows))
    page = (f'<!doctype html>\n<html lang="en"><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>plait: benchmarks</title>'
            f"<style>{STYLE}</style>\n<h1>plait beside its peers</h1>\n"
            f"<p>{html.escape(machine())}. Only ratios within one table mean anything on a machine that others use too; "
            f"bench/README.md says what each one measures.</p>\n" + "\n".join(sections) + "\n</html>\n")
    (directory / "index.html").write_text(page)


if __name__ == "__main__":
    main()
