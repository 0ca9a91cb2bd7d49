#!/usr/bin/env python3
"""Means of the study's CSV as Markdown tables, and its figure.

usage: bench/selection/tables.py RESULTS.csv... [--svg FIGURE.svg]

RESULTS.csv has the lines of bench_selection, with or without its header. Cells that do not have all rules are left out.
"""
import argparse
import collections
import csv
import math

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


def mean(values):
    return sum(values) / len(values)


def error(values):
    """Standard error of the mean."""
    if len(values) < 2:
        return float("nan")
    centre = mean(values)
    return math.sqrt(sum((v - centre) ** 2 for v in values) / (len(values) - 1) / len(values))


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
    groups = collections.OrderedDict()
    for data, size, seed in sorted(cells):
        groups.setdefault("nine sets" if data.startswith("set-") else data, set()).add(size)
    width, height, left, top = 300, 240, 46, 34
    lines = [("inv-cal", "none", "#b2541f", "5,4"), ("inv-cal", "pca", "#b2541f", ""),
             ("tl-llp", "none", "#1f6fb2", "5,4"), ("tl-llp", "pca", "#1f6fb2", "")]
    columns = 3
    rows = (len(groups) + columns - 1) // columns
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * width} {rows * height + 34}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{columns * width}" height="{rows * height + 34}" fill="white"/>']
    for number, (name, sizes) in enumerate(groups.items()):
        x0, y0 = number % columns * width, number // columns * height
        sizes = sorted(sizes)
        points = {}
        for m, k, _, _ in lines:
            for size in sizes:
                chosen = [c for c in cells if c[1] == size and (c[0] == name or (name == "nine sets" and c[0].startswith("set-")))]
                points[m, k, size] = mean([cells[c][m, k, "miscount/gated/4"] for c in chosen])
        low = math.floor(min(points.values()) * 20) / 20
        high = math.ceil(max(points.values()) * 20) / 20
        first, last = math.log2(sizes[0]), math.log2(sizes[-1])

        def x(size):
            return x0 + left + (math.log2(size) - first) / max(last - first, 1) * (width - left - 20)

        def y(value):
            return y0 + height - 40 - (value - low) / (high - low) * (height - 40 - top)

        out.append(f'<text x="{x0 + left}" y="{y0 + 20}" font-weight="bold">{name}</text>')
        steps = round((high - low) / 0.05)
        for i in range(steps + 1):
            at = low + 0.05 * i
            out.append(f'<line x1="{x0 + left}" y1="{y(at):.1f}" x2="{x0 + width - 20}" y2="{y(at):.1f}" stroke="#ddd"/>')
            out.append(f'<text x="{x0 + left - 6}" y="{y(at) + 4:.1f}" text-anchor="end">{at:.2f}</text>')
        for size in sizes:
            out.append(f'<text x="{x(size):.1f}" y="{y0 + height - 22}" text-anchor="middle">{size}</text>')
        for m, k, colour, dash in lines:
            path_text = " ".join(f"{x(s):.1f},{y(points[m, k, s]):.1f}" for s in sizes)
            out.append(f'<polyline points="{path_text}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>')
    for i, (m, k, colour, dash) in enumerate(lines):
        x0 = 46 + 210 * i
        y0 = rows * height + 14
        out.append(f'<line x1="{x0}" y1="{y0}" x2="{x0 + 30}" y2="{y0}" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>')
        out.append(f'<text x="{x0 + 36}" y="{y0 + 4}">{m}{", metric pca" if k == "pca" else ""}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>"]) + "\n")


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
