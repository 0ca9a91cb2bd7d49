"""Choosing on held-out bags: folds of bags, and a search over settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from bagwise import _core
from bagwise._bags import Bags, KnownShares, number_bags
from bagwise._base import Classifier, Estimator, warn_of
from bagwise._estimators import ESTIMATORS
from bagwise._features import Features
from bagwise._options import (
    METHODS,
    Method,
    checked_text,
    flag,
    given_texts,
    is_number,
    python_names,
    seed_of,
    threads_of,
    whole_number,
)
from bagwise._progress import watching
from bagwise._tasks import known_bags, make_tasks
from bagwise._warnings import BagwiseWarning, warn

# A method, the text of its grid (None: its own), and the options that are the same in every setting.
Arm = tuple[str, "str | None", list[tuple[str, list[str]]]]


class BagKFold(BaseEstimator):  # type: ignore[misc]
    """Folds of whole bags, alike in proportion and size.

    A bag is in one fold only: rows of a bag that is tested are never trained on.

    Parameters
    ----------
    n_splits : int, default=5
        How many folds.
    random_state : int, RandomState, Generator or None, default=1
        How bags are dealt.

    Examples
    --------
    >>> import numpy as np
    >>> from bagwise import BagKFold
    >>> bags = np.repeat(["a", "b", "c", "d"], 3)
    >>> for train, test in BagKFold(n_splits=2).split(np.zeros((12, 1)), bags):
    ...     print(len(train), len(test), set(bags[train]) & set(bags[test]))
    6 6 set()
    6 6 set()
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = 1) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def split(
        self, X: Any, bags: Bags, proportions: KnownShares | None = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """The rows to train on and those to test on, for each fold.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features) or None
            The rows; only their number is looked at.
        bags : array-like of shape (n_rows,)
            The bag of each row.
        proportions : dict, Series, array, DataFrame or None, default=None
            The known share of each bag, so that folds are alike in them. None: alike in size only.

        Yields
        ------
        train, test : arrays of int
        """
        folds = whole_number("n_splits", self.n_splits, 2)
        rows = None if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
        numbered = number_bags(bags, rows)
        count = len(numbered.values)
        if count < folds:
            raise ValueError(f"n_splits = {folds} is more than the {count} bags; expected at most one fold per bag")
        codes: NDArray[Any] = numbered.codes
        sizes = np.bincount(codes, minlength=count)
        known = np.full(count, 0.5)
        if proportions is not None:
            task = known_bags(bags, proportions, rows)
            codes, sizes, known = task.bag_of_row, task.bag_sizes, task.proportions
        for fold in _core.bag_folds(sizes.astype(np.int64), known, folds, seed_of(self.random_state)):
            tested = np.zeros(count, dtype=bool)
            tested[fold] = True
            in_test = tested[codes]
            yield np.flatnonzero(~in_test), np.flatnonzero(in_test)

    def get_n_splits(self, X: Any = None, bags: Any = None, proportions: Any = None) -> int:
        """How many folds there are; the arguments are not looked at."""
        return self.n_splits


class BagGridSearchCV(Classifier):
    """Choose parameters, or a method, on held-out bags, and make one model of what was learnt.

    Bags are dealt into folds; every setting is fitted without one fold and judged by the proportions of the bags it
    has not seen. Labels take no part. The same as `bagwise tune`.

    Parameters
    ----------
    estimator : estimator, list of estimators, or "auto"
        What to tune: one, several side by side, or all six. Their parameters that are not at their default are the
        same in every setting. `random_state`, `n_jobs` and `verbose` are those of the search.
    param_grid : dict, list of dicts or None, default=None
        Values to try for each parameter, in all combinations; several dicts one after the other. None: the method's
        own grid. A dict is for every estimator that has all of its parameters.
    cv : int, default=5
        Folds of bags.
    repeats : int, default=1
        Deal the folds anew so many times.
    criterion : {"miscount", "soft-error", "likelihood"}, default="miscount"
        What is lost on the bags held out: rows too many or too few; the same by probabilities; the binomial
        likelihood.
    combine : {"average", "best", "plane"}, default="average"
        What becomes of the settings: a committee of all good ones; the best alone, fitted to all bags; their mean
        plane. With a kernel the best is kept: there are no planes to average.
    search : {"grid", "halving"}, default="grid"
        Every setting on every fold, or only the better third on each further fold.
    tau : float, default=4
        A setting worse by tau rows weighs 1/e as much in the average.
    random_state : int, RandomState, Generator or None, default=1
        Where the random numbers start: the same number gives the same bits.
    n_jobs : int or None, default=None
        How many threads to use; None and -1: one per core. The results are the same bits whatever their number.
    verbose : bool, default=False
        Whether to show progress on stderr.

    Attributes
    ----------
    best_estimator_ : estimator
        A fitted one that holds the final model: of `combine="average"` the average. Its parameters are the best ones.
    best_params_ : dict
        The parameters of the best setting.
    best_score_ : float
        Minus its criterion: larger is better.
    best_index_ : int
        Its place in `cv_results_`.
    cv_results_ : dict of arrays
        `params`, `method`, `param_C` and so on (masked where a setting does not name the parameter),
        `mean_test_score` (minus the criterion summed over folds, a mean over repeats), `rank_test_score`, `n_folds`
        (fewer than all where halving dropped a setting). It makes a DataFrame.
    report_ : dict
        What `bagwise tune --json` prints.
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, model_
        As the estimators have them.

    Examples
    --------
    >>> from bagwise import BagGridSearchCV, InvCal, make_transfer_bags
    >>> data = make_transfer_bags(target_rows=320, features=20, test_rows=1000)
    >>> search = BagGridSearchCV(InvCal(scale="standard"), {"C": [0.25, 1, 4]}).fit(*data.target)
    >>> sorted(search.best_params_)
    ['C', 'scale']
    >>> len(search.cv_results_["params"])
    3
    >>> search.score(data.X_test, data.y_test) > 0.6
    True
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        cv: int = 5,
        repeats: int = 1,
        criterion: str = "miscount",
        combine: str = "average",
        search: str = "grid",
        tau: float = 4,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.repeats = repeats
        self.criterion = criterion
        self.combine = combine
        self.search = search
        self.tau = tau
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Features,
        bags: Bags,
        proportions: KnownShares,
        *,
        source: Any = None,
        delta: Any = None,
        align_features: bool = False,
        allow_leak: bool = False,
    ) -> BagGridSearchCV:
        """Try all settings on folds of bags, and make the model.

        Parameters
        ----------
        X, bags, proportions, source, delta, align_features, allow_leak
            As the estimators' fit has them. With a source, methods and settings that take none see the target alone;
            it is an error if none of them takes one.

        Returns
        -------
        self
        """
        estimators = self._estimators()
        arms = _arms(estimators, self.param_grid)
        if not is_number(self.tau):
            raise TypeError(f"tau = {self.tau!r} is of type {type(self.tau).__name__}; expected a number > 0")
        if not 0 < self.tau < np.inf:
            raise ValueError(f"tau = {self.tau} breaks tau > 0")
        choice = {"criterion": self.criterion, "combine": self.combine, "search": self.search}
        for name, value in choice.items():
            if not isinstance(value, str):
                raise TypeError(f"{name} = {value!r} is of type {type(value).__name__}; expected a name")
            checked_text(value, name)
        folds, repeats = whole_number("cv", self.cv, 2, 1000), whole_number("repeats", self.repeats, 1, 1000)
        verbose, allow_leak = flag("verbose", self.verbose), flag("allow_leak", allow_leak)
        seed, threads = seed_of(self.random_state), threads_of(self.n_jobs)
        unused = [one._method.name for one in estimators if not one._method.uses_sources]
        if delta is not None and unused:
            warn(BagwiseWarning, f"delta is not used: {', '.join(dict.fromkeys(unused))} takes the rows as exact")
        tasks = make_tasks(X, bags, proportions, source, delta, align_features)
        count = len(tasks.tasks[-1].bag_names)
        if folds > count:
            raise ValueError(f"cv = {folds} with {count} bags; expected from 2 to the number of bags")
        with python_names(), watching(verbose) as watch:
            model, told = _core.tune(
                arms,
                tasks.tasks,
                folds=folds,
                repeats=repeats,
                criterion=self.criterion,
                combine=None if self.combine == "average" else self.combine,  # None: best where there is a kernel
                search=self.search,
                tau=float(self.tau),
                seed=seed,
                threads=threads,
                allow_leak=allow_leak,
                watch=watch,
            )
        self._told = told
        self._keep(model, tasks.named)
        self._keep_choice(model, tasks.named)
        if told["selection"]["combine"] != self.combine:
            kept = 'with a kernel the best setting is kept (combine="best"): there are no planes to average'
            warn(BagwiseWarning, kept)
        warn_of(model)
        return self

    @property
    def report_(self) -> dict[str, Any]:
        """What `bagwise tune --json` prints."""
        self._trained("report_")
        return self._told

    def _estimators(self) -> list[Estimator]:
        if isinstance(self.estimator, str) and self.estimator == "auto":
            return [cls() for cls in ESTIMATORS.values()]
        listed = list(self.estimator) if isinstance(self.estimator, (list, tuple)) else [self.estimator]
        for one in listed:
            if not isinstance(one, Estimator):
                raise TypeError(
                    f"estimator = {one!r} is of type {type(one).__name__}; "
                    'expected an estimator of bagwise, a list of them, or "auto"'
                )
            if one.calibrate != "none":
                raise ValueError(f'calibrate = "{one.calibrate}": a search does not calibrate; expected "none"')
        if not listed:
            raise ValueError('estimator is an empty list; expected an estimator of bagwise, a list of them, or "auto"')
        return listed

    def _keep_choice(self, model: _core.Model, named: bool) -> None:
        table = self._told["table"]
        self.cv_results_ = _results(table)
        self.best_index_ = int(self._told["best"])
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_params_: dict[str, Any] = self.cv_results_["params"][self.best_index_]
        method = table[self.best_index_]["method"]
        given = next(one for one in self._estimators() if one._method.name == method)
        own = {"random_state": self.random_state, "n_jobs": self.n_jobs, "verbose": self.verbose}
        known = {option.parameter: option.default for option in given._method.options}
        # A copy of what was given, which may be of a subclass with parameters of its own.
        self.best_estimator_ = clone(given)
        for name, value in {**known, **self.best_params_, **own}.items():
            setattr(self.best_estimator_, name, value)
        self.best_estimator_._keep(model, named)


def _arms(estimators: list[Estimator], param_grid: Any) -> list[Arm]:
    """What is tuned: for each method its grid, and the options that are the same in every setting."""
    if not (param_grid is None or isinstance(param_grid, (Mapping, list, tuple))):
        found = type(param_grid).__name__
        raise TypeError(f"param_grid is of type {found}; expected a dict, a list of dicts or None")
    grids = None if param_grid is None else [param_grid] if isinstance(param_grid, Mapping) else list(param_grid)
    if grids is not None and not grids:
        raise ValueError("param_grid is an empty list; expected at least one dict")
    out: list[Arm] = []
    taken: set[int] = set()
    for one in estimators:
        method = one._method
        fixed = given_texts(method, one)
        grid = None
        if grids is not None:
            own = [axes for axes in grids if len(estimators) == 1 or all(method.option(name) for name in axes)]
            if not own:
                continue
            taken.update(id(axes) for axes in own)
            texts = [_axes(method, axes) for axes in own]
            named = {name for axes in texts for name in axes}
            # What one dict varies is the estimator's own in those that do not name it.
            texts = [{**{name: [text] for name, text in fixed.items() if name in named}, **axes} for axes in texts]
            fixed = {name: text for name, text in fixed.items() if name not in named}
            grid = json.dumps(texts)
        out.append((method.name, grid, [(name, [text]) for name, text in fixed.items()]))
    for axes in grids or []:
        if id(axes) not in taken:
            raise ValueError(f"param_grid: no estimator has all of the parameters {', '.join(map(str, axes))}")
    return out


def _axes(method: Method, axes: Any) -> dict[str, list[str]]:
    """A dict of parameters and values by the command line's names, values as texts."""
    if not isinstance(axes, Mapping):
        found = type(axes).__name__
        raise TypeError(f"param_grid holds a value of type {found}; expected a dict of parameters and values")
    out = {}
    for name, values in axes.items():
        option = method.option(name)
        if option is None:
            known = ", ".join(o.parameter for o in method.options)
            raise ValueError(f"param_grid: {method.name} has no parameter {name!r}; expected some of {known}")
        single = isinstance(values, (str, bytes)) or getattr(values, "ndim", 1) == 0
        listed = [values] if single or not isinstance(values, Iterable) else list(values)
        if not listed:
            raise ValueError(f"param_grid: {name} has no values; expected at least one")
        out[option.name] = [option.text(value) for value in listed]
    return out


def _setting(row: dict[str, Any], with_metric: bool) -> dict[str, Any]:
    """A row of the table as parameters of the method's estimator."""
    method = METHODS[row["method"]]
    texts = {**row["options"], "metric": row["metric"]} if with_metric else row["options"]
    return {o.parameter: o.value(texts[o.name]) for o in method.options if o.name in texts}


def _results(table: list[dict[str, Any]]) -> dict[str, Any]:
    masked: Any = np.ma  # its functions are not typed
    with_metric = any(row["metric"] != "none" for row in table)
    params = [_setting(row, with_metric) for row in table]
    folds = np.array([row["folds"] for row in table])
    scores = np.array([-row["value"] for row in table])
    out: dict[str, Any] = {"params": params, "method": np.array([row["method"] for row in table], dtype=object)}
    for name in dict.fromkeys(name for setting in params for name in setting):
        column = masked.masked_all(len(params), dtype=object)
        for i, setting in enumerate(params):
            if name in setting:
                column[i] = setting[name]
        out[f"param_{name}"] = column
    out["mean_test_score"] = scores
    # The best first: those on all folds, then by how many they were tried on.
    better = [(-f, -s) for f, s in zip(folds.tolist(), scores.tolist())]
    order = sorted(better)
    out["rank_test_score"] = np.array([order.index(one) + 1 for one in better], dtype=np.int32)
    out["n_folds"] = folds
    return out
