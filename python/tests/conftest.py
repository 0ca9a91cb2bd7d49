"""What the tests share: small data, and the command line's program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bagwise


@pytest.fixture(scope="session")
def data() -> Any:
    """A source and a target that are learnt from in no time."""
    return bagwise.make_transfer_bags(source_rows=240, target_rows=160, test_rows=200, features=6, size=8)


class CommandLine:
    """The program bagwise in a folder of its own."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.folder = folder

    def __call__(self, *arguments: object, status: int = 0) -> str:
        done = subprocess.run(
            [self.program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == status, done.stderr
        return done.stdout if status == 0 else done.stderr

    def write_task(self, name: str, X: Any, bags: Any, proportions: dict[Any, float]) -> list[str]:
        """Writes a task as files, to the last bit; gives the arguments that name them."""
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        with open(self.folder / f"{name}.csv", "w") as out:
            out.write(",".join(["bag", *(f"x{j + 1}" for j in range(X.shape[1]))]) + "\n")
            for bag, row in zip(bags, X.tolist()):
                out.write(",".join([str(bag), *map(repr, row)]) + "\n")
        with open(self.folder / f"{name}-shares.csv", "w") as out:
            out.write("bag,proportion\n" + "".join(f"{bag},{share!r}\n" for bag, share in proportions.items()))
        return [f"--{name}", f"{name}.csv", f"--{name}-proportions", f"{name}-shares.csv"]

    def scores(self, model: object, X: Any, *arguments: object) -> tuple[np.ndarray, np.ndarray]:
        """Scores and probabilities of rows, as `bagwise predict` writes them."""
        self.write_task("rows", X, ["1"] * X.shape[0], {"1": 0.5})
        self("predict", "--quiet", "--model", model, "--input", "rows.csv", "-o", "out.csv", *arguments)
        table = np.genfromtxt(self.folder / "out.csv", delimiter=",", names=True)
        return table["score"], table["probability"]


@pytest.fixture
def command_line(tmp_path: Path) -> CommandLine:
    program = os.environ.get("BAGWISE_BINARY")
    if not program:
        pytest.skip("BAGWISE_BINARY does not name the program")
    return CommandLine(program, tmp_path)
