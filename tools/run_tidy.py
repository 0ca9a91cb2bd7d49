#!/usr/bin/python3
"""Runs clang-tidy over the files of a build folder, several at once; unchanged files are not looked at twice.

usage: tools/run_tidy.py BUILD_DIR [--tests] [--jobs N] [FILE...]

Takes the files of BUILD_DIR/compile_commands.json that are our own (without the tests unless --tests). A file
that was clean is remembered by the hash of its preprocessed text, its flags and .clang-tidy. Ends with a line
"N passed, N failed", one per file.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = ("src", "cli", "mpi", "tests", "bench", "examples")


def wanted(path, with_tests):
    try:
        relative = path.relative_to(ROOT)
    except ValueError:
        return False
    if relative.parts[0] not in OURS:
        return False
    is_test = relative.parts[0] == "tests" or path.name.endswith("_test.cpp")
    return with_tests or not is_test


def fingerprint(entry):
    """Of all that decides what clang-tidy says about a file; comments included, they may hold NOLINT."""
    arguments = shlex.split(entry["command"]) if "command" in entry else list(entry["arguments"])
    if Path(arguments[0]).name == "ccache":
        del arguments[0]
    if "-o" in arguments:
        at = arguments.index("-o")
        del arguments[at:at + 2]
    arguments = [a for a in arguments if a != "-c"]
    text = subprocess.run([*arguments, "-E", "-C"], cwd=entry["directory"], capture_output=True, check=False).stdout
    digest = hashlib.sha256()
    for part in ((ROOT / ".clang-tidy").read_bytes(), " ".join(arguments).encode(), text):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def check(entry, build, stamps):
    """(path, message): the message is empty if the file is clean."""
    path = Path(entry["file"])
    stamp = stamps / fingerprint(entry)
    if stamp.exists():
        return path, ""
    # The warnings of clang itself are not ours to heed: g++ and -Werror are.
    run = subprocess.run(["clang-tidy", "-p", str(build), "--quiet", "--extra-arg=-Wno-error", str(path)],
                         capture_output=True, text=True, check=False)
    if run.returncode == 0:
        stamp.touch()
        return path, ""
    return path, run.stdout + ("" if run.stdout else run.stderr)


def main():
    parser = argparse.ArgumentParser(description="clang-tidy over a build folder")
    parser.add_argument("build", type=Path)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    build = options.build.resolve()
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if wanted(path, options.tests) and (not options.files or path in [f.resolve() for f in options.files]):
            entries[path] = entry
    stamps = build / "tidy"
    stamps.mkdir(exist_ok=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # The largest first: the last one running alone is then a small one.
        work = sorted(entries.values(), key=lambda e: -Path(e["file"]).stat().st_size)
        for path, message in pool.map(lambda e: check(e, build, stamps), work):
            if message:
                failed += 1
                print(f"{path.relative_to(ROOT)}:\n{message}", flush=True)
    print(f"{len(entries) - failed} passed, {failed} failed")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
