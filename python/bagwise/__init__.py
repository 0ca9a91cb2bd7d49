"""Learn to classify single rows from groups of rows of which only the share of positives is known.

A bag is such a group: a district with its votes, a campaign with its conversions. `TLLLP`, `InvCal`, `MeanMap`,
`AlterPSVM`, `ConvPSVM` and `TLCount` learn a classifier from bags in scikit-learn's manner:

>>> import numpy as np
>>> from bagwise import InvCal
>>> X = np.array([[0.0], [0.2], [1.0], [0.9], [0.1], [0.8]])
>>> bags = [1, 1, 2, 2, 3, 3]
>>> model = InvCal(C=10).fit(X, bags, {1: 0.0, 2: 1.0, 3: 0.5})
>>> model.predict(X)
array([0, 0, 1, 1, 0, 1])

`BagGridSearchCV` chooses parameters on held-out bags, `diagnose` tells whether the bags can be learnt from, and
`make_bags` and `make_transfer_bags` make bags to try things on. Models are the command line's: what `save` writes,
`bagwise predict` reads, and the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bagwise._core import __version__
from bagwise._datasets import make_bags, make_transfer_bags
from bagwise._diagnosis import Diagnosis, diagnose
from bagwise._estimators import TLLLP, AlterPSVM, ConvPSVM, InvCal, MeanMap, TLCount
from bagwise._load import load
from bagwise._metrics import bag_proportion_error
from bagwise._numpy_check import check_numpy
from bagwise._selection import BagGridSearchCV, BagKFold
from bagwise._warnings import BagwiseWarning

if TYPE_CHECKING:
    from bagwise._plots import plot_path, plot_proportions, plot_transfer

check_numpy()

__all__ = [
    "AlterPSVM",
    "BagGridSearchCV",
    "BagKFold",
    "BagwiseWarning",
    "ConvPSVM",
    "Diagnosis",
    "InvCal",
    "MeanMap",
    "TLCount",
    "TLLLP",
    "__version__",
    "bag_proportion_error",
    "diagnose",
    "load",
    "make_bags",
    "make_transfer_bags",
    "plot_path",
    "plot_proportions",
    "plot_transfer",
]


def __getattr__(name: str) -> Any:
    """The plots are loaded when they are asked for, and with them matplotlib."""
    if name.startswith("plot_") and name in __all__:
        from bagwise import _plots

        return getattr(_plots, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
