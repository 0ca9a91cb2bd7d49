"""The tasks of a fit: sources in order and the target last, with the same features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bagwise import _core
from bagwise._bags import Bags, KnownShares, NumberedBags, make_proportions, number_bags, read_bounds
from bagwise._features import Features, Table, read_features
from bagwise._options import flag, python_names
from bagwise._warnings import BagwiseWarning, warn


@dataclass(frozen=True)
class Tasks:
    """What the compiled half fits to."""

    tasks: list[_core.Task]
    named: bool  # whether the target's features have names of their own
    features: list[str]
    remarks: list[str]


@dataclass(frozen=True)
class _Part:
    """One task while its features are not yet those of the others."""

    name: str
    X: str  # what messages call its features
    table: Table
    bags: NumberedBags
    proportions: _core.Proportions
    bounds: Any


def list_sources(source: Any) -> list[tuple[Any, ...]]:
    """The sources as tuples (X, bags, proportions[, delta])."""
    if source is None:
        return []
    listed = [source] if isinstance(source, tuple) else source
    if not isinstance(listed, list):
        found = type(source).__name__
        raise TypeError(f"source is of type {found}; expected a tuple (X, bags, proportions) or a list of such tuples")
    for one in listed:
        if not isinstance(one, tuple) or len(one) not in (3, 4):
            found = f"a tuple of {len(one)}" if isinstance(one, tuple) else f"of type {type(one).__name__}"
            raise TypeError(f"a source is {found}; expected (X, bags, proportions) or (X, bags, proportions, delta)")
    return listed


def make_tasks(
    X: Features,
    bags: Bags,
    proportions: KnownShares,
    source: Any = None,
    delta: Any = None,
    align_features: bool = False,
    fitted: tuple[list[str], bool] | None = None,
) -> Tasks:
    """Reads the data of a fit; ValueError or TypeError says what is wrong with them.

    `fitted` are the features of a model that the data are for, and whether they have names of their own.
    """
    align_features = flag("align_features", align_features)
    target = _read_part("target", "", X, bags, proportions, delta)
    parts = []
    for number, one in enumerate(list_sources(source), 1):
        name = "source" if number == 1 else f"source-{number}"
        parts.append(_read_part(name, f"{name} ", *one))
    for part in parts:
        if part.table.named != target.table.named:
            which = f"X has names of features and {part.X} has none" if target.table.named else (
                f"{part.X} has names of features and X has none"
            )
            if align_features:
                raise ValueError(f"{which}; expected names in both with align_features=True")
            warn(BagwiseWarning, f"{which}: columns are matched by their position")
    features = target.table.names
    if align_features:
        features = _union([target, *parts])
    called = _names_of_model(target, features, *fitted) if fitted else features
    tasks = [_make_task(part, target, features, align_features, called) for part in [*parts, target]]
    remarks = [remark for part in [*parts, target] for remark in part.proportions.remarks]
    return Tasks(tasks, target.table.named, features, remarks)


def known_bags(bags: Bags, proportions: KnownShares, rows: int | None) -> _core.Task:
    """Bags and their shares where features do not matter."""
    numbered = number_bags(bags, rows)
    known = make_proportions(proportions, numbered)
    none = _core.Rows.dense(np.empty((len(numbered.codes), 0)), [])
    with python_names():
        return _core.Task("target", none, numbered.codes, numbered.names, known)


def _read_part(
    name: str, called: str, X: Features, bags: Bags, proportions: KnownShares, delta: Any = None
) -> _Part:
    table = read_features(X, f"{called}X")
    numbered = number_bags(bags, table.rows.rows, f"{called}bags")
    known = make_proportions(proportions, numbered, f"{called}proportions")
    return _Part(name, f"{called}X", table, numbered, known, read_bounds(delta, table.rows.rows, f"{called}delta"))


def _union(parts: list[_Part]) -> list[str]:
    """The features of the target, then those that only sources have."""
    return list(dict.fromkeys(name for part in parts for name in part.table.names))


def _names_of_model(target: _Part, features: list[str], known: list[str], named: bool) -> list[str]:
    """What to call the features where a model has names and the data have none, or the other way round."""
    if target.table.named == named or len(known) != len(features):
        return features
    which = "the model has names of features and X has none" if named else "X has names of features and the model has none"
    warn(BagwiseWarning, f"{which}: columns are matched by their position")
    return known


def _make_task(part: _Part, target: _Part, features: list[str], align: bool, called: list[str]) -> _core.Task:
    rows = _in_order(part, target, features, align)
    if called != features:
        rows = rows.renamed(called)
    with python_names():
        return _core.Task(part.name, rows, part.bags.codes, part.bags.names, part.proportions, part.bounds, part.X)


def _in_order(part: _Part, target: _Part, features: list[str], align: bool) -> _core.Rows:
    """The rows of a task with these features."""
    rows, names = part.table.rows, part.table.names
    if not align and part.table.named != target.table.named and rows.columns == target.table.rows.columns:
        return rows if part is target else rows.renamed(features)  # one of the two has no names
    if names == features:
        return rows
    if not align:
        with python_names():
            _core.check_same_features(features, names, part.X)
    place = {name: j for j, name in enumerate(names)}
    return rows.take([place.get(name, -1) for name in features], features)
