"""How well predictions meet the shares of bags."""

from __future__ import annotations

from typing import Any

import numpy as np

from bagwise._bags import Bags, KnownShares
from bagwise._features import check_not_masked
from bagwise._tasks import known_bags


def bag_proportion_error(predicted: Any, bags: Bags, proportions: KnownShares) -> float:
    """Mean over bags of how far the predicted share of positives is from the known one.

    Parameters
    ----------
    predicted : array-like of shape (n_rows,) or (n_rows, 2)
        Labels (0/1 or -1/1), probabilities of the positive class, or what `predict_proba` gives.
    bags : array-like of shape (n_rows,)
        The bag of each row.
    proportions : dict, Series, array or DataFrame
        The known share of each bag, as `fit` takes them.

    Returns
    -------
    float
        0: every share is met; bags count alike, whatever their size.

    Examples
    --------
    >>> from bagwise import bag_proportion_error
    >>> bag_proportion_error([1, 1, 0, 0], ["a", "a", "b", "b"], {"a": 0.5, "b": 0})
    0.25
    """
    check_not_masked(predicted, "predicted")
    values = np.asarray(predicted, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] == 2:
        values = values[:, 1]
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"predicted has the shape {values.shape}; expected one label or probability for each row")
    labels = np.isin(values, (-1, 1)).all()
    values = np.where(values > 0, 1.0, 0.0) if labels else values
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("predicted has values outside [0, 1]; expected labels 0/1 or -1/1, or probabilities")
    task = known_bags(bags, proportions, len(values))
    sums = np.bincount(task.bag_of_row, weights=values, minlength=len(task.bag_sizes))
    return float(np.mean(np.abs(sums / task.bag_sizes - task.proportions)))
