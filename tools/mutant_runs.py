#!/usr/bin/python3
"""Runs test cases of Catch2 programs that have mutants in them: which mutants a case reaches, and whether it notices
one (tools/mutation/mutant_state.cpp)."""

import math
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

MEMORY = 4 << 30
CPU_FACTOR, CPU_FLOOR = 5, 2  # seconds of the processor; what a mutant in an endless loop takes
WALL_FACTOR = 30  # other programs may be running


class Case(NamedTuple):
    """A test case, the seconds it usually takes, and the mutants it reaches."""
    program: str
    name: str
    seconds: float
    reached: frozenset


def names_of(program):
    run = subprocess.run([program, "--list-test-names-only"], capture_output=True, text=True, check=False)
    return [line for line in run.stdout.splitlines() if line.strip()]


def pattern_of(name):
    """The argument by which Catch2 takes just this case."""
    return re.sub(r"([\\,\[\]*\"~])", r"\\\1", name)


def run_case(program, name, folder, limit=None, **environment):
    """(status, seconds of the processor): 0 if all is well, None if a limit was reached."""
    folder.mkdir(parents=True, exist_ok=True)
    limits = ["prlimit", f"--as={MEMORY}", "--core=0", *([f"--cpu={limit}"] if limit else [])]
    process = subprocess.Popen([*limits, program, pattern_of(name)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL,
                               env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(folder), **environment})
    end = time.monotonic() + WALL_FACTOR * limit if limit else math.inf
    pause = 0.002
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime
        if time.monotonic() > end:
            process.kill()
            end = math.inf
        time.sleep(pause)
        pause = min(0.05, pause * 1.3)


def traced(program, name, folder):
    """The case, run once with no mutant chosen. Fails if the case does."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder) as trace:
        status, seconds = run_case(program, name, folder / "files", BAGWISE_MUTANT_TRACE=trace.name)
        if status != 0:
            raise RuntimeError(f"{Path(program).name} fails with no mutant chosen, in: {name}")
        return Case(program, name, seconds, frozenset(map(int, Path(trace.name).read_text().split())))


def killer(number, cases, folder):
    """The first of the cases that notices the mutant, the quickest first, with how; None if none does."""
    for case in sorted(cases, key=lambda case: case.seconds):
        limit = math.ceil(CPU_FLOOR + CPU_FACTOR * case.seconds)
        status, _ = run_case(case.program, case.name, folder, limit, BAGWISE_MUTANT=str(number))
        shutil.rmtree(folder, ignore_errors=True)
        if status != 0:
            how = "fails" if status > 0 else "is too slow" if status in (-9, -24) else "crashes"
            return f"{Path(case.program).name}/{case.name}", how
    return None
