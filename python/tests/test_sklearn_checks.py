"""scikit-learn's own checks of estimators.

They call fit(X, y) with labels. Bags of one row each, with the share 0 or 1, are labelled data, so a small adapter
makes bags of the labels; all else is the estimator itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from bagwise import TLLLP, AlterPSVM, ConvPSVM, InvCal, MeanMap, TLCount

pytestmark = pytest.mark.filterwarnings("ignore::bagwise.BagwiseWarning")


def codes_by_bag(codes: Any) -> dict[int, int]:
    return dict(enumerate(codes.tolist()))


class Supervised:
    """fit(X, y) by bags of one row each, and predictions in the labels' own words."""

    def fit(self, X: Any, y: Any) -> Any:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        labels = np.asarray(y)
        if labels.dtype.kind == "c":
            labels = labels.real
        labels = column_or_1d(labels, warn=True)
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError("y has NaN or inf; expected labels")
        check_classification_targets(labels)
        kind = type_of_target(labels)
        if kind not in ("binary", "unknown"):
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        classes, codes = np.unique(labels, return_inverse=True)
        try:
            super().fit(X, np.arange(len(labels)), codes_by_bag(codes), allow_leak=True)  # type: ignore[misc]
        except ValueError as error:
            # The estimators speak of bags, the checks want to hear of classes.
            raise ValueError(f"{error} (y has 1 class)") if len(classes) == 1 else error
        self.classes_ = classes
        return self

    def predict(self, X: Any) -> Any:
        codes = super().predict(X)  # type: ignore[misc]
        return self.classes_[codes]

    def score(self, X: Any, y: Any) -> float:
        return float(np.mean(self.predict(X) == np.asarray(y)))


def adapted(cls: type) -> Any:
    name = f"Supervised{cls.__name__}"
    globals()[name] = type(name, (Supervised, cls), {"__module__": __name__, "__init__": cls.__init__})
    return globals()[name]


ADAPTED = [adapted(cls)() for cls in (TLLLP, InvCal, MeanMap, AlterPSVM, ConvPSVM, TLCount)]

# Checks that do not apply, and why.
NOT_APPLICABLE = {
    ("SupervisedConvPSVM", "check_classifiers_train"): "its probabilities are a sigmoid fitted to the bags: one half "
    "is not at the score 0, as the check wants it, while labels go by the score",
}


@parametrize_with_checks(ADAPTED)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    name = getattr(check, "func", check).__name__
    why = NOT_APPLICABLE.get((type(estimator).__name__, name))
    if why is not None:
        pytest.skip(why)
    check(estimator)
