"""What all estimators do: fit to bags, predict single rows, save and load."""

from __future__ import annotations

import errno
import os
import stat
import textwrap
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from bagwise import _core
from bagwise._bags import Bags, KnownShares
from bagwise._features import Features, Table, check_not_masked, numbered_names, read_features
from bagwise._options import (
    ATTRIBUTES,
    CALIBRATE,
    METHODS,
    Method,
    checked_text,
    flag,
    given_texts,
    in_python,
    parameters_of,
    parameters_section,
    python_names,
    seed_of,
    signature_of,
    threads_of,
)
from bagwise._progress import watching
from bagwise._tasks import Tasks, known_bags, list_sources, make_tasks
from bagwise._warnings import BagwiseWarning, warn

Self = TypeVar("Self", bound="Estimator")


def zero_one(y: Any) -> NDArray[np.int64]:
    """Labels 0/1 or -1/1 as 0/1; ValueError for others. They are only ever used to evaluate."""
    check_not_masked(y, "y")
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y has the shape {labels.shape}; expected one label for each row, in one dimension")
    found = set(np.unique(labels).tolist())
    if not (found <= {0, 1} or found <= {-1, 1}):
        raise ValueError(f"y has the values {sorted(found, key=str)[:5]}; expected labels 0/1 or -1/1")
    out: NDArray[np.int64] = (labels == 1).astype(np.int64)
    return out


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions of a trained model: what the estimators and BagGridSearchCV have in common."""

    model_: _core.Model
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def decision_function(self, X: Features, *, task: str | int = "target") -> NDArray[np.float64]:
        """Scores of rows: above 0 is the positive class.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or Arrow stream of shape (n_rows, n_features)
            The rows, with the features of the fit.
        task : str or int, default="target"
            Whose plane: "target", "source", "source-2", ... or a number from 1, the target last.

        Returns
        -------
        array of shape (n_rows,)
        """
        model = self._fitted_model()
        number = model.find_task(checked_text(str(task), "task"))
        table = self._checked_rows(X)
        threads = threads_of(getattr(self, "n_jobs", None))
        table.rows.check_finite("X", threads)
        return model.scores(table.rows, number, threads)

    def predict(
        self, X: Features, *, task: str | int = "target", bags: Bags = None, proportions: KnownShares = None
    ) -> NDArray[np.int64]:
        """The class of each row, 0 or 1: 1 where its score is above 0, or as the shares of its bag have it.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or Arrow stream of shape (n_rows, n_features)
            The rows, with the features of the fit.
        task : str or int, default="target"
            Whose plane: "target", "source", "source-2", ... or a number from 1, the target last.
        bags : array-like of shape (n_rows,) or None, default=None
            The bag of each row, where the shares of these bags are known too.
        proportions : dict, Series, array, DataFrame or None, default=None
            The known share of each bag, as `fit` takes them: in a bag of n rows the round(share * n) highest scores
            get label 1, of equal scores the earlier rows.

        Returns
        -------
        array of shape (n_rows,)
        """
        scores = self.decision_function(X, task=task)
        if (bags is None) != (proportions is None):
            raise ValueError("one of bags and proportions is given; expected both or none")
        if bags is not None:
            known = known_bags(bags, proportions, len(scores))
            return _core.matched_labels(scores, known.bag_of_row, known.proportions)
        out: NDArray[np.int64] = (scores > 0).astype(np.int64)
        return out

    def predict_proba(self, X: Features, *, task: str | int = "target") -> NDArray[np.float64]:
        """The probability of both classes for each row.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or Arrow stream of shape (n_rows, n_features)
            The rows, with the features of the fit.
        task : str or int, default="target"
            Whose plane: "target", "source", "source-2", ... or a number from 1, the target last.

        Returns
        -------
        array of shape (n_rows, 2)
            Of the negative and of the positive class, in the order of `classes_`.
        """
        scores = self.decision_function(X, task=task)
        return self.model_.probabilities(scores, self.model_.find_task(str(task)))

    def score(self, X: Features, y: Any, sample_weight: Any = None) -> float:
        """Accuracy on rows whose labels are known. For evaluation only: no fit ever sees a label.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or Arrow stream of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Their labels, 0/1 or -1/1.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            What each row counts.

        Returns
        -------
        float
            The share of rows whose label is predicted.
        """
        return float(accuracy_score(zero_one(y), self.predict(X), sample_weight=sample_weight))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: the command line's own format, which `bagwise predict` and `bagwise.load` read.

        Parameters
        ----------
        path : str or path
            Where it goes. A crash leaves the old file or the new one, never half of one.
        """
        write_model(self._fitted_model(), path)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the target's plane on raw values, of shape (1, n_features); only of linear models.

        Of an average of planes it is their mean plane, whose scores are not quite those of the average.
        """
        return self._plane("coef_")[0][np.newaxis, :]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of the target's plane, of shape (1,); only of linear models."""
        return np.array([self._plane("intercept_")[1]])

    @property
    def n_iter_(self) -> int:
        """Rounds of the method, or steps of its solver."""
        return int(self._trained("n_iter_").report()["rounds"])

    def _trained(self, attribute: str) -> _core.Model:
        """The model for an attribute that is there after a fit only."""
        model: _core.Model | None = vars(self).get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} has no {attribute}: it is not fitted yet")
        return model

    def _plane(self, attribute: str) -> tuple[NDArray[np.float64], float]:
        model = self._trained(attribute)
        if not model.linear:
            raise AttributeError(f"this {type(self).__name__} has no {attribute}: with a kernel there is no plane")
        return model.plane(len(model.tasks) - 1)

    def _fitted_model(self) -> _core.Model:
        check_is_fitted(self, "model_")
        return self.model_

    def _keep(self, model: _core.Model, named: bool) -> None:
        """Sets what a trained model says of itself."""
        self.model_ = model
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = len(model.features)
        if named:
            self.feature_names_in_ = np.array(model.features, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _checked_rows(self, X: Features) -> Table:
        """Rows whose features are those of the fit; complaints are scikit-learn's."""
        table = read_features(X)
        known = getattr(self, "feature_names_in_", None)
        me = type(self).__name__
        if known is None and table.named and set(table.names) == set(self.model_.features):
            known = np.array(self.model_.features, dtype=object)  # x1, x2, ... by chance or by name
        if known is not None and table.named:
            _check_names(table.names, known.tolist())
        elif known is not None:
            warn(UserWarning, f"X does not have valid feature names, but {me} was fitted with feature names")
        elif table.named:
            warn(UserWarning, f"X has feature names, but {me} was fitted without feature names")
        if table.rows.columns != self.n_features_in_:
            raise ValueError(
                f"X has {table.rows.columns} features, but {me} is expecting {self.n_features_in_} features as input"
            )
        return table

    def _more_tags(self) -> dict[str, Any]:  # of scikit-learn before 1.6
        return {"binary_only": True, "X_types": ["2darray", "sparse"]}

    def __sklearn_tags__(self) -> Any:  # of scikit-learn from 1.6 on
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


class Estimator(Classifier):
    """A method of learning from bags; each estimator is a class of its own."""

    _method: ClassVar[Method]
    n_jobs: int | None
    verbose: bool
    calibrate: str
    random_state: Any

    def fit(
        self: Self,
        X: Features,
        bags: Bags,
        proportions: KnownShares,
        *,
        source: Any = None,
        delta: Any = None,
        align_features: bool = False,
        allow_leak: bool = False,
    ) -> Self:
        """Fit to rows in bags whose shares of positives are known. No label is needed, and none is taken.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or Arrow stream of shape (n_rows, n_features)
            The rows. Row-major float64 and CSR are read in place. Names of columns are kept.
        bags : array-like of shape (n_rows,)
            The bag of each row: integers or text, in any order.
        proportions : dict, Series, array or DataFrame
            The share of positives of each bag: by bag (a dict, or a Series with bags as its index), an array in the
            order of the sorted bags, or a DataFrame with the columns of a proportions file: bag and proportion or bag,
            positives and size, and perhaps stderr or epsilon_dp of noisy ones.
        source : tuple (X, bags, proportions[, delta]), list of such tuples, or None
            The data of related tasks, for methods that transfer.
        delta : float, array-like of shape (n_rows,), or None
            How far each row may be from its true place, for methods that take uncertain rows.
        align_features : bool, default=False
            Where target and sources have different features, take them all: 0 where a table lacks one.
        allow_leak : bool, default=False
            Accept a feature that tells every bag's proportion exactly.

        Returns
        -------
        self
        """
        method = self._method
        options = given_texts(method, self)
        seed, threads = seed_of(self.random_state), threads_of(self.n_jobs)
        calibrate = CALIBRATE.chosen(self.calibrate) == "bags"
        verbose, allow_leak = flag("verbose", self.verbose), flag("allow_leak", allow_leak)
        with python_names():
            _core.check_options(method.name, options, len(list_sources(source)))
        if delta is not None and not method.uses_sources:  # those that do may start from TL-LLP's planes
            warn(BagwiseWarning, f"delta is not used: {method.name} takes the rows as exact")
        tasks = make_tasks(X, bags, proportions, source, delta, align_features)
        with python_names(), watching(verbose) as watch:
            model, seconds = _core.fit(
                method.name,
                options,
                tasks.tasks,
                seed=seed,
                threads=threads,
                calibrate=calibrate,
                allow_leak=allow_leak,
                watch=watch,
            )
        self._keep_fit(model, tasks, seconds)
        return self

    @property
    def report_(self) -> dict[str, Any]:
        """What `bagwise train --json` prints: objective, gap, rounds, options as used, warnings, seconds of the fit."""
        report = self._trained("report_").report()
        seconds = getattr(self, "_seconds", None)
        return report if seconds is None else {**report, "seconds": dict(seconds)}

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Read a model file: of `save`, or of the command line. Its parameters are those it was trained with.

        `calibrate` is not kept, its effect is: probabilities are those of the model that was saved.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        estimator
            A fitted one. A model of another method is an error; `bagwise.load` takes any.
        """
        model = read_model(path)
        if model.method != cls._method.name:
            raise ValueError(
                f"{readable(path)}: is a model of {model.method}; expected one of {cls._method.name} "
                "(bagwise.load takes any)"
            )
        return cls._of_model(model)

    @classmethod
    def _of_model(cls: type[Self], model: _core.Model) -> Self:
        """A fitted estimator that holds this model."""
        used = model.options
        known = {"random_state": model.report().get("seed", 1)}
        for option in cls._method.options:
            value = used.get(option.name, option.default)
            # The best setting of an average has its values as texts.
            known[option.parameter] = option.value(value) if isinstance(value, str) else value
        own = cls._get_param_names()
        out: Self = cls(**{name: value for name, value in known.items() if name in own})
        for name, value in known.items():
            setattr(out, name, value)  # a subclass may have a constructor of its own
        out._keep(model, named=model.features != numbered_names(len(model.features)))
        return out

    def _keep_fit(self, model: _core.Model, tasks: Tasks, seconds: dict[str, float]) -> None:
        self._keep(model, tasks.named)
        self._seconds = seconds
        warn_of(model)


def warn_of(model: _core.Model) -> None:
    """Warns of what the model's report says, and of a fit that ended early."""
    for warning in model.warnings:
        warn(BagwiseWarning, in_python(warning))
    if model.termination != "converged":
        warn(ConvergenceWarning, f"the fit ended by {model.termination} before it reached what was asked")


def readable(path: Any) -> str:
    """A path as messages show it."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_model(path: Any) -> _core.Model:
    """The model in a file; what cannot be opened is the OSError that open() has for it."""
    name = os.fspath(path)
    mode = os.stat(name).st_mode  # a NUL in the name is a ValueError here
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if stat.S_ISREG(mode):
        with open(name, "rb"):
            pass
    encoded: Any = os.fsencode(name)  # a std::string takes bytes, and a name need not be text
    try:
        return _core.Model.load(encoded)
    except ValueError as fault:
        if str(fault) and not isinstance(fault, UnicodeDecodeError):
            raise
        # A message that has the name in it is lost where the name is no text.
        raise ValueError(f"{readable(name)}: is not a model file of bagwise") from None


def write_model(model: _core.Model, path: Any) -> None:
    """Writes a model file; no folder to write to, or a folder of this name, is the OSError that open() has for it."""
    name = os.fspath(path)
    if os.path.isdir(name):  # not so where a NUL is in the name
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    encoded: Any = os.fsencode(name)
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    folder = os.path.dirname(encoded) or b"."
    fault = 0
    if not encoded or not os.path.exists(folder):
        fault = errno.ENOENT
    elif not os.path.isdir(folder):
        fault = errno.ENOTDIR
    elif not os.access(folder, os.W_OK | os.X_OK):
        fault = errno.EACCES
    if fault:
        raise OSError(fault, os.strerror(fault), name)
    try:
        model.save(encoded)
    except ValueError as error:
        if str(error) and not isinstance(error, UnicodeDecodeError):
            raise
        raise ValueError(f"{readable(name)}: cannot be written") from None


def _check_names(found: list[str], known: list[str]) -> None:
    if found == known:
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(found) - set(known)), sorted(set(known) - set(found))
    if unseen:
        message += "Feature names unseen at fit time:\n" + _some(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _some(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(message)


def _some(names: list[str]) -> str:
    most = 5
    return "".join(f"- {name}\n" for name in names[:most]) + ("- ...\n" if len(names) > most else "")


def estimator(method_name: str, rounds: str) -> Any:
    """Gives a class its method: the constructor's signature, and parameters and attributes in its docstring."""
    method = METHODS[method_name]
    signature = signature_of(method)

    def __init__(self: Any, /, *args: Any, **parameters: Any) -> None:
        bound = signature.bind(self, *args, **parameters)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__doc__ = "See the class."

    def finish(cls: type) -> type:
        cls._method = method  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[misc]
        for option in parameters_of(method):  # for a subclass whose constructor does not set them all
            setattr(cls, option.parameter, option.default)
        sections = {"{parameters}": parameters_section(method), "{attributes}": ATTRIBUTES.format(rounds=rounds)}
        for mark, section in sections.items():
            cls.__doc__ = (cls.__doc__ or "").replace(mark, _indented(section))
        return cls

    return finish


def _indented(text: str) -> str:
    """As it stands in a docstring, whose mark is indented already."""
    return textwrap.indent(text, "    ").lstrip()
