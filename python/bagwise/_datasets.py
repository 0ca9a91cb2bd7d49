"""Bags from labelled data, and data with a known truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import Bunch

from bagwise import _core
from bagwise._base import zero_one
from bagwise._options import checked_text, is_number, seed_of, whole_number


def make_bags(
    X: Any, y: Any, size: int = 8, random_state: Any = 1
) -> tuple[NDArray[np.str_], dict[str, float]]:
    """Deal labelled rows at random into bags, as `bagwise bag` does.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features) or None
        The rows; only their number is looked at.
    y : array-like of shape (n_rows,)
        Their labels, 0/1 or -1/1.
    size : int, default=8
        Rows per bag; a last, smaller bag takes the rest.
    random_state : int, RandomState, Generator or None, default=1
        Where the random numbers start.

    Returns
    -------
    bags : array of str of shape (n_rows,)
        The bag of each row. They sort by number.
    proportions : dict
        The share of positives of each bag.

    Examples
    --------
    >>> from bagwise import make_bags
    >>> bags, proportions = make_bags([[0.1], [0.9], [0.8], [0.3]], [0, 1, 1, 0], size=2)
    >>> sorted(proportions)
    ['1', '2']
    >>> sum(proportions.values())
    1.0
    """
    labels = zero_one(y)
    rows = len(labels) if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != len(labels):
        raise ValueError(f"y has {len(labels)} labels for {rows} rows; expected one for each row")
    signs = (2 * labels - 1).astype(np.int8)
    codes, names, shares = _core.deal_bags(signs, whole_number("size", size, 1), seed_of(random_state))
    return np.array(names)[codes], dict(zip(names, shares.tolist()))


def make_transfer_bags(
    kind: str = "gaussian",
    preset: str = "related",
    size: int = 32,
    *,
    source_rows: int = 2000,
    target_rows: int = 800,
    test_rows: int = 20000,
    features: int = 200,
    best_accuracy: float | None = None,
    angle_degrees: float | None = None,
    random_state: Any = 1,
) -> Bunch:
    """Make a source and a target in bags, with a known truth, as `bagwise generate` and `bagwise bag` do.

    Parameters
    ----------
    kind : {"gaussian", "documents"}, default="gaussian"
        Two clouds per task, or word counts from a hierarchy of topics (a sparse matrix).
    preset : {"related", "unrelated"}, default="related"
        How near the tasks are: 20 or 90 degrees between their true planes.
    size : int, default=32
        Rows per bag.
    source_rows, target_rows, test_rows : int, default=2000, 800 and 20000
        How many rows the source, the target and the test set have.
    features : int, default=200
        How many features each row has.
    best_accuracy : float or None, default=None
        Accuracy of the best possible classifier. None: 0.9.
    angle_degrees : float or None, default=None
        Between the true planes of the tasks. None: the preset's.
    random_state : int, RandomState, Generator or None, default=1
        Where the random numbers start.

    Returns
    -------
    Bunch
        `source` and `target`, each a tuple (X, bags, proportions) that fit takes; `X_test` and `y_test`, labelled rows
        of the target to test on; `best_accuracy`, `angle_degrees`, `feature_names`.

    Examples
    --------
    >>> from bagwise import TLLLP, make_transfer_bags
    >>> data = make_transfer_bags(target_rows=320, features=50)
    >>> model = TLLLP().fit(*data.target, source=data.source)
    >>> 0.6 < model.score(data.X_test, data.y_test) < data.best_accuracy
    True
    """
    seed = seed_of(random_state)
    for name, value in (("kind", kind), ("preset", preset)):
        if not isinstance(value, str):
            raise TypeError(f"{name} = {value!r} is of type {type(value).__name__}; expected a name")
        checked_text(value, name)
    made = _core.generate(
        kind,
        preset,
        source_rows=whole_number("source_rows", source_rows, 1),
        target_rows=whole_number("target_rows", target_rows, 1),
        test_rows=whole_number("test_rows", test_rows, 1),
        features=whole_number("features", features, 2),
        best_accuracy=_number("best_accuracy", best_accuracy),
        angle_degrees=_number("angle_degrees", angle_degrees),
        seed=seed,
    )
    tasks = {}
    for task in ("source", "target"):
        X, labels = made[task]
        bags, proportions = make_bags(None, labels, size, seed)
        tasks[task] = (_matrix(X), bags, proportions)
    X_test, labels = made["test"]
    return Bunch(
        **tasks,
        X_test=_matrix(X_test),
        y_test=zero_one(labels),
        best_accuracy=made["best_accuracy"],
        angle_degrees=made["angle_degrees"],
        feature_names=made["names"],
    )


def _number(name: str, value: Any) -> float | None:
    if value is not None and not is_number(value):
        raise TypeError(f"{name} = {value!r} is of type {type(value).__name__}; expected a number or None")
    return None if value is None else float(value)


def _matrix(X: Any) -> Any:
    if not isinstance(X, tuple):
        return X
    start, index, values, columns = X
    return scipy.sparse.csr_matrix((values, index, start), shape=(len(start) - 1, columns))
