#!/usr/bin/python3
"""Commands in which the k-th call of a kind fails, for every k: whole outputs and status 0, or the old ones, one clear
line and a documented status; and the next run is right.

usage: every_fault_test.py BAGWISE FAIL_NTH [--every] [--only COMMAND[,COMMAND]] [--kinds KIND[,KIND]] [--most N]
  without --every, where a kind has more than N calls a sample of N, spread evenly by a fixed seed
"""

import argparse
import concurrent.futures
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading

import workplaces

KINDS = ["read", "read-short", "read-again", "write", "write+", "write-short", "write-again", "sync", "rename", "file",
         "look", "thread", "thread+", "alloc", "alloc+", "write-kill", "sync-kill", "rename-kill",
         "file-kill", "remove-kill"]
HARMLESS = {"read-short", "read-again", "write-short", "write-again", "thread", "thread+"}  # the work goes on
BAD_INPUT, KILLED, SEGFAULT = 2, 128 + 9, 128 + 11
LIBARCHIVE = "Fatal Internal Error in libarchive: "
OLD = b"what was here before\n"


class Case:
    """A command in its folder. `outputs`: files that it replaces or makes; `stays`: what a run that failed may leave."""

    def __init__(self, name, words, files, outputs, stays=(), journal=()):
        self.name, self.words, self.files = name, words.split(), files
        self.outputs, self.stays, self.journal = outputs, stays, journal


def cases(binary):
    base = workplaces.tables()
    bags = {name: base[name] for name in ("t.csv", "p.csv")}
    source = workplaces.tables(seed=2)
    transfer = {**bags, "s.csv": source["t.csv"], "q.csv": source["p.csv"]}
    fit = "--target t.csv --target-proportions p.csv -o m.json --threads 2 --quiet"
    plan = {"name": "tiny", "data": [{"name": "d", "target": "labelled.csv"}],
            "methods": [{"name": "inv-cal", "options": {"C": 1}}, {"name": "mean-map", "options": {"lambda": 1}}],
            "bag_sizes": [2], "folds": 2}
    experiment = {"labelled.csv": base["labelled.csv"], "e.json": json.dumps(plan).encode()}
    model = made(binary, bags, f"train --method inv-cal {fit}")["m.json"]
    results = {name: data for name, data in made(binary, experiment, "experiment e.json --out run --jobs 1 --quiet").items()
               if name.startswith("run/")}
    binary_table = made(binary, bags, "convert t.csv -o t.bw --quiet")["t.bw"]
    bagged = made(binary, base, "bag --input labelled.csv --size 4 --out-instances i.csv.zst --out-proportions q.csv --quiet")
    pages = made(binary, results, "report run -o page.html --tables tables --quiet")
    written = [name for name in pages if name == "page.html" or name.startswith("tables/")]
    return [
        Case("train", f"train --method inv-cal {fit}", bags, ["m.json"]),
        Case("train-transfer", "train --method tl-llp --source s.csv --source-proportions q.csv --json " + fit, transfer,
             ["m.json"]),
        Case("train-rows", "train --method conv-psvm " + fit, bags, ["m.json"]),
        Case("train-kernel", "train --method inv-cal --kernel rbf " + fit, bags, ["m.json"]),
        Case("train-binary", f"train --method inv-cal {fit}".replace("t.csv", "t.bw"),
             {"t.bw": binary_table, "p.csv": bags["p.csv"]}, ["m.json"]),
        Case("train-checkpoint", "train --method tl-llp --uncertainty literal --rows stream --checkpoint ck " + fit, bags,
             ["m.json"], stays=["ck/*"]),
        Case("predict", "predict --model m.json --input t.csv -o out.csv --threads 2", {"m.json": model, **bags},
             ["out.csv"]),
        Case("predict-packed", "predict --model m.json --input t.csv.gz -o out.csv.gz --threads 2 --quiet",
             {"m.json": model, "t.csv.gz": gzip.compress(bags["t.csv"], mtime=0)}, ["out.csv.gz"]),
        Case("predict-zstd", "predict --model m.json --input i.csv.zst -o out.csv.zst --threads 2 --quiet",
             {"m.json": model, "i.csv.zst": bagged["i.csv.zst"]}, ["out.csv.zst"]),
        Case("predict-stdout", "predict --model m.json --input t.csv --threads 2", {"m.json": model, **bags}, []),
        Case("tune", "tune --method inv-cal --set C=1,2 --set epsilon=0.1 --folds 2 " + fit, bags, ["m.json"],
             stays=["m.json.tuning"]),
        Case("experiment", "experiment e.json --out run --jobs 2 --quiet", experiment, [],
             stays=["run/*"], journal=["run/results.jsonl"]),
        Case("report", "report run -o page.html --tables tables --quiet", results, written),
        Case("report-model", "report m.json -o page.html --quiet", {"m.json": model}, ["page.html"]),
        Case("convert", "convert t.csv -o t.bw --quiet", bags, ["t.bw"]),
        Case("reduce", "reduce t.csv -o t.sums --quiet", bags, ["t.sums"]),
        Case("corpus", "corpus newsgroups c.tar --pair 1 --out pair --threads 2 --quiet", {"c.tar": workplaces.newsgroups()},
             ["pair/source.csv", "pair/target.csv"]),
        Case("bag", "bag --input labelled.csv --size 4 --seed 1 --out-instances i.csv --out-proportions p.csv --quiet",
             {"labelled.csv": base["labelled.csv"]}, ["i.csv", "p.csv"]),
    ]


def made(binary, files, words):
    """The files that a command makes of files."""
    folder = workplaces.make_folder()
    try:
        workplaces.restore(folder, files)
        subprocess.run([binary, *words.split()], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return workplaces.contents(folder)
    finally:
        shutil.rmtree(folder)


class Server:
    """The program, started once; each run is its main in a folder, with one fault or none."""

    def __init__(self, binary, library, case):
        self.above = workplaces.make_folder()
        self.folder = os.path.join(self.above, "work")
        os.mkdir(self.folder)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("BAGWISE_FAULT")}
        environment.update(LD_PRELOAD=library, BAGWISE_FAULT_SERVER="1", OPENBLAS_NUM_THREADS="1")
        self.process = subprocess.Popen([binary, *case.words], env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, cwd=self.above, text=True)

    def run(self, fault):
        self.process.stdin.write(f"{fault} {self.folder}\n")
        self.process.stdin.flush()
        status, calls, failed = (int(word) for word in self.process.stdout.readline().split())
        with open(self.folder + ".out", "rb") as out, open(self.folder + ".err", "rb") as err:
            return Ended(status, calls, failed, out.read(), err.read().decode(errors="replace"))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.above)


class Ended:
    def __init__(self, status, calls, failed, out, err):
        self.status, self.calls, self.failed, self.out, self.err = status, calls, failed, out, err
        self.by_libarchive = False  # it ended the process, as it does where it has no memory


class Expected:
    """The state of a folder before and after a run without faults."""

    def __init__(self, server, case):
        self.case = case
        workplaces.restore(server.folder, case.files)
        ended = server.run("read:0")
        if ended.status != 0 or ended.err:
            sys.exit(f"{case.name}: fails without a fault: {ended.status} {ended.err}")
        self.after = workplaces.contents(server.folder)
        self.out = ended.out
        self.before = {**case.files, **{name: OLD for name in case.outputs if name not in case.journal}}

    def may_stay(self, name):
        return any(name == s or s.endswith("/*") and (name + "/").startswith(s[:-1]) for s in self.case.stays)

    def wrong_after(self, folder):
        """What is wrong with the folder after a run that ended well."""
        there = workplaces.contents(folder)
        for name, data in self.after.items():
            if not same(self.case, name, there.get(name), data):
                return f"{name} is not what a run without faults writes"
        extra = there.keys() - self.after.keys()
        return f"left behind: {sorted(extra)}" if extra else ""

    def wrong_after_fault(self, folder, killed):
        """What is wrong with the folder after a run that failed; one that was killed may leave temporaries."""
        there = workplaces.contents(folder)
        for name, data in there.items():
            if name in self.before and data == self.before[name] or name in self.case.outputs and data == self.after[name]:
                continue
            if killed and TEMPORARY.search(name) or data is None and killed:
                continue
            if ".tmp-" in name or not self.may_stay(name):
                return f"{name} is {'changed' if name in self.before else 'left behind'}"
        if "ck/training.txt" not in there and any(name.startswith("ck/") and not TEMPORARY.search(name) for name in there):
            return f"a checkpoint without what it belongs to: {sorted(there)}"
        lost = self.before.keys() - there.keys()
        return f"lost: {sorted(lost)}" if lost else ""


def same(case, name, mine, theirs):
    """A journal has the lines of its cells in any order, times differ."""
    if name == "run/timings.jsonl":
        return mine is not None and mine.count(b"\n") >= theirs.count(b"\n")
    if name in case.journal:
        return mine is not None and sorted(mine.splitlines()) == sorted(theirs.splitlines())
    return mine == theirs


TEMPORARY = re.compile(r"\.tmp-[0-9a-f]{16}$")
CLEAR = re.compile(r"^bagwise: [^\n]+\n\Z")


def wrong(server, expected, kind, fault):
    """Runs with the fault, and once more without: (what is wrong, the run with the fault)."""
    case = expected.case
    workplaces.restore(server.folder, expected.before)
    ended = server.run(fault)
    what = f"{case.name} {fault}: status {ended.status}"
    if ended.status == 0:
        fault_found = expected.wrong_after(server.folder)
        if not fault_found and not same_text(ended.out, expected.out):
            fault_found = "status 0, but standard output is not whole"
        if fault_found:
            return f"{what}: {fault_found}", ended
        return "", ended
    if ended.failed == 0:
        return f"{what} without a fault: {ended.err}", ended
    if kind in HARMLESS:
        return f"{what}: nothing was lost, yet it failed: {ended.err}", ended
    killed = kind.endswith("-kill")
    cells = case.journal and ended.status == 1 and all(CLEAR.match(line) for line in ended.err.splitlines(keepends=True))
    if killed and (ended.status != KILLED or ended.err):
        return f"{what}, was not killed: {ended.err}", ended
    if case.name == "corpus" and kind.startswith("alloc"):
        # It ends the process where it has no memory, and does not look whether archive_read_new() got an entry.
        ended.by_libarchive = ended.status == 1 and ended.err.startswith(LIBARCHIVE) or ended.status == SEGFAULT
    clear = (ended.status == BAD_INPUT and CLEAR.match(ended.err) or cells) and "internal error" not in ended.err
    if not killed and not clear and not ended.by_libarchive:
        return f"{what}: not one clear line: {ended.err!r}", ended
    if fault_found := expected.wrong_after_fault(server.folder, killed):
        return f"{what}: {fault_found} ({ended.err.strip()})", ended
    if workplaces.contents(server.folder) != expected.before:  # else the next run is the first once more
        again = server.run("read:0")
        if again.status != 0:
            return f"{what}: the next run fails: {again.err}", ended
        if fault_found := expected.wrong_after(server.folder):
            return f"{what}: after the next run {fault_found}", ended
    return "", ended


def same_text(mine, theirs):
    """Standard output, but for times and memory."""
    figures = re.compile(rb"[0-9.e+-]+")
    return figures.sub(b"#", mine) == figures.sub(b"#", theirs)


class Tally:
    def __init__(self):
        self.lock, self.faults, self.messages = threading.Lock(), [], {}
        self.runs, self.failed, self.by_libarchive = 0, 0, 0


def sample(count, most, seed):
    """Numbers from 1 to count, all of them or one out of each of `most` equal parts."""
    if count <= most:
        return list(range(1, count + 1))
    rng = random.Random(seed)
    return [rng.randint(i * count // most + 1, (i + 1) * count // most) for i in range(most)]


def run_kind(servers, expected, kind, most, tally):
    """All faults of one kind, over the servers at once; returns how many calls there are."""
    plus = "+" if kind.endswith("+") else ""
    name = kind.rstrip("+")
    workplaces.restore(servers[0].folder, expected.before)
    count = servers[0].run(f"{name}:0").calls
    numbers = iter(sample(count, most, f"{expected.case.name} {kind}"))
    more = most >= count  # then the end is found by going on until nothing fails
    state = {"next": count + 1, "more": more}

    def take():
        with tally.lock:
            number = next(numbers, None)
            if number is None and state["more"]:
                number = state["next"]
                state["next"] += 1
            return number

    def work(server):
        while (number := take()) is not None:
            fault, ended = wrong(server, expected, kind, f"{name}:{number}{plus}")
            with tally.lock:
                tally.runs += 1
                tally.failed += ended.status != 0
                tally.by_libarchive += ended.by_libarchive
                if ended.failed == 0 and number > count:
                    state["more"] = False
                if ended.status != 0:
                    tally.messages.setdefault(ended.err.strip(), f"{expected.case.name} {name}:{number}{plus}")
                if fault:
                    tally.faults.append(fault)
                    print(f"FAILED: {fault}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(len(servers)) as crew:
        for done in [crew.submit(work, server) for server in servers]:
            done.result()
    return count


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("library")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--messages", action="store_true", help="show what was said, and by which fault first")
    given = parser.parse_args()
    given.binary, given.library = os.path.abspath(given.binary), os.path.abspath(given.library)
    kinds = given.kinds.split(",") if given.kinds else KINDS
    tally = Tally()
    for case in cases(given.binary):
        if given.only and case.name not in given.only.split(","):
            continue
        servers = [Server(given.binary, given.library, case) for _ in range(os.cpu_count() or 1)]
        try:
            expected = Expected(servers[0], case)
            most = sys.maxsize if given.every else given.most
            counts = {kind: run_kind(servers, expected, kind, most, tally) for kind in kinds}
        finally:
            for server in servers:
                server.close()
        said = ", ".join(f"{kind} {count if count <= most else f'{most} of {count}'}" for kind, count in counts.items())
        print(f"{case.name}: {said}", flush=True)
    if given.messages:
        for message, fault in sorted(tally.messages.items()):
            print(f"  {fault}: {message}")
    print(f"{tally.runs} runs with a fault, {tally.failed} of them ended with an error, {len(tally.faults)} wrongly"
          f" ({tally.by_libarchive} by libarchive itself)")
    sys.exit(1 if tally.faults else 0)


if __name__ == "__main__":
    main()
