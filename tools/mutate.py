#!/usr/bin/python3
"""Changes signs, comparisons and numbers in the solver and the methods, one at a time, and reports which changes no
test notices.

usage: tools/mutate.py [--sample N] [--seed S] [--minutes M] [--files FILE...]
                       [--programs NAME...] [--jobs N] [--list] [--least PERCENT]

All mutants are compiled at once into a copy of the sources, build/mutate/tree, each behind a number that the
environment chooses (tools/mutants.py). A test case that reaches a mutant, the quickest first, kills it by failing,
crashing or not coming to an end. What was found out is kept in build/mutate/results.jsonl: killed mutants are not run
again while their sources stay, survivors not while the tests stay too.

tools/mutation/survivors.txt explains mutants that no test can or need kill. They count as survivors all the same; the
report, build/mutate/report.txt, has them apart. Fails if less than PERCENT (85) of the mutants that were run are
killed. Needs build/check/compile_commands.json and the packages that scripts/mutate installs.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import itertools
import json
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import batches
import mutant_runs
import mutants
import run_tidy

ROOT = Path(__file__).resolve().parent.parent
MODULES = ("src/bagwise/solver", "src/bagwise/methods")
PROGRAMS = {"test_solver": "src/bagwise", "test_methods": "src/bagwise", "test_conformance": "tests/conformance"}
WORK = ROOT / "build/mutate"
TREE = WORK / "tree"
COPIED = ("CMakeLists.txt", "CMakePresets.json", "cmake", "src", "cli", "mpi", "python", "tests", "tools")
SURVIVORS = ROOT / "tools/mutation/survivors.txt"
KINDS = ("equivalent", "speed", "tolerance")
LEAST = 85
BLOCK = 1000
HEAD = '#include "bagwise/solver/mutant.h"\n#line 1\n'
# Sources with mutants, in them or in their headers, are compiled in batches, and need not be quick nor free of warnings.
EXTRA = """
foreach(module solver methods evaluate report)
  target_compile_options(bagwise_${module} PRIVATE -w -O1)
endforeach()
foreach(program solver methods conformance)
  target_compile_options(test_${program} PRIVATE -w)
endforeach()
"""


def digest(*texts):
    out = hashlib.sha256()
    for text in texts:
        out.update(hashlib.sha256(text if isinstance(text, bytes) else text.encode()).digest())
    return out.hexdigest()


def is_test(path):
    return path.name.endswith("_test.cpp")


def sources():
    """The sources and headers that get mutants."""
    return sorted(path for module in MODULES for path in (ROOT / module).rglob("*")
                  if path.suffix in (".cpp", ".h") and not is_test(path))


# ---- finding mutants


def parse_batch(paths, root):
    """Sources of a folder, the repository or its copy, as libclang sees them together, with its errors."""
    entries = {Path(entry["file"]): entry for entry in
               run_tidy.singly(json.loads((ROOT / "build/check/compile_commands.json").read_text()))}
    flags = dict.fromkeys(flag.replace(f"-I{ROOT}/src", f"-I{root}/src") for path in paths
                          for flag in run_tidy.flags_of(entries[path]))
    text = "".join(f'#include "{root / path.relative_to(ROOT)}"\n' for path in paths)
    unit = mutants.parse(root / "batch.cpp", [*flags, "-ferror-limit=0", "-w"], text)
    return unit, [found for found in unit.diagnostics if found.severity >= 3]


def find_in_batch(paths):
    unit, errors = parse_batch(paths, ROOT)
    if errors:
        raise RuntimeError(f"libclang does not understand a batch: {errors[0]}")
    files = {str(path): (str(path.relative_to(ROOT)), path.read_text()) for path in sources()}
    return {file: changes for file, changes in mutants.changes_of(unit, files).items() if changes}


def batches_of_sources():
    return batches.batches([path for path in sources() if path.suffix == ".cpp"], 8)


def faulty_lines(paths):
    """{(file, line)} of the copy's sources that libclang's errors lead to: quicker than to compile them in vain."""
    out = set()
    unit, errors = parse_batch(paths, TREE)  # errors live as long as the unit
    for error in errors:
        for place in (error.location, *(note.location for note in error.children if "requested here" in note.spelling)):
            path = Path(place.file.name) if place.file is not None else Path("/")
            if path.is_relative_to(TREE):
                out.add((str(path.relative_to(TREE)), place.line - HEAD.count("\n")))  # libclang heeds no #line
    del unit
    return out


def find_changes(jobs):
    """{file: [Change]}, remembered while the sources stay as they are."""
    stamp = digest(*(path.read_bytes() for path in sources()), (ROOT / "tools/mutants.py").read_bytes())
    kept = WORK / "changes.json"
    if kept.exists():
        found = json.loads(kept.read_text())
        if found["stamp"] == stamp:
            return {file: [read_change(change) for change in changes] for file, changes in found["changes"].items()}
    out = {}
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(find_in_batch, batches_of_sources()):
            out.update(found)
    out = dict(sorted(out.items()))
    kept.write_text(json.dumps({"stamp": stamp, "changes": {file: [write_change(change) for change in changes]
                                                            for file, changes in out.items()}}))
    return out


def write_change(change):
    return [change.mutants, [[type(edit).__name__, *edit] for edit in change.edits]]


def read_change(plain):
    return mutants.Change(tuple(mutants.Mutant(*mutant) for mutant in plain[0]),
                          tuple(getattr(mutants, name)(*values) for name, *values in plain[1]))


def keys_of(changes):
    """{mutant: key}: its place, and which it is of several with the same place."""
    count, out = collections.Counter(), {}
    for change in itertools.chain(*changes.values()):
        for mutant in change.mutants:
            count[mutant.place] += 1
            out[mutant] = f"{mutant.place} #{count[mutant.place]}"
    return out


# ---- building


def write_if_new(path, data):
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def write_tree(changes, numbers):
    """The copy of the sources, of which only what has changed is written."""
    wanted = {}
    names = subprocess.run(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard", *COPIED], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            wanted[name] = (ROOT / name).read_bytes()
    for file, found in changes.items():
        text = mutants.rewritten(wanted[file].decode(), found, numbers.get)
        wanted[file] = HEAD.encode() + text.encode()
    for name in ("mutant.h", "mutant_state.cpp"):
        wanted[f"src/bagwise/solver/{name}"] = (ROOT / "tools/mutation" / name).read_bytes()
    state = f"#define BAGWISE_MUTANTS {BLOCK * len(changes)}\n".encode()
    wanted["src/bagwise/solver/mutant_state.cpp"] = state + wanted["src/bagwise/solver/mutant_state.cpp"]
    wanted["CMakeLists.txt"] += EXTRA.encode()
    batched = wanted["cmake/BagwiseModule.cmake"].replace(b'"^test_"', b'"^test_|_(solver|methods|evaluate|report)$"')
    assert batched != wanted["cmake/BagwiseModule.cmake"]
    wanted["cmake/BagwiseModule.cmake"] = batched
    for name, data in wanted.items():
        write_if_new(TREE / name, data)
    for path in TREE.rglob("*"):
        name = str(path.relative_to(TREE))
        if path.is_file() and not name.startswith("build/") and name not in wanted:
            path.unlink()


def build(programs, jobs):
    """The output of a build that failed, or None."""
    launcher = shutil.which("ccache")
    environment = {**os.environ, **({"CMAKE_CXX_COMPILER_LAUNCHER": launcher, "CCACHE_BASEDIR": str(TREE),
                                     "CCACHE_NOHASHDIR": "1"} if launcher else {})}
    for command in (["cmake", "--preset", "check"],
                    ["cmake", "--build", "build/check", "-j", str(jobs), "--target", *programs, "--", "-k", "0"]):
        run = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True, check=False)
        (WORK / "build.log").write_text(run.stdout + run.stderr)
        if run.returncode != 0:
            return run.stdout + run.stderr
    return None


BLAMED = re.compile(r"^(?:In file included from |\s+from )?([^\s:]+):(\d+):(?:\d+:)?\s+(?:error:|required from)", re.MULTILINE)


def blamed_lines(output):
    """{(file, line)} of the copy's sources that a compiler's errors lead to."""
    out = set()
    for name, line in BLAMED.findall(output):
        path = Path(os.path.normpath(TREE / "build/check" / name))
        if path.is_relative_to(TREE):
            out.add((str(path.relative_to(TREE)), int(line)))
    return out


def build_mutants(changes, keys, programs, jobs):
    """{mutant: number} of the mutants that compile, all of them in the programs."""
    dropped_file = WORK / "dropped.json"
    dropped = set(json.loads(dropped_file.read_text())) if dropped_file.exists() else set()
    # Numbers of a file's own, so that a change of another does not compile it again.
    number_of = {mutant: BLOCK * place + count for place, file in enumerate(changes)
                 for count, mutant in enumerate(itertools.chain(*(change.mutants for change in changes[file])))}
    assert all(sum(len(change.mutants) for change in found) <= BLOCK for found in changes.values())
    unchecked = batches_of_sources()
    while True:
        kept = [change for change in itertools.chain(*changes.values())
                if not any(keys[mutant] in dropped for mutant in change.mutants)]
        numbers = {mutant: number_of[mutant] for change in kept for mutant in change.mutants}
        write_tree(changes, numbers)
        say(f"building {len(numbers)} mutants ({len(keys) - len(numbers)} do not compile)")
        checked = digest(*((TREE / path.relative_to(ROOT)).read_bytes() for path in sources()))
        if (WORK / "checked").exists() and (WORK / "checked").read_text() == checked:
            unchecked = []
        with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
            faults = list(pool.map(faulty_lines, unchecked))
        unchecked = [group for group, found in zip(unchecked, faults) if found]
        if not unchecked:
            (WORK / "checked").write_text(checked)
        blamed = set().union(*faults)
        if not blamed:
            output = build(programs, jobs)
            if output is None:
                return numbers
            blamed = blamed_lines(output)
        bad = [change for change in kept if any((mutant.file, mutant.line) in blamed for mutant in change.mutants)]
        bad = bad or [change for change in kept if spans(change, blamed)]
        if not bad:
            sys.exit(f"tools/mutate.py: the copy does not build, whatever is left out: see {WORK / 'build.log'}, {blamed}")
        dropped |= {keys[mutant] for change in bad for mutant in change.mutants}
        dropped_file.write_text(json.dumps(sorted(dropped), indent=1))


def spans(change, lines):
    """Whether a change is of an expression that has one of the lines."""
    file = change.mutants[0].file
    source = (ROOT / file).read_text()
    first = source.count("\n", 0, min(edit.begin for edit in change.edits)) + 1
    last = source.count("\n", 0, max(edit.end for edit in change.edits)) + 1
    return any((file, line) in lines for line in range(first, last + 1))


# ---- running


def trace_cases(programs, jobs):
    """Every test case of the programs, with the mutants it reaches."""
    paths = [str(TREE / "build/check" / PROGRAMS[program] / program) for program in programs]
    todo = [(path, name) for path in paths for name in mutant_runs.names_of(path)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda case: mutant_runs.traced(*case, WORK / "traces"), todo))


def sampled(wanted, count, seed):
    """As many of each file as its share, at random; every file that has mutants has one."""
    rng = random.Random(seed)
    by_file = collections.defaultdict(list)
    for mutant in wanted:
        by_file[mutant.file].append(mutant)
    share = min(1.0, count / max(1, len(wanted)))
    for found in by_file.values():
        rng.shuffle(found)
    out = [mutant for found in by_file.values() for mutant in found[:max(1, int(share * len(found)))]]
    rest = [mutant for found in by_file.values() for mutant in found[max(1, int(share * len(found))):]]
    out += rng.sample(rest, max(0, min(len(rest), count - len(out))))
    rng.shuffle(out)
    return out


class Results:
    """What was found out, one line of JSON for each mutant that was run."""

    def __init__(self, path, code, tests):
        self.path, self.code, self.tests, self.found = path, code, tests, {}
        if path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                if entry["code"] == code and (entry["by"] or entry["tests"] == tests):
                    self.found[entry["mutant"]] = entry

    def add(self, key, reached, by):
        entry = {"mutant": key, "code": self.code, "tests": self.tests, "reached": reached, "by": by}
        self.found[key] = entry
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def run_mutants(todo, numbers, keys, cases, results, jobs, minutes):
    """Runs as many as there is time for, in their order."""
    end = time.monotonic() + 60 * minutes
    folders = queue.SimpleQueue()
    for worker in range(jobs):
        folders.put(WORK / f"files-{worker}")

    def run(mutant):
        if time.monotonic() > end:
            return None
        folder = folders.get()
        try:
            reaching = [case for case in cases if numbers[mutant] in case.reached]
            return mutant, len(reaching), mutant_runs.killer(numbers[mutant], reaching, folder)
        finally:
            folders.put(folder)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done, (mutant, reached, by) in enumerate(filter(None, pool.map(run, todo)), 1):
            results.add(keys[mutant], reached, by)
            if done % 50 == 0:
                say(f"{done} of {len(todo)} run")


# ---- the report


def read_survivors(text):
    """{place: (kind, reason)} of tools/mutation/survivors.txt: paragraphs that begin with "KIND: reason", then a
    place on each line."""
    out = {}
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip() and not line.startswith("#")]
        if not lines:
            continue
        kind, _, reason = lines[0].partition(": ")
        places = [line for line in lines[1:] if " | " in line]
        reason = " ".join([reason, *(line for line in lines[1:] if " | " not in line)])
        if kind not in KINDS or not reason or not places:
            raise ValueError(f"survivors.txt: expected one of {', '.join(KINDS)}, a reason and places, found: {lines[0]}")
        out.update((place, (kind, reason)) for place in places)
    return out


def percent(part, whole):
    return 100 * part / whole if whole else 100.0


def report(run, keys, results, explained, dropped):
    """(text, percentage of the mutants run that were killed)"""
    found = {mutant: results.found[keys[mutant]] for mutant in run}
    survivors = [mutant for mutant in run if not found[mutant]["by"]]
    killed = len(run) - len(survivors)
    kinds = collections.Counter(explained[mutant.place][0] for mutant in survivors if mutant.place in explained)
    how = collections.Counter(entry["by"][1] for entry in found.values() if entry["by"])
    rate = percent(killed, len(run))
    out = [f"{len(run)} mutants run, {killed} killed: {rate:.1f} %",
           f"without the {kinds['equivalent']} that are equivalent: {percent(killed, len(run) - kinds['equivalent']):.1f} %",
           f"{len(keys)} found, {dropped} of them do not compile and were left out",
           "a test " + ", ".join(f"{name}: {count}" for name, count in how.most_common()),
           f"{len(survivors)} survived: " + ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS) +
           f", {len(survivors) - sum(kinds.values())} unexplained", "", "file: killed of run"]
    for file, group in itertools.groupby(sorted(run), key=lambda mutant: mutant.file):
        group = list(group)
        out.append(f"{file}: {sum(bool(found[mutant]['by']) for mutant in group)} of {len(group)}")
    for title, chosen in (("unexplained", False), ("explained", True)):
        out += ["", f"survivors, {title}", ""]
        for mutant in sorted(survivors):
            if (mutant.place in explained) == chosen:
                reached = found[mutant]["reached"]
                why = ": ".join(explained[mutant.place]) if chosen else f"reached by {reached} tests"
                out.append(f"{mutant.file}:{mutant.line}: {mutant.text}   ({why})")
    return "\n".join(out) + "\n", rate


def say(text):
    print(text, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description="which changes of the solver and the methods no test notices")
    parser.add_argument("--sample", type=int, help="so many mutants, at random, from all files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no mutant later than that")
    parser.add_argument("--files", nargs="*", default=[], help="only mutants of these files")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS), help="only these tests")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="only say which mutants there are")
    parser.add_argument("--least", type=float, default=LEAST, help="per cent to be killed")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    explained = read_survivors(SURVIVORS.read_text())
    changes = find_changes(options.jobs)
    keys = keys_of(changes)
    stale = sorted(set(explained) - {mutant.place for mutant in keys})
    if stale:
        sys.exit("tools/mutation/survivors.txt has what is no longer in the sources:\n" + "\n".join(stale))
    only = {str(Path(file).resolve().relative_to(ROOT)) for file in options.files}
    if options.list:
        for mutant in keys:
            if not only or mutant.file in only:
                print(f"{mutant.file}:{mutant.line}: {mutant.text}")
        return 0
    numbers = build_mutants(changes, keys, options.programs, options.jobs)
    say("running every test with no mutant chosen")
    cases = trace_cases(options.programs, options.jobs)
    code = digest(*(path.read_bytes() for path in sources()))
    tests = digest(*options.programs, *(path.read_bytes() for path in sorted(ROOT.rglob("src/**/*_test.cpp"))),
                   *(path.read_bytes() for path in sorted(ROOT.rglob("tests/**/*.[ch]*"))))
    results = Results(WORK / "results.jsonl", code, tests)
    run = sampled([mutant for mutant in numbers if not only or mutant.file in only],
                  len(numbers) if options.sample is None else options.sample, options.seed)
    todo = [mutant for mutant in run if keys[mutant] not in results.found]
    say(f"{len(run)} mutants, {len(todo)} of them to be run, {len(cases)} test cases")
    run_mutants(todo, numbers, keys, cases, results, options.jobs, options.minutes)
    text, rate = report([mutant for mutant in run if keys[mutant] in results.found], keys, results, explained, len(keys) - len(numbers))
    (WORK / "report.txt").write_text(text)
    print(text, end="")
    return 0 if rate >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
