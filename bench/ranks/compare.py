#!/usr/bin/python3
"""Two ranks on two cores against one rank with one thread, on the reduction of a large CSV.

usage: bench/ranks/compare.py BAGWISE [ROWS]

Prints the times of three runs each, the ratio of the best, and whether the answers are the same.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FEATURES, BAG_SIZE, RUNS = 50, 100, 3


def write_table(folder, rows):
    """Lines are drawn from a thousand: reading does not care, and writing is quick."""
    rng = random.Random(1)
    cells = [",".join(f"{rng.gauss(0, 1):.6f}" for _ in range(FEATURES)) + "\n" for _ in range(1000)]
    with open(folder / "t.csv", "w", encoding="ascii") as table, open(folder / "p.csv", "w", encoding="ascii") as shares:
        table.write("bag," + ",".join(f"x{j}" for j in range(FEATURES)) + "\n")
        shares.write("bag,proportion\n")
        for bag in range(rows // BAG_SIZE):
            shares.write(f"b{bag},{rng.randrange(1, BAG_SIZE) / BAG_SIZE}\n")
            table.write("".join(f"b{bag},{rng.choice(cells)}" for _ in range(BAG_SIZE)))


def timed(words, folder):
    started = time.monotonic()
    subprocess.run(words, cwd=folder, check=True, capture_output=True,
                   env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    return time.monotonic() - started


def main():
    binary, rows = str(Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 10000000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder, rows)
        train = [binary, "train", "--method", "inv-cal", "--target", "t.csv", "--target-proportions", "p.csv", "--threads",
                 "1", "--quiet", "-o"]
        best, objectives = {}, {}
        for ranks in (1, 2):
            words = ["mpirun", "-n", str(ranks), "--bind-to", "none", *train, f"{ranks}.json"]
            times = [timed(words, folder) for _ in range(RUNS)]
            best[ranks] = min(times)
            objectives[ranks] = json.loads((folder / f"{ranks}.json").read_text())["training"]["objective"]
            print(f"{ranks} rank{'s' if ranks > 1 else ''}, 1 thread each: "
                  + ", ".join(f"{seconds:.2f}" for seconds in times) + " s")
        same = abs(objectives[1] - objectives[2]) <= 1e-9 * abs(objectives[1])
        print(f"ratio {best[1] / best[2]:.2f} (asked: 1.7), answers {'the same' if same else 'WRONG'}")
        sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
