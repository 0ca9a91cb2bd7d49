"""Writes bagwise/_estimators.pyi, the typed signatures of the estimators, from the options of the methods.

    make_stubs.py           write it
    make_stubs.py --check   exit with 1 if it is not what it should be
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bagwise._estimators import ESTIMATORS
from bagwise._options import Option, parameters_of

STUB = Path(__file__).resolve().parents[1] / "bagwise" / "_estimators.pyi"
HEAD = '''# Written by make_stubs.py; do not edit.
"""The six estimators, one per method."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from bagwise._base import Estimator
'''
TYPES = {
    "number": "float",
    "numbers": "float | Sequence[float]",
    "integer": "int",
    "flag": "bool",
    "random-state": "int | np.random.RandomState | np.random.Generator",
    "n-jobs": "int",
    "verbose": "bool",
}


def type_of(option: Option) -> str:
    if option.type == "choice":
        return f"Literal[{', '.join(repr(choice) for choice in option.choices)}]".replace("'", '"')
    kind = TYPES.get(option.type) or TYPES[option.name]
    may_be_none = option.default is None or option.name == "random-state"
    return f"{kind} | None" if may_be_none else kind


def stub_text() -> str:
    out = HEAD
    for cls in ESTIMATORS.values():
        options = parameters_of(cls._method)
        out += f"\nclass {cls.__name__}(Estimator):\n"
        for option in options:
            out += f"    {option.parameter}: {type_of(option)}\n"
        out += "    def __init__(\n        self,\n        *,\n"
        for option in options:
            default = f'"{option.default}"' if isinstance(option.default, str) else repr(option.default)
            out += f"        {option.parameter}: {type_of(option)} = {default},\n"
        out += "    ) -> None: ...\n"
    return out + "\nESTIMATORS: dict[str, type[Estimator]]\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    text = stub_text()
    if not parser.parse_args().check:
        STUB.write_text(text)
        return 0
    if STUB.is_file() and STUB.read_text() == text:
        return 0
    print(f"{STUB.name} is not what the options say: run python/tools/make_stubs.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
