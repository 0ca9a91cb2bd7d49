"""Models from files, whatever their method."""

from __future__ import annotations

import os

from bagwise._base import Estimator, read_model, readable
from bagwise._estimators import ESTIMATORS


def load(path: str | os.PathLike[str]) -> Estimator:
    """Read a model file: of `save`, or of the command line.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        A fitted one of the class that fits the model's method, with the parameters it was trained with (but
        `calibrate`: its effect is kept in the probabilities). An average over several methods is of the class of the
        best one.

    Examples
    --------
    >>> import os, tempfile
    >>> from bagwise import InvCal, load
    >>> model = InvCal(C=2).fit([[0.0], [1.0], [0.4]], [1, 2, 3], {1: 0, 2: 1, 3: 0.5})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.json"))
    ...     again = load(os.path.join(folder, "model.json"))
    >>> again.C, bool((again.coef_ == model.coef_).all())
    (2.0, True)
    """
    model = read_model(path)
    method = model.method
    if method == "auto":  # an average over methods: its options are those of the best setting
        method = model.report()["selection"]["best"].split()[0]
    if method not in ESTIMATORS:
        raise ValueError(f'{readable(path)}: there is no method "{method}" in this version of bagwise')
    return ESTIMATORS[method]._of_model(model)
