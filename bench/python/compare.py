"""What a fit costs from numpy over the same fit in C++, and how much memory it takes beyond the data.

usage: compare.py PROGRAM [ROWS [COLUMNS [BAGS]]]       (1,000,000 x 50 in 10,000 bags; bagwise in PYTHONPATH)

The same numbers are fitted by both in turns, in processes of their own; the planes must be equal to the last bit before
a time is shown. Times are the least of the repeats, by the clock and of the processor (which tells more on a
busy machine). The memory is the peak during the
fits less what the process had before them.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REPEATS, ROUNDS = 5, 3
PYTHON_SIDE = """
import json, re, sys, time
import numpy as np, bagwise
folder, rows, columns, name, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
X = np.fromfile(folder + "/X.f64").reshape(rows, columns)
bags = np.fromfile(folder + "/bags.i64", dtype=np.int64)
proportions = np.fromfile(folder + "/proportions.f64")
# Everything is loaded and touched once, as it is in a session.
small = bags < 20
getattr(bagwise, name)().fit(X[small], bags[small], proportions[:20])
def memory(field):
    return int(re.search(field + r":\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before, seconds, processor = memory("VmRSS"), [], []
for _ in range(repeats):
    start, begun = time.perf_counter(), time.process_time()
    fitted = getattr(bagwise, name)().fit(X, bags, proportions)
    seconds.append(time.perf_counter() - start)
    processor.append(time.process_time() - begun)
plane = [float(fitted.intercept_[0])] + [float(w) for w in fitted.coef_[0]]
print(json.dumps({"seconds": seconds, "processor": processor, "plane": plane, "growth": memory("VmHWM") - before, "data": X.nbytes}))
"""


def make(folder: Path, rows: int, columns: int, bags: int) -> None:
    rng = np.random.default_rng(1)
    positive = rng.random(rows) < 0.4
    X = rng.normal(size=(rows, columns)) + 0.3 * positive[:, None]
    bag = rng.permutation(rows) % bags
    shares = np.bincount(bag, positive, bags) / np.bincount(bag, minlength=bags)
    X.tofile(folder / "X.f64")
    bag.tofile(folder / "bags.i64")
    shares.tofile(folder / "proportions.f64")
    # Bags are sorted by name, and sums are added in their order: "10" comes before "9".
    order = np.argsort([str(k) for k in range(bags)])
    np.argsort(order)[bag].astype(np.uint32).tofile(folder / "sorted_bags.u32")
    shares[order].tofile(folder / "sorted_proportions.f64")


def main() -> int:
    program = sys.argv[1]
    rows, columns, bags = (int(n) for n in (sys.argv[2:] + ["1000000", "50", "10000"][len(sys.argv) - 2 :]))
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, rows, columns, bags)
        print(f"{rows:,} x {columns} in {bags:,} bags; least of {REPEATS * ROUNDS} fits")
        print(f"{'method':10} {'C++ s':>8} {'numpy s':>8} {'ratio':>7} {'C++ cpu':>8} {'numpy cpu':>9} {'ratio':>7} {'peak beyond X':>14}")
        for method, estimator in (("inv-cal", "InvCal"), ("tl-llp", "TLLLP"), ("mean-map", "MeanMap")):
            ours, theirs, our_cpu, their_cpu, growth, data = [], [], [], [], 0, 1
            for _ in range(ROUNDS):
                shape = [name, str(rows), str(columns)]
                there = subprocess.run(
                    [program, *shape, str(bags), method, str(REPEATS)], check=True, capture_output=True, text=True
                ).stdout.splitlines()
                here = json.loads(
                    subprocess.run(
                        [sys.executable, "-c", PYTHON_SIDE, *shape, estimator, str(REPEATS)],
                        check=True, capture_output=True, text=True,
                    ).stdout
                )  # fmt: skip
                if [float.fromhex(w) for w in there[2].split()] != here["plane"]:
                    print(f"{method}: the planes differ")
                    return 1
                theirs += [float(s) for s in there[0].split()]
                their_cpu += [float(s) for s in there[1].split()]
                ours += here["seconds"]
                our_cpu += here["processor"]
                growth, data = max(growth, here["growth"]), here["data"]
            ratio = min(ours) / min(theirs)
            worst = max(worst, ratio)
            print(
                f"{method:10} {min(theirs):8.3f} {min(ours):8.3f} {ratio:7.3f} {min(their_cpu):8.3f} "
                f"{min(our_cpu):9.3f} {min(our_cpu) / min(their_cpu):7.3f} {growth / data:13.1%}"
            )
    print(f"the dearest costs {worst - 1:+.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
