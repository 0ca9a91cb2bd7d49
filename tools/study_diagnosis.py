#!/usr/bin/python3
"""How right `bagwise diagnose` is on made data: its verdicts on transfer, and its accuracy from bags alone.

usage: tools/study_diagnosis.py BAGWISE [SEEDS [RESULTS.jsonl]]

For each kind, preset, bag size and seed 1..SEEDS (default 20): the verdict on transfer, and of inv-cal and tl-llp
(default options) the estimated accuracy with its interval beside the true one, on 5,000 fresh labelled rows.
Prints the tables of docs/guide/diagnosing.md. Cells that RESULTS.jsonl has already are not run again.
"""

import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS, PRESETS, SIZES, METHODS = ("gaussian", "documents"), ("related", "unrelated"), (4, 16, 64), ("inv-cal", "tl-llp")


def run_cells(binary, folder, kind, preset, seed):
    """The cells of one pair of tasks: one per bag size."""
    def bagwise(*words):
        done = subprocess.run([binary, *map(str, words)], cwd=folder, capture_output=True, text=True, check=True)
        return json.loads(done.stdout) if "--json" in words else None

    bagwise("generate", "--quiet", "--kind", kind, "--preset", preset, "--seed", seed, "--test-rows", 5000, "--out", "d")
    for size in SIZES:
        for task, rows, shares in (("target", "t.csv", "p.csv"), ("source", "s.csv", "q.csv")):
            bagwise("bag", "--quiet", "--input", f"d/{task}.csv", "--size", size, "--seed", seed,
                    "--out-instances", rows, "--out-proportions", shares)
        target = ["--target", "t.csv", "--target-proportions", "p.csv"]
        both = target + ["--source", "s.csv", "--source-proportions", "q.csv"]
        before = bagwise("diagnose", *both, "--json")
        cell = {"kind": kind, "preset": preset, "seed": seed, "size": size,
                "learnable": before["tasks"][-1]["learnable"], "verdict": before["transfer"][0]["verdict"],
                "own": before["transfer"][0]["own_signal"], "across": before["transfer"][0]["target_signal"]}
        for method, data in zip(METHODS, (target, both)):
            bagwise("train", "--quiet", "--method", method, *data, "-o", "m.json")
            truth = bagwise("evaluate", "--model", "m.json", "--input", "d/test.csv", "--json")
            after = bagwise("diagnose", *data, "--model", "m.json", "--bootstrap", 0, "--json")
            held_out = after["model"]["held_out"]
            cell[method] = {"truth": truth["accuracy"], "found": held_out["accuracy"],
                            "promised": held_out["mean_confidence"]}
        yield cell


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def print_verdicts(cells):
    print("| preset | bags of | likely to help | unclear | likely to hurt | tl-llp less inv-cal, accuracy |")
    print("|---|---|---|---|---|---|")
    for preset in PRESETS:
        for size in SIZES:
            group = [c for c in cells if c["preset"] == preset and c["size"] == size]
            count = collections.Counter(c["verdict"] for c in group)
            gain = mean(c["tl-llp"]["truth"] - c["inv-cal"]["truth"] for c in group)
            print(f"| {preset} | {size} | {count['likely to help']} | {count['unclear']} | {count['likely to hurt']} "
                  f"| {gain:+.3f} |")
    for verdict in ("likely to help", "unclear", "likely to hurt"):
        gains = [c["tl-llp"]["truth"] - c["inv-cal"]["truth"] for c in cells if c["verdict"] == verdict]
        print(f"{verdict}: {len(gains)} cells, mean gain {mean(gains):+.3f}, helped in {sum(g > 0 for g in gains)}")


def print_coverage(cells):
    print("| kind | method | bags of | accuracy | estimate less truth | its deviation | interval holds | mean width "
          "| by probabilities |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind in KINDS:
        for method in METHODS:
            for size in SIZES:
                group = [c[method] for c in cells if c["kind"] == kind and c["size"] == size and c[method]["found"]]
                miss = [g["found"]["value"] - g["truth"] for g in group]
                held = sum(g["found"]["low"] <= g["truth"] <= g["found"]["high"] for g in group)
                spread = mean((m - mean(miss)) ** 2 for m in miss) ** 0.5
                print(f"| {kind} | {method} | {size} | {mean(g['truth'] for g in group):.3f} | {mean(miss):+.3f} "
                      f"| {spread:.3f} | {held} of {len(group)} "
                      f"| {mean(g['found']['high'] - g['found']['low'] for g in group):.2f} "
                      f"| {mean(g['promised'] - g['truth'] for g in group):+.3f} |")


def main(arguments):
    if not 1 <= len(arguments) <= 3:
        sys.exit(__doc__)
    binary = str(Path(arguments[0]).resolve())
    seeds = int(arguments[1]) if len(arguments) > 1 else 20
    results = Path(arguments[2]) if len(arguments) > 2 else None
    cells = [json.loads(line) for line in results.read_text().splitlines()] if results and results.exists() else []
    done = collections.Counter((c["kind"], c["preset"], c["seed"]) for c in cells)
    for seed in range(1, seeds + 1):
        for kind in KINDS:
            for preset in PRESETS:
                if done[kind, preset, seed] == len(SIZES):
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    fresh = list(run_cells(binary, folder, kind, preset, seed))
                cells += fresh
                if results:
                    with results.open("a") as file:
                        file.writelines(json.dumps(cell) + "\n" for cell in fresh)
    print_verdicts(cells)
    print_coverage(cells)


if __name__ == "__main__":
    main(sys.argv[1:])
