"""Whether bags can be learnt from, without a label."""

from __future__ import annotations

import html
from typing import Any

from bagwise import _core
from bagwise._bags import Bags, KnownShares
from bagwise._base import Classifier
from bagwise._features import Features
from bagwise._options import flag, in_python, python_names, seed_of, threads_of, whole_number
from bagwise._progress import watching
from bagwise._tasks import make_tasks


class Diagnosis:
    """What `diagnose` found: `str()` is the text for people, `to_dict()` all figures.

    Attributes
    ----------
    findings : list of dict
        The verdicts, the weightiest first.
    learnable : bool
        Whether the target's bags can be learnt from; False also where that is unclear (`to_dict()` tells which).
    """

    def __init__(self, figures: dict[str, Any], text: str) -> None:
        self._figures = figures
        self._text = text

    @property
    def findings(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._figures["findings"]
        return found

    @property
    def learnable(self) -> bool:
        return bool(self._figures["tasks"][-1]["learnable"] == "yes")

    def to_dict(self) -> dict[str, Any]:
        """What `bagwise diagnose --json` prints, in the words of Python."""
        return self._figures

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        verdicts = {"yes": "learnable", "no": "not learnable"}
        verdict = verdicts.get(self._figures["tasks"][-1]["learnable"], "unclear")
        count = len(self.findings)
        return f"<Diagnosis: {verdict}, {count} finding{'' if count == 1 else 's'}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"


def diagnose(
    X: Features,
    bags: Bags,
    proportions: KnownShares,
    *,
    source: Any = None,
    delta: Any = None,
    estimator: Classifier | None = None,
    folds: int = 10,
    bootstrap: int = 200,
    align_features: bool = False,
    random_state: Any = 1,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Diagnosis:
    """Tell what bags can teach, whether a source helps, and how good a model is, without labels.

    Parameters
    ----------
    X, bags, proportions, source, delta, align_features
        The data, as `fit` takes them.
    estimator : fitted estimator or None, default=None
        One that was fitted to these data. With it the diagnosis has predicted against known shares bag by bag, an
        estimate of the accuracy on single rows from held-out bags, and intervals of the weights.
    folds : int, default=10
        Into how many parts the bags are split, to judge each by a fit to the others; 0: not at all.
    bootstrap : int, default=200
        Fits to bags drawn with replacement, for the intervals of the weights; 0: none.
    random_state : int, RandomState, Generator or None, default=1
        Where the random numbers start.
    n_jobs : int or None, default=None
        How many threads to use; None and -1: one per core.
    verbose : bool, default=False
        Whether to show progress on stderr.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> from bagwise import TLLLP, diagnose, make_transfer_bags
    >>> data = make_transfer_bags(target_rows=320, source_rows=640, features=20)
    >>> model = TLLLP().fit(*data.target, source=data.source)
    >>> found = diagnose(*data.target, source=data.source, estimator=model, bootstrap=20)
    >>> found.learnable
    True
    >>> found.findings[0]["severity"]
    'verdict'
    """
    model = None
    if estimator is not None:
        if not isinstance(estimator, Classifier):
            raise TypeError(f"estimator is of type {type(estimator).__name__}; expected a fitted estimator of bagwise")
        model = estimator._fitted_model()
    fitted = None if model is None else (model.features, hasattr(estimator, "feature_names_in_"))
    tasks = make_tasks(X, bags, proportions, source, delta, align_features, fitted)
    with python_names(), watching(flag("verbose", verbose)) as watch:
        seed = seed_of(random_state)
        figures, text = _core.diagnose(
            tasks.tasks,
            model,
            folds=whole_number("folds", folds, 0, 1000),
            bootstrap=whole_number("bootstrap", bootstrap, 0, 100_000),
            seed=seed,
            threads=threads_of(n_jobs),
            watch=watch,
        )
    for finding in figures["findings"]:
        finding["message"] = in_python(finding["message"])
    return Diagnosis({**figures, "seed": seed, "version": _core.__version__}, in_python(text))
