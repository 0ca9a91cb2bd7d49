"""The programs in examples/python run and print what they should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"


def test_first_fit() -> None:
    run = subprocess.run([sys.executable, str(EXAMPLES / "first_fit.py")], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert run.stdout == (
        "age 30, 40 km to work: in favour (0.99)\n"
        "age 30, 1 km to work: against (0.07)\n"
        "age 65, 9 km to work: against (0.35)\n"
    )


def test_every_example_has_a_test() -> None:
    assert [path.name for path in sorted(EXAMPLES.glob("*.py"))] == ["first_fit.py"]
