#!/usr/bin/python3
"""The command line over ranks on one machine, against one process; and faults in the middle.

usage: tests/distributed/ranks_test.py BAGWISE COMMUNICATOR_CHECK
"""

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from ranks import check, finish, ranks_below, run, write_bags

BAGWISE, CHECK = sys.argv[1:3]
EXPERIMENT = {
    "name": "small", "title": "small",
    "data": [{"name": "g", "title": "g", "kind": "gaussian", "preset": "related", "source_rows": 80, "target_rows": 80,
              "features": 5}],
    "methods": [{"name": "mean-map", "title": "MeanMap"}, {"name": "inv-cal", "title": "InvCal"}],
    "bag_sizes": [2, 8], "noise": [0], "folds": 4, "run_folds": 2, "seed": 1,
    "selection": {"folds": 3, "criterion": "miscount", "combine": "best", "search": "halving"}}


def over(ranks, *words):
    return ["mpirun", "-n", ranks, *words]


def numbers(value):
    """All numbers of a model in order, but for times."""
    if isinstance(value, dict):
        for key in sorted(value):
            if "second" not in key and "memory" not in key:
                yield from numbers(value[key])
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)


def close(a, b, tolerance):
    a, b = list(numbers(a)), list(numbers(b))
    return len(a) == len(b) and all(abs(x - y) <= tolerance * max(1, abs(x), abs(y)) for x, y in zip(a, b))


def communicator(folder):
    for ranks in (1, 2, 4):
        ended = run(over(ranks, CHECK), folder)
        check(ended.status == 0, f"the communicator of {ranks} ranks: {ended.err}")


def training(folder):
    common = ["--target", "t.csv", "--target-proportions", "p.csv", "--quiet"]
    for method in (["inv-cal"], ["tl-llp"], ["mean-map"]):
        words = [BAGWISE, "train", "--method", *method, *common]
        alone = run([*words, "-o", "one.json"], folder)
        check(alone.status == 0, f"{method} in one process: {alone.err}")
        one = json.loads((folder / "one.json").read_text())
        for ranks in (1, 2, 4):
            models = []
            for name in ("a.json", "b.json"):
                ended = run(over(ranks, *words, "-o", name), folder)
                check(ended.status == 0, f"{method} on {ranks} ranks: {ended.err}")
                if ended.status != 0:
                    return
                models.append((folder / name).read_bytes())
            check(models[0] == models[1], f"{method} on {ranks} ranks twice: other bytes")
            # The objective to 1e-9; planes of problems solved to a gap only as far as the gap goes.
            other = json.loads(models[0])
            check(close(other["training"]["objective"], one["training"]["objective"], 1e-9),
                  f"{method} on {ranks} ranks: objective {other['training']['objective']}, "
                  f"of one process {one['training']['objective']}")
            check(close(other["tasks"], one["tasks"], 1e-3), f"{method} on {ranks} ranks: another plane")


def reduced(folder):
    """Sums and means of bags, which one rank reads."""
    run([BAGWISE, "reduce", "t.csv", "-o", "t.sums", "--quiet"], folder)
    sums, names = {}, []
    for line in (folder / "t.csv").read_text().splitlines():
        bag, *cells = line.split(",")
        if not names:
            names = cells
            continue
        size, total = sums.get(bag, (0, [0.0] * len(names)))
        sums[bag] = (size + 1, [a + float(b) for a, b in zip(total, cells)])
    lines = [f"{bag},{size}," + ",".join(repr(x / size) for x in total) for bag, (size, total) in sums.items()]
    (folder / "means.csv").write_text("\n".join(["bag,size," + ",".join(names), *lines]) + "\n")
    for method, solve in (("inv-cal", "one"), ("inv-cal", "all"), ("tl-llp", "one")):
        common = [BAGWISE, "train", "--method", method, "--target-proportions", "p.csv", "--quiet", "--gap", "1e-10"]
        run([*common, "--target", "t.csv", "-o", "rows.json"], folder)
        objective = json.loads((folder / "rows.json").read_text())["training"]["objective"]
        for target in (["--target-sums", "t.sums"], ["--bag-means", "means.csv"]):
            for ranks in (2, 3):
                ended = run(over(ranks, *common, *target, "--solve-on", solve, "-o", "reduced.json"), folder)
                check(ended.status == 0, f"{method} {target} on {ranks} ranks: {ended.err}")
                if ended.status == 0:
                    got = json.loads((folder / "reduced.json").read_text())["training"]["objective"]
                    check(close(got, objective, 1e-9), f"{method} {target} on {ranks} ranks: {got}, of rows {objective}")


def labels_as_features(folder):
    """A feature that is the label is found, wherever the bags are."""
    rows, shares = ["bag,x,won"], ["bag,proportion"]
    for k in range(12):
        shares.append(f"b{k},{k % 5 / 4}")
        rows += [f"b{k},{i * k},{int(i < k % 5)}" for i in range(4)]
    (folder / "leak.csv").write_text("\n".join(rows) + "\n")
    (folder / "leak_shares.csv").write_text("\n".join(shares) + "\n")
    words = [BAGWISE, "train", "--method", "inv-cal", "--target", "leak.csv", "--target-proportions", "leak_shares.csv",
             "--quiet", "-o", "leak.json"]
    for solve in ("one", "all"):
        ended = run(over(2, *words, "--solve-on", solve), folder)
        check(ended.status == 2 and '"won"' in ended.err and "label under another name" in ended.err,
              f"a leak with --solve-on {solve}: {ended.status} {ended.err}")
        check(not (folder / "leak.json").exists(), f"a leak with --solve-on {solve}: a model is written")
    ended = run(over(2, *words, "--solve-on", "all", "--exclude", "won"), folder)
    check(ended.status == 0, f"without the leak: {ended.err}")
    shares.append("b99,0.5")
    (folder / "leak_shares.csv").write_text("\n".join(shares) + "\n")
    ended = run(over(2, *words, "--solve-on", "all", "--exclude", "won"), folder)
    check(ended.status == 2 and 'leak_shares.csv:14: bag "b99" has a proportion but no row' in ended.err,
          f"a proportion without rows: {ended.status} {ended.err}")


def prediction(folder):
    for table in ("t.csv", "ids.csv"):
        for end in (".csv", ".csv.gz"):
            words = [BAGWISE, "predict", "--model", "model.json", "--input", table]
            alone = run([*words, "-o", "one" + end, "--json"], folder)
            for ranks in (1, 2, 4):
                ended = run(over(ranks, *words, "-o", f"many{end}", "--json"), folder)
                check(ended.status == 0, f"predict on {ranks} ranks: {ended.err}")
                if end == ".csv":
                    check((folder / "many.csv").read_bytes() == (folder / "one.csv").read_bytes(),
                          f"predict {table} on {ranks} ranks: other bytes than one process")
                check(ended.out.replace("many", "one") == alone.out, f"predict on {ranks} ranks: totals {ended.out}")
    ended = run(over(3, *words[:4], "--input", "t.csv"), folder)
    check(ended.out == (folder / "one.csv").read_text().replace("", "") or ended.out.count("\n") > 100,
          "predict to standard output on 3 ranks")
    ended = run(over(4, *words[:4], "--input", "torn.csv", "-o", "torn-out.csv"), folder)
    check(ended.status == 2, f"predict of a torn table: status {ended.status}")
    check(len(ended.said()) == 1 and "torn.csv:602:" in ended.said()[0] and "rank " in ended.said()[0],
          f"predict of a torn table said {ended.said()}")
    check(not (folder / "torn-out.csv").exists(), "predict of a torn table left an output")
    (folder / "empty.csv").write_text((folder / "t.csv").read_text().splitlines()[0] + "\n")
    (folder / "kept.csv").write_text("old")
    ended = run(over(2, *words[:4], "--input", "empty.csv", "-o", "kept.csv"), folder)
    check(ended.status == 2 and "empty.csv: has no rows" in "".join(ended.said()),
          f"predict of no rows: {ended.status} {ended.said()}")
    check((folder / "kept.csv").read_text() == "old", "predict of no rows wrote its output")
    ended = run(over(2, BAGWISE, "train", "--method", "inv-cal", "--target", "empty.csv", "--target-proportions", "p.csv",
                     "-o", "never.json"), folder)
    check("empty.csv: has no rows" in "".join(ended.said()), f"train on no rows said {ended.said()}")


def tuning(folder):
    for combine in ("best", "average"):
        words = [BAGWISE, "tune", "--method", "inv-cal", "--set", "C=1,2,4", "--set", "epsilon=0.01,0.1", "--combine",
                 combine, "--target", "small.csv", "--target-proportions", "small-p.csv", "--quiet"]
        run([*words, "-o", "tuned-one.json"], folder)
        for ranks in (2, 4):
            ended = run(over(ranks, *words, "-o", "tuned.json"), folder)
            check(ended.status == 0, f"tune on {ranks} ranks: {ended.err}")
            if ended.status == 0:
                check((folder / "tuned.json").read_bytes() == (folder / "tuned-one.json").read_bytes(),
                      f"tune --combine {combine} on {ranks} ranks: another model than one process")
    check(not list(folder.glob("*.tuning")), "tune left its journal")


def experiment(folder):
    (folder / "small.json").write_text(json.dumps(EXPERIMENT))
    run([BAGWISE, "experiment", "small.json", "--out", "e1", "--quiet"], folder)
    one = sorted((folder / "e1/results.jsonl").read_text().splitlines())
    ended = run(over(3, BAGWISE, "experiment", "small.json", "--out", "e3", "--quiet"), folder)
    check(ended.status == 0, f"experiment on 3 ranks: {ended.err}")
    check(sorted((folder / "e3/results.jsonl").read_text().splitlines()) == one, "experiment on 3 ranks: other results")
    # Half of it by one process, the rest by ranks.
    (folder / "e3/results.jsonl").write_text("".join(line + "\n" for line in one[:3]))
    ended = run(over(2, BAGWISE, "experiment", "small.json", "--out", "e3", "--json"), folder)
    check(ended.status == 0 and json.loads(ended.out or "{}").get("done_before") == 3,
          f"experiment resumed on 2 ranks: {ended.out} {ended.err}")
    check(sorted((folder / "e3/results.jsonl").read_text().splitlines()) == one, "experiment resumed: other results")


def leftovers(folder):
    return [p.name for p in folder.iterdir() if ".tmp-" in p.name]


def faults_of_ranks(folder):
    ended = run(over(3, BAGWISE, "train", "--method", "inv-cal", "--target", "torn.csv", "--target-proportions", "p.csv",
                     "-o", "never.json"), folder)
    check(ended.status == 2 and len(ended.said()) == 1, f"train on a torn table: {ended.status} {ended.said()}")
    check("torn.csv:602:" in "".join(ended.said()), f"train on a torn table said {ended.said()}")
    ended = run(over(2, BAGWISE, "train", "--method", "inv-cal", "-o", "never.json"), folder)
    check(ended.status == 2 and len(ended.said()) == 1, f"train without --target: {ended.status} {ended.said()}")

    long_run = [BAGWISE, "experiment", "long.json", "--out", "long", "--quiet"]
    (folder / "long.json").write_text(json.dumps({**EXPERIMENT, "methods": [{"name": "alter-psvm", "title": "a"}],
                                                  "run_folds": 4, "bag_sizes": [2, 4, 8, 16]}))

    def after(what, signal_number, rank):
        def meanwhile(process):
            until = time.monotonic() + 60
            while time.monotonic() < until:
                found = ranks_below(process.pid)
                if len(found) == 3:
                    break
                time.sleep(0.05)
            time.sleep(1)
            check(process.poll() is None, f"{what}: the run was too short to be disturbed")
            target = process.pid if rank is None else found.get(rank)
            if target:
                os.kill(target, signal_number)
        return meanwhile

    for what, signal_number, rank in (("rank 1 killed", signal.SIGKILL, 1), ("rank 0 killed", signal.SIGKILL, 0),
                                      ("mpirun interrupted", signal.SIGINT, None)):
        shutil.rmtree(folder / "long", ignore_errors=True)
        ended = run(over(3, *long_run), folder, after(what, signal_number, rank))
        check(ended.status != 0, f"{what}: exit status 0")
        check(not leftovers(folder), f"{what}: left {leftovers(folder)}")
    # A rank that hangs, as on a host that is lost: the others say so.
    shutil.rmtree(folder / "long", ignore_errors=True)
    ended = run(over(3, *long_run), folder, after("rank 2 stopped", signal.SIGSTOP, 2), BAGWISE_RANK_TIMEOUT="2")
    check(ended.status != 0, "rank 2 stopped: exit status 0")
    check(any("rank 2 on " in line and "has not been heard of for 2 s" in line for line in ended.said()),
          f"rank 2 stopped: said {ended.said()}")


def checkpoints(folder):
    """A rank is killed after some rounds; the same command goes on to the same bytes."""
    write_bags(folder / "many.csv", folder / "many-p.csv", bags=1000, rows=60, features=6, seed=4)
    words = [BAGWISE, "train", "--method", "mean-map", "--target", "many.csv", "--target-proportions", "many-p.csv",
             "--threads", 1, "--quiet"]
    ended = run(over(2, *words, "-o", "clean.json"), folder)
    check(ended.status == 0, f"mean-map on 2 ranks: {ended.err}")
    words += ["--checkpoint", "kept", "-o", "resumed.json"]
    killed = 0
    for victim in (0, 1, 0, 1):
        def meanwhile(process):
            found = {}
            while process.poll() is None and len(found) < 2:
                found = ranks_below(process.pid)
            while process.poll() is None and not list(folder.glob("kept/*.state")):
                time.sleep(0.001)
            with contextlib.suppress(KeyError, ProcessLookupError):  # it was quicker
                os.kill(found[victim], signal.SIGKILL)
        ended = run(over(2, *words), folder, meanwhile)
        if ended.status != 0:
            killed += 1
            check(not (folder / "resumed.json").exists(), f"rank {victim} killed: a model was written")
            ended = run(over(2, *words), folder)
        check(ended.status == 0, f"after rank {victim} was killed: {ended.err}")
        check((folder / "resumed.json").read_bytes() == (folder / "clean.json").read_bytes(),
              f"after rank {victim} was killed: another model")
        check(not (folder / "kept").exists(), f"after rank {victim} was killed: the checkpoint is still there")
        (folder / "resumed.json").unlink()
    print(f"{killed} runs were killed")
    check(killed > 0, "no run was long enough to be killed after a round")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_bags(folder / "t.csv", folder / "p.csv", bags=60, rows=20, features=6, seed=1)
        write_bags(folder / "ids.csv", folder / "ids-p.csv", bags=30, rows=10, features=6, seed=2, ids=True)
        write_bags(folder / "small.csv", folder / "small-p.csv", bags=20, rows=5, features=3, seed=3)
        lines = (folder / "t.csv").read_text().splitlines()
        lines[601] = lines[601].replace(",", ",x", 1).rsplit(",", 1)[0] + ",torn"
        (folder / "torn.csv").write_text("\n".join(lines) + "\n")
        run([BAGWISE, "train", "--method", "inv-cal", "--target", "t.csv", "--target-proportions", "p.csv", "-o",
             "model.json", "--quiet"], folder)
        parts = {"communicator": communicator, "training": training, "reduced": reduced,
                 "leaks": labels_as_features, "prediction": prediction, "tuning": tuning,
                 "experiment": experiment, "checkpoints": checkpoints, "faults": faults_of_ranks}
        for part in sys.argv[3:] or parts:
            parts[part](folder)
        check(not leftovers(folder), f"left {leftovers(folder)}")
    finish()


if __name__ == "__main__":
    main()
