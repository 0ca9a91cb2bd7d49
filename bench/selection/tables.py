#!/usr/bin/env python3
"""Means of the study's CSV as Markdown tables, and its figure.

usage: bench/selection/tables.py RESULTS.csv... [--svg FIGURE.svg]

RESULTS.csv has the lines of bench_selection, with or without its header. Cells that do not have all rules are left out.
"""
import argparse
import collections
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "support"))
import panels  # noqa: E402
from means import error, mean  # noqa: E402

FIELDS = ["data", "bag_size", "seed", "method", "metric", "rule", "accuracy"]
RULES = ["oracle", "miscount/best", "soft-error/best", "likelihood/best", "miscount/average/1", "miscount/average/2",
         "miscount/average/4", "miscount/average/8", "miscount/average/16", "soft-error/average/4",
         "likelihood/average/4", "miscount/gated/4", "soft-error/gated/4", "likelihood/gated/4", "miscount/plane/4"]


def read(paths):
    """(data, bag size, seed) -> (method, metric, rule) -> accuracy, of whole cells."""
    cells = collections.defaultdict(dict)
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.reader(file):
                if len(row) == len(FIELDS) and row[0] != "data":
                    data, size, seed, method, metric, rule, accuracy = row
                    cells[data, int(size), int(seed)][method, metric, rule] = float(accuracy)
    most = max(len(cell) for cell in cells.values())
    return {key: cell for key, cell in cells.items() if len(cell) == most}


def table(cells, title, groups):
    """A row per rule, a column per method and metric, over the cells of each group."""
    kinds = [(m, k) for m in ("inv-cal", "tl-llp") for k in ("none", "pca")]
    for name, chosen in groups:
        if not chosen:
            continue
        print(f"\n### {title}: {name} ({len(chosen)} cells)\n")
        print("| rule | " + " | ".join(f"{m}, {k}" for m, k in kinds) + " |")
        print("|---|" + "---|" * len(kinds))
        for rule in RULES:
            row = [mean([cells[c][m, k, rule] for c in chosen]) for m, k in kinds]
            print(f"| {rule} | " + " | ".join(f"{v:.4f}" for v in row) + " |")
        for m, k in kinds:
            gap = [cells[c][m, k, "oracle"] - cells[c][m, k, "miscount/gated/4"] for c in chosen]
            print(f"\noracle less tuned, {m}, {k}: {mean(gap):.4f} (standard error {error(gap):.4f})", end="")
        for k in ("none", "pca"):
            gain = [cells[c]["tl-llp", k, "miscount/gated/4"] - cells[c]["inv-cal", k, "miscount/gated/4"] for c in chosen]
            print(f"\ntl-llp less inv-cal, both tuned, {k}: {mean(gain):+.4f} ({error(gain):.4f})", end="")
        print()


def figure(cells, path):
    """Mean accuracy by bag size of the averaged models: a panel for each group of data."""
    grouped = collections.defaultdict(list)
    for data, size, seed in sorted(cells):
        group = "nine sets" if data.startswith("set-") else data
        for (method, metric, rule), accuracy in cells[data, size, seed].items():
            if rule == "miscount/gated/4":
                grouped[group, (f"{method}/{metric}", size)].append(accuracy)
    shown = {}
    for (group, point), accuracies in grouped.items():
        shown.setdefault(group, {})[point] = mean(accuracies)
    panels.draw(path, shown, [("inv-cal/none", "inv-cal", "#b2541f", "5,4"), ("inv-cal/pca", "inv-cal, metric pca", "#b2541f", ""),
                              ("tl-llp/none", "tl-llp", "#1f6fb2", "5,4"), ("tl-llp/pca", "tl-llp, metric pca", "#1f6fb2", "")])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", nargs="+")
    parser.add_argument("--svg")
    options = parser.parse_args()
    cells = read(options.results)
    presets = [c for c in cells if not c[0].startswith("set-")]
    real = [c for c in cells if c[0].startswith("set-")]
    sizes = sorted({c[1] for c in presets})
    table(cells, "presets", [("all", presets)] + [(f"bags of {s}", [c for c in presets if c[1] == s]) for s in sizes]
          + [(d, [c for c in presets if c[0] == d]) for d in sorted({c[0] for c in presets})])
    table(cells, "labelled tables", [("all", real)]
          + [(f"bags of {s}", [c for c in real if c[1] == s]) for s in sorted({c[1] for c in real})]
          + [(d, [c for c in real if c[0] == d]) for d in sorted({c[0] for c in real})])
    if options.svg:
        figure(cells, options.svg)


if __name__ == "__main__":
    main()
