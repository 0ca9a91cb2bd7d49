#!/usr/bin/python3
"""Runs clang-tidy over the files of a build folder, several at once; unchanged files are not looked at twice.

usage: tools/run_tidy.py BUILD_DIR [--tests] [--singly] [--jobs N] [FILE...]

Takes the files of BUILD_DIR/compile_commands.json that are our own (without the tests unless --tests). A file
that was clean is remembered by the hash of its text, of our headers it sees, its flags and .clang-tidy. Ends with
a line "N passed, N failed", one per file.

Most of the time goes into the headers of others, so files are looked at in batches (tools/batches.py), each as one
source that includes them. Files of a batch in which something is found are looked at once more, each by itself; all
files of the batch where it is not found in files of it alone.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import batches

ROOT = Path(__file__).resolve().parent.parent
OURS = ("src", "cli", "mpi", "python", "tests", "bench", "examples")
BATCH_SIZE = 32
# In a batch the sources are headers to clang-tidy.
BATCH_FILTER = r"/(src/bagwise|cli|mpi|python|tests|bench|examples)/.*\.(h|cpp)$"

FINDING = re.compile(r"^(/[^:\n]+):\d+:\d+: (?:error|warning): ", re.MULTILINE)


def wanted(path, with_tests):
    try:
        relative = path.relative_to(ROOT)
    except ValueError:
        return False
    if relative.parts[0] not in OURS:
        return False
    is_test = relative.parts[0] == "tests" or path.name.endswith("_test.cpp")
    return with_tests or not is_test


def singly(entries):
    """Entries of sources that CMake has put together as one, as entries of their own."""
    for entry in entries:
        path = Path(entry["file"])
        if path.parent.name != "Unity":
            yield entry
            continue
        for source in re.findall(r'^#include "(.*)"', path.read_text(), re.MULTILINE):
            yield {**entry, "file": source, "unit": entry["file"]}


def flags_of(entry):
    """The arguments of the compiler without what is compiled into what."""
    arguments = shlex.split(entry["command"]) if "command" in entry else list(entry["arguments"])
    del arguments[:2 if Path(arguments[0]).name == "ccache" else 1]
    if "-o" in arguments:
        at = arguments.index("-o")
        del arguments[at:at + 2]
    arguments = [a for a in arguments if a not in ("-c", entry["file"], entry.get("unit"))]
    while "-isystem" in arguments:
        at = arguments.index("-isystem")
        arguments[at:at + 2] = ["-isystem" + arguments[at + 1]]
    return tuple(arguments)


def fingerprint(entry):
    """Of all of ours that decides what clang-tidy says about a file."""
    path = Path(entry["file"]).resolve()
    digest = hashlib.sha256(" ".join([*flags_of(entry), str(path)]).encode())
    for part in (ROOT / ".clang-tidy", path, *sorted(batches.headers_of(path))):
        digest.update(hashlib.sha256(part.read_bytes()).digest())
    return digest.hexdigest()


def tidy(*arguments, cwd=None):
    # The warnings of clang itself are not ours to heed: g++ and -Werror are.
    return subprocess.run(["clang-tidy", f"--config-file={ROOT / '.clang-tidy'}", "--quiet", "--extra-arg=-Wno-error",
                           *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def check_batch(entries, number, stamps):
    """[(path, message)]: the message is empty if the file is clean."""
    suspect = {Path(entry["file"]) for entry in entries}
    if len(entries) > 1:
        source = stamps / f"batch-{number}.cpp"
        source.write_text("".join(f'#include "{entry["file"]}"  // NOLINT(bugprone-suspicious-include)\n'
                                  for entry in entries))
        flags = dict.fromkeys(flag for entry in entries for flag in flags_of(entry))
        run = tidy(f"--header-filter={BATCH_FILTER}", str(source), "--", *flags, cwd=entries[0]["directory"])
        named = {Path(name) for name in FINDING.findall(run.stdout)}
        if run.returncode == 0:
            suspect = set()
        elif named and named <= suspect and "clang-diagnostic-error" not in run.stdout:
            suspect = named
    out = []
    for entry in entries:
        message = ""
        if Path(entry["file"]) in suspect:
            run = tidy(entry["file"], "--", *flags_of(entry), cwd=entry["directory"])
            if run.returncode != 0:
                message = run.stdout or run.stderr
        if not message:
            (stamps / fingerprint(entry)).touch()
        out.append((Path(entry["file"]), message))
    return out


def batches_of(entries, size):
    """Entries that can be looked at as one, those with most text first: the last one running alone is then small."""
    of_path = {Path(entry["file"]).resolve(): entry for entry in entries}
    out = [[of_path[path] for path in batch] for batch in batches.batches(sorted(of_path), size)]
    return sorted(out, key=lambda batch: -sum(Path(e["file"]).stat().st_size for e in batch))


def main():
    parser = argparse.ArgumentParser(description="clang-tidy over a build folder")
    parser.add_argument("build", type=Path)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--singly", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    build = options.build.resolve()
    entries = {}
    for entry in singly(json.loads((build / "compile_commands.json").read_text())):
        path = Path(entry["file"])
        if wanted(path, options.tests) and (not options.files or path in [f.resolve() for f in options.files]):
            entries[path] = entry
    stamps = build / "tidy"
    stamps.mkdir(exist_ok=True)
    failed = 0
    todo = [entry for entry in entries.values() if not (stamps / fingerprint(entry)).exists()]
    work = list(enumerate(batches_of(todo, 1 if options.singly else BATCH_SIZE)))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(lambda numbered: check_batch(numbered[1], numbered[0], stamps), work):
            for path, message in found:
                if message:
                    failed += 1
                    print(f"{path.relative_to(ROOT)}:\n{message}", flush=True)
    print(f"{len(entries) - failed} passed, {failed} failed")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
