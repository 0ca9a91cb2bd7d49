"""What the tests over ranks share: running mpirun, small tables, checks that are counted."""

import os
import random
import subprocess
import sys
import time

PATIENCE = 120  # seconds: only to end what hangs
faults = []


def check(good, what):
    if not good:
        faults.append(what)
        print(f"FAILED: {what}")


def finish():
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)


def surroundings(folder, **more):
    """The environment of mpirun: everything temporary in the folder, no core to itself."""
    out = {**os.environ, "TMPDIR": str(folder), "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_ALLOW_RUN_AS_ROOT": "1",
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    out.update(more)
    return out


class Ended:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def said(self):
        """The lines that are ours."""
        return [line for line in self.err.splitlines() if line.startswith("bagwise: ")]


def run(words, folder, meanwhile=None, **more):
    """Runs a command line to its end, in the folder; `meanwhile` gets the process."""
    started = time.monotonic()
    process = subprocess.Popen([str(w) for w in words], cwd=folder, env=surroundings(folder, **more), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    if meanwhile:
        meanwhile(process)
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        check(False, f"hung: {' '.join(str(w) for w in words)}\n{err}")
    return Ended(process.returncode, out, err, time.monotonic() - started)


def write_bags(path, proportions, bags, rows, features, seed, ids=False):
    """A table of rows in bags and its proportions."""
    rng = random.Random(seed)
    with open(path, "w", encoding="ascii") as table, open(proportions, "w", encoding="ascii") as shares:
        table.write(("id," if ids else "") + "bag," + ",".join(f"x{j}" for j in range(features)) + "\n")
        shares.write("bag,proportion\n")
        for k in range(bags):
            share = rng.random()
            shares.write(f"b{k},{round(share * rows) / rows}\n")
            for i in range(rows):
                positive = i < round(share * rows)
                cells = [rng.gauss(0.5 if positive and j < 3 else 0, 1) for j in range(features)]
                table.write((f'"row {k},{i}",' if ids else "") + f"b{k}," + ",".join(f"{x:.6f}" for x in cells) + "\n")


def ranks_below(pid):
    """The processes below `pid` that are called bagwise, with the rank of each."""
    found = {}
    children = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    parents = {int(p): (int(q), name) for p, q, name in (line.split(None, 2) for line in children.splitlines())}
    for process, (_, name) in parents.items():
        at = process
        while at in parents and at != pid:
            at = parents[at][0]
        if at != pid or name != "bagwise":
            continue
        try:
            with open(f"/proc/{process}/environ", encoding="utf-8", errors="replace") as environment:
                settings = dict(item.split("=", 1) for item in environment.read().split("\0") if "=" in item)
        except OSError:
            continue
        if "OMPI_COMM_WORLD_RANK" in settings:
            found[int(settings["OMPI_COMM_WORLD_RANK"])] = process
    return found
