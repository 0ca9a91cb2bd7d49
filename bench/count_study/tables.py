#!/usr/bin/env python3
"""Means of the study's CSV as Markdown tables, and its figure.

usage: bench/count_study/tables.py RESULTS.csv... [--svg FIGURE.svg]

RESULTS.csv has the lines of bench_count_study. Differences are between arms of the same cell, with their standard errors.
"""
import argparse
import collections
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "support"))
import panels  # noqa: E402
from means import error, mean  # noqa: E402

LINES = [("inv-cal/pca", "inv-cal", "#b2541f", ""), ("tl-llp/pca", "tl-llp", "#1f6fb2", ""),
         ("alter-psvm/none", "alter-psvm, metric none", "#7a52a3", "2,3"),
         ("tl-count-alone/pca", "tl-count, no source", "#2c8a4b", "5,4"), ("tl-count/pca", "tl-count", "#2c8a4b", "")]


def read(paths):
    """(data, bag size, seed) -> arm -> accuracy."""
    cells = collections.defaultdict(dict)
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            for data, size, seed, arm, accuracy in csv.reader(file):
                cells[data, int(size), int(seed)][arm] = float(accuracy)
    return cells


def table(cells, title, key, arms):
    """A row per arm, a column per value of `key`, and the mean of all cells that have the arm."""
    if not cells:
        return
    columns = sorted({key(c) for c in cells})
    print(f"\n### {title}\n\n| | " + " | ".join(str(c) for c in columns) + " | mean | cells |")
    print("|---|" + "---|" * (len(columns) + 2))
    for arm in arms:
        have = {c: cells[c][arm] for c in cells if arm in cells[c]}
        if have:
            row = [mean([have[c] for c in have if key(c) == column]) for column in columns]
            print(f"| {arm} | " + " | ".join(f"{v:.3f}" for v in row) + f" | {mean(list(have.values())):.4f} | {len(have)} |")


def compare(cells, one, other):
    differences = [cell[one] - cell[other] for cell in cells.values() if one in cell and other in cell]
    if differences:
        better, worse = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
        print(f"- {one} less {other}: {mean(differences):+.4f} (standard error {error(differences):.4f}), "
              f"better in {better}, worse in {worse} of {len(differences)}")


def group_of(data):
    return "nine sets" if data.startswith("set-") else data


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", nargs="+")
    parser.add_argument("--svg")
    options = parser.parse_args()
    cells = read(options.results)
    arms = sorted({arm for cell in cells.values() for arm in cell}, key=lambda arm: (arm.split("/")[1], arm))
    groups = collections.OrderedDict()
    for cell in sorted(cells):
        groups.setdefault(group_of(cell[0]), {})[cell] = cells[cell]
    for name, chosen in groups.items():
        table(chosen, f"{name}, by size of bags", lambda c: c[1], arms)
        if name == "nine sets":
            table(chosen, "nine sets, by set", lambda c: c[0], arms)
        print()
        for metric in ("none", "pca"):
            for other in ("tl-llp", "inv-cal", "alter-psvm", "tl-count-alone", "tl-count+alter-psvm"):
                compare(chosen, f"tl-count/{metric}", f"{other}/{metric}")
    if options.svg:
        points = collections.defaultdict(list)
        for (data, size, _), cell in cells.items():
            for arm, accuracy in cell.items():
                points[group_of(data), (arm, size)].append(accuracy)
        wanted = {line[0] for line in LINES}
        shown = {name: {point: mean(values) for (group, point), values in points.items() if group == name and point[0] in wanted}
                 for name in groups}
        panels.draw(options.svg, {name: p for name, p in shown.items() if p}, LINES)


if __name__ == "__main__":
    main()
