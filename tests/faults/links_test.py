#!/usr/bin/python3
"""Where outputs go: never through a link, never outside the path that was given, whatever names are in the data.

usage: links_test.py BAGWISE
"""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys

import workplaces

FIT = "train --method inv-cal --target t.csv --target-proportions p.csv --threads 2 --quiet"
PLAN = {"name": "../../plan", "data": [{"name": "../data", "target": "labelled.csv"}],
        "methods": [{"name": "../../method", "method": "inv-cal", "options": {"C": 1}}], "bag_sizes": [2], "folds": 2}
# Every way to an output: the command without it, and the name of the file.
OUTPUTS = {"train": (FIT + " -o", "m.json"),
           "predict": ("predict --model model.json --input t.csv --quiet -o", "out.csv"),
           "tune": ("tune --method inv-cal --set C=1,2 --folds 2 --target t.csv --target-proportions p.csv --quiet -o",
                    "m.json"),
           "report": ("report model.json --quiet -o", "page.html"),
           "convert": ("convert t.csv --quiet -o", "t.bw"),
           "reduce": ("reduce t.csv --quiet -o", "t.sums"),
           "bag": ("bag --input labelled.csv --size 4 --out-proportions q.csv --quiet --out-instances", "i.csv")}
# Folders of outputs: the command without it, and the files that are made in it.
FOLDERS = {"experiment": ("experiment e.json --jobs 1 --quiet --out", ["experiment.json", "results.jsonl", "timings.jsonl"]),
           "report": ("report done -o page.html --quiet --tables", ["summary.md", "accuracy.csv", "times.svg"]),
           "generate": ("generate --source-rows 8 --target-rows 8 --test-rows 8 --features 2 --quiet --out",
                        ["source.csv", "truth.json"]),
           "corpus": ("corpus newsgroups c.tar --pair 1 --threads 1 --quiet --out", ["source.csv", "target.csv"]),
           "checkpoint": (FIT + " -o m.json --checkpoint", ["training.txt", "target-first.checkpoint.sums"])}

faults = []


def check(good, what):
    if not good:
        faults.append(what)
        print(f"FAILED: {what}")


class Place:
    """A folder to run in, beside one that nothing may touch."""

    def __init__(self, binary, files):
        self.binary, self.above = binary, pathlib.Path(workplaces.make_folder())
        self.work, self.precious = self.above / "a/b/work", self.above / "precious"
        self.work.mkdir(parents=True)
        self.precious.mkdir()
        (self.precious / "file").write_bytes(b"precious\n")
        workplaces.restore(self.work, files)
        self.before = workplaces.contents(self.above)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.above)

    def run(self, words, **more):
        return subprocess.run([self.binary, *words.split()], cwd=self.work, capture_output=True, text=True, timeout=120,
                              check=False, **more)

    def outside(self):
        """What is not in the folder of the run."""
        return {name: data for name, data in workplaces.contents(self.above).items() if not name.startswith("a/b/work")}

    def check_outside(self, what):
        check(self.outside() == {"precious/file": b"precious\n"}, f"{what}: something outside was touched: {self.outside()}")

    def check_refused(self, ended, what, *parts):
        check(ended.returncode == 2, f"{what}: status {ended.returncode}: {ended.stderr}")
        check(ended.stderr.count("\n") == 1 and ended.stderr.startswith("bagwise: "), f"{what}: not one line: {ended.stderr}")
        for part in parts:
            check(part in ended.stderr, f"{what}: {part!r} is not said: {ended.stderr}")


def output_is_a_link(binary, files):
    for name, (command, output) in OUTPUTS.items():
        for target in ("precious/file", "precious/missing", "precious"):
            with Place(binary, files) as place:
                (place.work / output).symlink_to(place.above / target)
                ended = place.run(f"{command} {output}")
                place.check_refused(ended, f"{name} to a link to {target}", output, "symbolic link")
                place.check_outside(f"{name} to a link to {target}")
                there = workplaces.contents(place.work)
                check(there == {**files, output: f"-> {place.above / target}"}, f"{name} to a link to {target}: {there.keys()}")


def links_inside_a_folder(binary, files):
    for name, (command, inside) in FOLDERS.items():
        for output in inside:
            for target in ("precious/file", "precious/missing"):
                with Place(binary, files) as place:
                    (place.work / "given").mkdir()
                    (place.work / "given" / output).symlink_to(place.above / target)
                    ended = place.run(f"{command} given")
                    place.check_refused(ended, f"{name}: {output} is a link to {target}", output, "link")
                    place.check_outside(f"{name}: {output} is a link to {target}")


def a_folder_may_be_a_link(binary, files):
    """The path that was given is the user's own: a folder in it may be a link."""
    with Place(binary, files) as place:
        (place.work / "real").mkdir()
        (place.work / "given").symlink_to("real")
        for name, (command, _) in FOLDERS.items():
            ended = place.run(f"{command} given")
            check(ended.returncode == 0, f"{name} into a folder that is a link: {ended.stderr}")
        check((place.work / "given").is_symlink(), "a folder that is a link was replaced")
        place.check_outside("folders that are links")


def what_is_no_file(binary, files):
    for name, (command, output) in OUTPUTS.items():
        with Place(binary, files) as place:
            (place.work / output).mkdir()
            place.check_refused(place.run(f"{command} {output}"), f"{name} to a folder", output, "folder")
            ended = place.run(f"{command} none/{output}")
            place.check_refused(ended, f"{name} into a folder that is not there", f"none/{output}", "No such file")
            place.check_refused(place.run(f"{command} t.csv/{output}"), f"{name} below a file", f"t.csv/{output}")
            if name not in ("tune", "convert"):  # a journal lies beside it; it must end in .bw
                place.check_refused(place.run(f"{command} /dev/full"), f"{name} to /dev/full", "/dev/full", "No space left")
        with Place(binary, files) as place:
            expected = place.run(f"{command} {output}")
            check(expected.returncode == 0, f"{name}: {expected.stderr}")
            data = (place.work / output).read_bytes()
            os.unlink(place.work / output)
            if name == "tune":
                continue
            os.mkfifo(place.work / output)
            with subprocess.Popen(["cat", output], cwd=place.work, stdout=subprocess.PIPE) as reader:
                ended = place.run(f"{command} {output}")
                check(ended.returncode == 0 and reader.communicate()[0] == data, f"{name} to a FIFO: {ended.stderr}")
            check(stat.S_ISFIFO(os.lstat(place.work / output).st_mode), f"{name}: the FIFO was replaced")
            if name == "convert":  # its output must end in .bw
                continue
            for script in (f"{command} /dev/stdout | cat", f"{command} /dev/fd/5 5>&1", f"{command} /dev/stdout > {place.work}/to"):
                ended = subprocess.run(["sh", "-c", f"{binary} {script}; cat {place.work}/to 2>/dev/null"], cwd=place.work,
                                       capture_output=True, check=False, timeout=120)
                check(ended.stdout == data, f"{name}: {script}: not the data: {ended.stderr} {ended.stdout[:80]}")


def read_only_folder(binary, files):
    if os.geteuid() == 0:
        return "left out: root may write anywhere"
    for name, (command, output) in OUTPUTS.items():
        with Place(binary, files) as place:
            (place.work / "closed").mkdir(mode=0o555)
            place.check_refused(place.run(f"{command} closed/{output}"), f"{name} into a closed folder", "Permission denied")
    return ""


def names_in_data(binary, files):
    """Names of bags, data, methods and members of an archive are text, never paths."""
    bad = ["../../x", "/precious", "a/b", "..", "x\\0y".encode().decode("unicode_escape"), "-o"]
    table = files["t.csv"].decode()
    shares = files["p.csv"].decode()
    for i, name in enumerate(n for n in bad if "\0" not in n):
        table, shares = table.replace(f"b{i},", f"{name},"), shares.replace(f"b{i},", f"{name},")
    odd = {**files, "t.csv": table.encode(), "p.csv": shares.encode()}
    with Place(binary, odd) as place:
        for words in (FIT + " -o m.json --checkpoint ck", "reduce t.csv -o t.sums --quiet", "convert t.csv -o t.bw --quiet",
                      "experiment e.json --out run --jobs 1 --quiet", "report run -o page.html --tables tables --quiet",
                      OUTPUTS["tune"][0] + " m.json", "report m.json -o model.html --quiet"):
            ended = place.run(words)
            check(ended.returncode == 0, f"names in data: {words}: {ended.stderr}")
            place.check_outside(f"names in data: {words}")
        made = set(workplaces.contents(place.work)) - set(odd)
        wanted = {"m.json", "t.sums", "t.bw", "page.html", "model.html"}
        extra = {name for name in made if not name.startswith(("run/", "tables/"))} - wanted
        check(not extra, f"names in data made files: {extra}")
        check(not any("plan" in name or "method" in pathlib.Path(name).stem and "methods" not in name for name in made),
              f"names of an experiment made files: {made}")


def members_of_an_archive(binary, files):
    for member in ("../../escape", "/tmp/bagwise-links-escape", "20news-19997/../../../escape"):
        for link in (False, True):
            with Place(binary, {**files, "c.tar": workplaces.newsgroups(more=(member, link))}) as place:
                ended = place.run("corpus newsgroups c.tar --pair 1 --threads 1 --out pair --json")
                check(ended.returncode == 0, f"archive with {member}: {ended.stderr}")
                check(json.loads(ended.stdout)["passed_over"] == 1, f"archive with {member}: not passed over")
                place.check_outside(f"archive with {member}")
                made = set(workplaces.contents(place.work)) - set(files) - {"c.tar"}
                check(made == {"pair/source.csv", "pair/target.csv"}, f"archive with {member}: made {made}")
                check(not os.path.lexists("/tmp/bagwise-links-escape"), f"archive with {member}: it is there")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binary = os.path.abspath(sys.argv[1])
    files = {**workplaces.tables(), "e.json": json.dumps(PLAN).encode(), "c.tar": workplaces.newsgroups()}
    with Place(binary, files) as place:
        for words in (FIT + " -o model.json", "experiment e.json --out done --jobs 1 --quiet"):
            ended = place.run(words)
            if ended.returncode != 0:
                sys.exit(f"FAILED: {words}: {ended.stderr}")
        files = workplaces.contents(place.work)
    for test in (output_is_a_link, links_inside_a_folder, a_folder_may_be_a_link, what_is_no_file, read_only_folder,
                 names_in_data, members_of_an_archive):
        print(f"{test.__name__}: {test(binary, files) or 'done'}", flush=True)
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
