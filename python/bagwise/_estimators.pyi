# Written by make_stubs.py; do not edit.
"""The six estimators, one per method."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from bagwise._base import Estimator

class TLLLP(Estimator):
    C: float
    C_source: float | Sequence[float]
    lam: float
    lam_source: float | Sequence[float]
    epsilon: float
    tube: Literal["constant", "calibrated"]
    clip: float | None
    delta: float | None
    uncertainty: Literal["exact", "literal", "off"]
    kernel: Literal["linear", "rbf", "poly"]
    gamma: float | None
    degree: int
    nystrom: int
    gap: float
    max_rounds: int
    tolerance: float
    scale: Literal["none", "standard", "maxabs"]
    bag_weight: Literal["none", "size"]
    metric: Literal["none", "pca"]
    calibrate: Literal["none", "bags"]
    random_state: int | np.random.RandomState | np.random.Generator | None
    n_jobs: int | None
    verbose: bool
    def __init__(
        self,
        *,
        C: float = 1.0,
        C_source: float | Sequence[float] = 0.25,
        lam: float = 1.0,
        lam_source: float | Sequence[float] = 10.0,
        epsilon: float = 0.1,
        tube: Literal["constant", "calibrated"] = "constant",
        clip: float | None = None,
        delta: float | None = None,
        uncertainty: Literal["exact", "literal", "off"] = "exact",
        kernel: Literal["linear", "rbf", "poly"] = "linear",
        gamma: float | None = None,
        degree: int = 3,
        nystrom: int = 0,
        gap: float = 1e-06,
        max_rounds: int = 20,
        tolerance: float = 0.001,
        scale: Literal["none", "standard", "maxabs"] = "none",
        bag_weight: Literal["none", "size"] = "none",
        metric: Literal["none", "pca"] = "none",
        calibrate: Literal["none", "bags"] = "none",
        random_state: int | np.random.RandomState | np.random.Generator | None = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None: ...

class InvCal(Estimator):
    C: float
    epsilon: float
    tube: Literal["constant", "calibrated"]
    clip: float | None
    kernel: Literal["linear", "rbf", "poly"]
    gamma: float | None
    degree: int
    nystrom: int
    gap: float
    scale: Literal["none", "standard", "maxabs"]
    bag_weight: Literal["none", "size"]
    metric: Literal["none", "pca"]
    calibrate: Literal["none", "bags"]
    random_state: int | np.random.RandomState | np.random.Generator | None
    n_jobs: int | None
    verbose: bool
    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        tube: Literal["constant", "calibrated"] = "constant",
        clip: float | None = None,
        kernel: Literal["linear", "rbf", "poly"] = "linear",
        gamma: float | None = None,
        degree: int = 3,
        nystrom: int = 0,
        gap: float = 1e-06,
        scale: Literal["none", "standard", "maxabs"] = "none",
        bag_weight: Literal["none", "size"] = "none",
        metric: Literal["none", "pca"] = "none",
        calibrate: Literal["none", "bags"] = "none",
        random_state: int | np.random.RandomState | np.random.Generator | None = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None: ...

class MeanMap(Estimator):
    lam: float
    tolerance: float
    scale: Literal["none", "standard", "maxabs"]
    metric: Literal["none", "pca"]
    calibrate: Literal["none", "bags"]
    random_state: int | np.random.RandomState | np.random.Generator | None
    n_jobs: int | None
    verbose: bool
    def __init__(
        self,
        *,
        lam: float = 1.0,
        tolerance: float = 1e-08,
        scale: Literal["none", "standard", "maxabs"] = "none",
        metric: Literal["none", "pca"] = "none",
        calibrate: Literal["none", "bags"] = "none",
        random_state: int | np.random.RandomState | np.random.Generator | None = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None: ...

class AlterPSVM(Estimator):
    C: float
    C_p: float
    epsilon: float
    init: Literal["random", "inv-cal", "tl-llp", "both"]
    restarts: int
    reheat: bool
    kernel: Literal["linear", "rbf", "poly"]
    gamma: float | None
    degree: int
    nystrom: int
    cache: float
    gap: float
    max_rounds: int
    scale: Literal["none", "standard", "maxabs"]
    metric: Literal["none", "pca"]
    calibrate: Literal["none", "bags"]
    random_state: int | np.random.RandomState | np.random.Generator | None
    n_jobs: int | None
    verbose: bool
    def __init__(
        self,
        *,
        C: float = 0.1,
        C_p: float = 1.0,
        epsilon: float = 0.0,
        init: Literal["random", "inv-cal", "tl-llp", "both"] = "both",
        restarts: int = 10,
        reheat: bool = True,
        kernel: Literal["linear", "rbf", "poly"] = "linear",
        gamma: float | None = None,
        degree: int = 3,
        nystrom: int = 0,
        cache: float = 1000.0,
        gap: float = 1e-06,
        max_rounds: int = 1000,
        scale: Literal["none", "standard", "maxabs"] = "none",
        metric: Literal["none", "pca"] = "none",
        calibrate: Literal["none", "bags"] = "none",
        random_state: int | np.random.RandomState | np.random.Generator | None = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None: ...

class ConvPSVM(Estimator):
    C: float
    epsilon: float
    kernel: Literal["linear", "rbf", "poly"]
    gamma: float | None
    degree: int
    nystrom: int
    gap: float
    tolerance: float
    max_rounds: int
    scale: Literal["none", "standard", "maxabs"]
    metric: Literal["none", "pca"]
    calibrate: Literal["none", "bags"]
    random_state: int | np.random.RandomState | np.random.Generator | None
    n_jobs: int | None
    verbose: bool
    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        kernel: Literal["linear", "rbf", "poly"] = "linear",
        gamma: float | None = None,
        degree: int = 3,
        nystrom: int = 0,
        gap: float = 1e-06,
        tolerance: float = 0.01,
        max_rounds: int = 100,
        scale: Literal["none", "standard", "maxabs"] = "none",
        metric: Literal["none", "pca"] = "none",
        calibrate: Literal["none", "bags"] = "none",
        random_state: int | np.random.RandomState | np.random.Generator | None = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None: ...

class TLCount(Estimator):
    C: float
    C_source: float | Sequence[float] | None
    lam: float
    lam_source: float | Sequence[float] | None
    exact_up_to: int
    init: Literal["anneal", "tl-llp"]
    kernel: Literal["linear", "rbf", "poly"]
    gamma: float | None
    degree: int
    nystrom: int
    tolerance: float
    max_steps: int
    scale: Literal["none", "standard", "maxabs"]
    metric: Literal["none", "pca"]
    calibrate: Literal["none", "bags"]
    random_state: int | np.random.RandomState | np.random.Generator | None
    n_jobs: int | None
    verbose: bool
    def __init__(
        self,
        *,
        C: float = 1.0,
        C_source: float | Sequence[float] | None = None,
        lam: float = 1.0,
        lam_source: float | Sequence[float] | None = None,
        exact_up_to: int = 64,
        init: Literal["anneal", "tl-llp"] = "anneal",
        kernel: Literal["linear", "rbf", "poly"] = "linear",
        gamma: float | None = None,
        degree: int = 3,
        nystrom: int = 0,
        tolerance: float = 1e-06,
        max_steps: int = 500,
        scale: Literal["none", "standard", "maxabs"] = "none",
        metric: Literal["none", "pca"] = "none",
        calibrate: Literal["none", "bags"] = "none",
        random_state: int | np.random.RandomState | np.random.Generator | None = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None: ...

ESTIMATORS: dict[str, type[Estimator]]
