#!/usr/bin/python3
"""experiment and train --checkpoint, killed (SIGKILL) at random moments: what was on disk stays, the same command goes on
to the same bytes, and nothing is left over.

usage: kills_test.py BAGWISE experiment|checkpoint [--kills N] [--seed N]
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import workplaces

PLAN = {"name": "small",
        "data": [{"name": "g", "kind": "gaussian", "source_rows": 40, "target_rows": 60, "features": 4}],
        "methods": [{"name": "inv-cal", "grid": {"C": [1, 4]}}, {"name": "mean-map", "options": {"lambda": 1}}],
        "bag_sizes": [2, 4], "noise": [0, 0.25, 0.5], "folds": 5, "selection": {"folds": 2, "combine": "best"}}


class Experiment:
    """Its journal only grows: a line that was seen is never lost."""
    words = "experiment e.json --out run --jobs 2 --quiet"
    files = {"e.json": json.dumps(PLAN).encode()}

    @staticmethod
    def seen(folder):
        path = pathlib.Path(folder, "run/results.jsonl")
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        return {line for line in lines if line.endswith(b"\n")}

    @staticmethod
    def lost(before, after):
        return before - after

    @staticmethod
    def result(there):
        """What must be the same: the lines of cells in any order, times not at all."""
        out = {name: data for name, data in there.items() if name != "run/timings.jsonl"}
        out["run/results.jsonl"] = sorted(out.get("run/results.jsonl", b"").splitlines())
        return out


class Checkpoint:
    """Its files appear one by one and stay until the model is there."""
    words = ("train --method tl-llp --uncertainty literal --delta 0.2 --rows stream --checkpoint ck --max-rounds 12 "
             "--tolerance 1e-15 --target t.csv --target-proportions p.csv -o m.json --threads 2 --quiet")
    files = {name: data for name, data in workplaces.tables(seed=5, bags=600, rows=20).items() if name != "labelled.csv"}

    @staticmethod
    def seen(folder):
        if os.path.exists(os.path.join(folder, "m.json")):  # then they go
            return set()
        names = os.listdir(os.path.join(folder, "ck")) if os.path.isdir(os.path.join(folder, "ck")) else []
        return {name for name in names if ".tmp-" not in name}

    @staticmethod
    def lost(before, after):
        return set() if not after else before - after

    @staticmethod
    def result(there):
        return there


def start(binary, kind, folder):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen([binary, *kind.words.split()], cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)


def run(binary, kind, folder):
    process = start(binary, kind, folder)
    _, said = process.communicate()
    if process.returncode not in (0, 1):  # 1: the last of the rounds came before the tolerance
        sys.exit(f"FAILED: status {process.returncode} without a fault: {said.decode()}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("kind", choices=["experiment", "checkpoint"])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    binary = os.path.abspath(given.binary)
    kind = {"experiment": Experiment, "checkpoint": Checkpoint}[given.kind]
    rng = random.Random(given.seed)
    folder = workplaces.make_folder()
    faults, kills, whole, midway = [], 0, 0, 0
    try:
        workplaces.restore(folder, kind.files)
        run(binary, kind, folder)
        workplaces.restore(folder, kind.files)
        began = time.monotonic()
        run(binary, kind, folder)
        duration = time.monotonic() - began
        undisturbed = kind.result(workplaces.contents(folder))
        workplaces.restore(folder, kind.files)
        in_a_row = 0
        while kills < given.kills and not faults:
            before = kind.seen(folder)
            process = start(binary, kind, folder)
            time.sleep(rng.random() * duration)
            before |= kind.seen(folder) if given.kind == "experiment" else set()
            process.kill()
            process.communicate()
            after = kind.seen(folder)
            killed = process.returncode < 0
            kills += killed
            midway += killed and bool(after)
            if lost := kind.lost(before, after):
                faults.append(f"after kill {kills}: lost {sorted(lost)[:3]}")
            in_a_row += 1
            if killed and in_a_row < rng.randint(1, 6):
                continue
            run(binary, kind, folder)  # to its end
            whole += 1
            in_a_row = 0
            there = kind.result(workplaces.contents(folder))
            if there != undisturbed:
                differ = [name for name in there.keys() | undisturbed.keys() if there.get(name) != undisturbed.get(name)]
                faults.append(f"after kill {kills}: not as undisturbed: {sorted(differ)}")
            workplaces.restore(folder, kind.files)
    finally:
        shutil.rmtree(folder)
    for fault in faults:
        print(f"FAILED: {fault}")
    print(f"{given.kind}: killed {kills} times, {midway} of them with something kept, {whole} runs to the end, "
          f"{duration:.2f} s undisturbed")
    if kills < given.kills and not faults:
        faults.append("")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
