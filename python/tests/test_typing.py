"""The types: stubs that say what the code does, and typical use that mypy accepts."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import bagwise

HERE = Path(__file__).resolve().parent
PACKAGE = Path(bagwise.__file__).parent

USE = """
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from bagwise import TLLLP, BagGridSearchCV, BagKFold, InvCal, bag_proportion_error, diagnose, load, make_bags

rng = np.random.default_rng(1)
X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
bags, proportions = make_bags(X, y, size=4)
model = TLLLP(C=2, C_source=[0.1, 0.2], kernel="linear").fit(X, bags, proportions)
assert_type(model, TLLLP)
assert_type(model.C, float)
assert_type(model.predict(X), NDArray[np.int64])
assert_type(model.coef_, NDArray[np.float64])
assert_type(model.report_, dict[str, Any])
assert_type(InvCal.load("model.json"), InvCal)
load("model.json").predict(X, task="source")
error: float = bag_proportion_error(model.predict_proba(X), bags, proportions)
search = BagGridSearchCV([InvCal()], {"C": [1, 2]}, cv=3).fit(X, bags, proportions)
best: dict[str, object] = search.best_params_
for train, test in BagKFold(5).split(X, bags, proportions):
    InvCal().fit(X[train], bags[train], proportions)
ok: bool = diagnose(X, bags, proportions, estimator=model).learnable
"""
WRONG = [
    ('InvCal(C="1")', "Argument"),
    ('InvCal(kernel="cubic")', "Argument"),
    ("InvCal(nonsense=1)", "Unexpected keyword"),
    ("InvCal().fit([[1.0]], [1])", "Missing positional argument"),
    ("assert_type(InvCal().fit([[1.0]], [1], [0.5]), MeanMap)", "Expression is of type"),
]


def mypy(*arguments: str, folder: Path) -> str:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    installed = PACKAGE.parent.name in ("site-packages", "dist-packages")  # mypy finds it there
    options = ["--strict", "--ignore-missing-imports", "--cache-dir", str(folder.parent / "mypy")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"PATH": "", **({} if installed else {"MYPYPATH": str(PACKAGE.parent)})},
    )
    return done.stdout + done.stderr


def test_the_stub_of_the_estimators_is_up_to_date() -> None:
    script = HERE.parent / "tools" / "make_stubs.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_typical_use_is_typed(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(USE)
    lines = ["from typing import assert_type; from bagwise import InvCal, MeanMap", *(line for line, _ in WRONG)]
    (tmp_path / "wrong.py").write_text("\n".join(lines) + "\n")
    said = mypy("use.py", "wrong.py", folder=tmp_path)
    assert [line for line in said.splitlines() if ": error:" in line and not line.startswith("wrong.py")] == []
    told = said.splitlines()
    for number, (line, message) in enumerate(WRONG, 2):
        assert any(text.startswith(f"wrong.py:{number}: error: {message}") for text in told), (line, said)


def test_the_package_itself_is_typed(tmp_path: Path) -> None:
    said = mypy("-p", "bagwise", folder=tmp_path)
    assert "Success" in said, said
