"""Pictures of what was learnt: shares of bags, transfer between tasks, a search along one parameter."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bagwise import _core
from bagwise._bags import Bags, KnownShares
from bagwise._base import Classifier
from bagwise._features import Features, read_features
from bagwise._options import whole_number
from bagwise._selection import BagGridSearchCV
from bagwise._tasks import known_bags

# A matplotlib Axes; matplotlib is loaded by a call, not by `import bagwise`.
Axes = Any

_MOST_NAMED_BAGS = 8
_MOST_STYLES = 6
_INK, _PALE, _COLOURS = "0.1", "0.65", ("#0b0b0b", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#7a5c00")
_MARKERS, _DASHES = ("s", "D", "^", "v", "P", "X"), ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))


def plot_proportions(
    estimator: Classifier,
    X: Features,
    bags: Bags,
    proportions: KnownShares,
    *,
    task: str | int = "target",
    ax: Axes | None = None,
) -> Axes:
    """Draw the known share of each bag against the predicted one.

    The predicted share is the mean probability of the bag's rows. Its bar holds 95 % of the shares that independent
    rows of these probabilities give: a bag whose bar does not meet the diagonal is further from it than chance
    explains. Bags that do not fit even though many were looked at (Holm's rule, 5 %) are marked, the worst by name.

    Parameters
    ----------
    estimator : fitted estimator or BagGridSearchCV
        Whose predictions.
    X, bags, proportions
        Rows in bags, as `fit` takes them: those of the fit, or better some that it has not seen.
    task : str or int, default="target"
        Whose plane: "target", "source", "source-2", ... or a number from 1, the target last.
    ax : matplotlib Axes or None, default=None
        Where to draw. None: a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from bagwise import InvCal, make_transfer_bags, plot_proportions
    >>> data = make_transfer_bags(target_rows=320, features=20)
    >>> ax = plot_proportions(InvCal().fit(*data.target), *data.target)
    >>> ax.get_xlabel()
    'known share of positives'
    """
    _check_estimator(estimator)
    positive = estimator.predict_proba(X, task=task)[:, 1]
    known = known_bags(bags, proportions, len(positive))
    seen = _core.fit_by_bag(known, np.ascontiguousarray(positive))
    share, low, high, surprise = seen["share"], seen["low"], seen["high"], seen["p_value"]
    fits = seen["adjusted"] > 0.05
    error = float(np.mean(np.abs(share - known.proportions)))

    ax = _new_axes(ax, (5.2, 5.0))
    shown = np.concatenate([known.proportions, low, high])
    limits = (max(shown.min() - 0.04, -0.03), min(shown.max() + 0.04, 1.03))
    ax.plot([0, 1], [0, 1], color=_PALE, linewidth=1, linestyle="--", zorder=1, label="predicted = known")
    area = 12 + 48 * known.bag_sizes / known.bag_sizes.max()
    groups = (
        (fits, _INK, "o", "white", "bag, with its interval of 95 %"),
        (~fits, _COLOURS[1], "X", _COLOURS[1], "bag that does not fit"),
    )
    for group, colour, marker, fill, label in groups:
        if not group.any():
            continue
        x, y = known.proportions[group], share[group]
        bars = np.vstack([y - low[group], high[group] - y]).clip(min=0)
        dense = len(share) > 100 and marker == "o"
        ax.errorbar(x, y, bars, fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.25 if dense else 0.7, zorder=2)
        ax.scatter(x, y, area[group], marker=marker, facecolor=fill, edgecolor=colour, linewidth=0.9, zorder=3,
                   label=f"{label} ({group.sum()})")  # fmt: skip
    for k in np.argsort(surprise, kind="stable")[: min(_MOST_NAMED_BAGS, int((~fits).sum()))]:
        left = known.proportions[k] < 0.75
        name = known.bag_names[k].replace("$", r"\$")
        ax.annotate(name, (known.proportions[k], share[k]), (7 if left else -7, 0), fontsize="small",
                    textcoords="offset points", ha="left" if left else "right", va="center")  # fmt: skip
    ax.set(xlim=limits, ylim=limits, xlabel="known share of positives", ylabel="predicted share of positives")
    ax.set_aspect("equal")
    named = "" if str(task) == "target" else f" of {task}"
    ax.set_title(f"Shares of {len(share)} bags{named}: mean error {error:.3f}")
    ax.legend(loc="upper left", fontsize="small", frameon=False)
    return ax


def plot_transfer(estimator: Classifier, X: Features | None = None, *, ax: Axes | None = None, top: int = 12) -> Axes:
    """Draw how the target's plane stands to those of its sources, feature by feature.

    The features that weigh most in any task, the heaviest on top: the weight in the target, in every source and, where
    the method has one, in the part that all tasks share. Marks close together: the feature means the same everywhere. A
    long line: the target differs. Marks on two sides of zero: it means the opposite.

    Parameters
    ----------
    estimator : fitted estimator or BagGridSearchCV
        One with a source; of linear models only.
    X : array, sparse matrix or DataFrame of shape (n_rows, n_features), or None, default=None
        Rows to measure the spread of features by: weights are then those of one standard deviation, and features in
        different units can be compared. None: weights of raw values.
    ax : matplotlib Axes or None, default=None
        Where to draw. None: a new figure.
    top : int, default=12
        How many features.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from bagwise import TLLLP, make_transfer_bags, plot_transfer
    >>> data = make_transfer_bags(target_rows=320, source_rows=640, features=20)
    >>> ax = plot_transfer(TLLLP().fit(*data.target, source=data.source), top=5)
    >>> len(ax.get_yticks())
    5
    """
    _check_estimator(estimator)
    model = estimator.model_
    if len(model.tasks) < 2:
        # An average over settings of which some learn alone has no source either.
        best = ' and combine="best"' if isinstance(estimator, BagGridSearchCV) else ""
        raise ValueError(
            f"this {type(estimator).__name__} has the plane of the target only; "
            f"expected one that transfers, fitted with source=(X, bags, proportions){best}"
        )
    if not model.linear:
        raise ValueError("a kernel model has no weight for each feature; expected a linear one (kernel='linear')")
    spread = np.ones(len(model.features)) if X is None else _spread(X, len(model.features))
    weights = np.array([model.plane(t)[0] for t in range(len(model.tasks))]) * spread
    shared = model.shared_weights()
    heaviest = np.argsort(-np.abs(weights).max(axis=0), kind="stable")[: whole_number("top", top, 1)]
    names = [model.features[j] for j in heaviest]
    places = np.arange(len(heaviest))

    ax = _new_axes(ax, (6.4, 1.6 + 0.3 * len(heaviest)))
    ax.axvline(0, color=_PALE, linewidth=1, zorder=1)
    chosen = weights[:, heaviest]
    ax.hlines(places, chosen.min(axis=0), chosen.max(axis=0), color=_PALE, linewidth=1.5, zorder=1)
    for t, task in enumerate(model.tasks[:-1]):
        ax.plot(chosen[t], places, linestyle="none", marker=_MARKERS[t % len(_MARKERS)], markersize=6,
                markerfacecolor="white", markeredgecolor=_COLOURS[1 + t % (len(_COLOURS) - 1)], label=task)  # fmt: skip
    if shared is not None and len(shared) == len(spread):
        ax.plot((shared * spread)[heaviest], places, linestyle="none", marker="|", markersize=11, markeredgewidth=1.5,
                color="0.35", label="part that all share")  # fmt: skip
    ax.plot(chosen[-1], places, linestyle="none", marker="o", markersize=7, color=_INK, label=model.tasks[-1])
    ax.set_yticks(places, [_shortened(name) for name in names])
    ax.set_ylim(len(heaviest) - 0.4, -0.6)
    ax.set_xlabel("weight" + (" on raw values" if X is None else " of one standard deviation"))
    ax.set_title("\n".join(["Weights in target and source", *_relation(model)]), fontsize="medium")
    ax.grid(axis="x", color="0.92")
    ax.set_axisbelow(True)
    ax.legend(loc="best", fontsize="small", frameon=True, framealpha=0.9, edgecolor="none")
    return ax


def plot_path(search: BagGridSearchCV, *, param: str = "C", ax: Axes | None = None) -> Axes:
    """Draw what a search found along one parameter.

    The criterion on held-out bags (lower is better) by the values of the parameter, a line for each combination of the
    others. The best combinations have a style of their own, the rest are pale. The best setting is marked. Settings
    that halving dropped are not comparable and are left out.

    Parameters
    ----------
    search : fitted BagGridSearchCV
        The search.
    param : str, default="C"
        The parameter on the horizontal axis.
    ax : matplotlib Axes or None, default=None
        Where to draw. None: a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from bagwise import BagGridSearchCV, InvCal, make_transfer_bags, plot_path
    >>> data = make_transfer_bags(target_rows=320, features=20)
    >>> search = BagGridSearchCV(InvCal(), {"C": [0.1, 1, 10], "epsilon": [0, 0.1]}).fit(*data.target)
    >>> ax = plot_path(search)
    >>> ax.get_xlabel()
    'C'
    """
    if not isinstance(search, BagGridSearchCV):
        raise TypeError(f"search is of type {type(search).__name__}; expected a fitted BagGridSearchCV")
    check_is_fitted(search, "cv_results_")
    results = search.cv_results_
    settings = [dict(params, method=method) for params, method in zip(results["params"], results["method"])]
    value = -np.asarray(results["mean_test_score"], dtype=np.float64)
    whole = np.asarray(results["n_folds"]) == np.max(results["n_folds"])
    names = list(dict.fromkeys(name for one in settings for name in one))
    varying = [name for name in names if len({_text(one.get(name, _ABSENT)) for one in settings}) > 1]
    if param not in names or param == "method":
        vary = ", ".join(name for name in varying if name != "method") or "none"
        raise ValueError(f"no setting of the search names the parameter {param!r}; those that vary are {vary}")
    others = [name for name in varying if name != param]

    lines: dict[str, list[int]] = {}
    for k, one in enumerate(settings):
        if whole[k] and param in one:
            label = ", ".join(_item(name, one[name]) for name in others if name in one)
            lines.setdefault(label, []).append(k)
    if not lines:
        raise ValueError(f"no setting with the parameter {param!r} was tried on all folds")
    axis = _Axis([settings[k][param] for ks in lines.values() for k in ks])
    ranked = sorted(lines.items(), key=lambda item: (search.best_index_ not in item[1], value[item[1]].min()))

    below = len(lines) > 3  # where the legend hides nothing
    ax = _new_axes(ax, (6.4, 4.4 + (0.2 * min(len(lines), _MOST_STYLES + 1) if below else 0)))
    for rank, (label, ks) in reversed(list(enumerate(ranked))):
        ks = sorted(ks, key=lambda k: axis.place(settings[k][param]))
        at = [axis.place(settings[k][param]) for k in ks]
        if rank < _MOST_STYLES:
            ax.plot(at, value[ks], color=_COLOURS[rank], linestyle=_DASHES[rank], marker=_MARKERS[rank], markersize=5,
                    markerfacecolor="white", label=label or None, zorder=4 - rank / 10)  # fmt: skip
        else:
            rest = f"{len(ranked) - _MOST_STYLES} further combinations" if rank == _MOST_STYLES else None
            ax.plot(at, value[ks], color="0.8", linewidth=0.8, zorder=2, label=rest)
    best = search.best_index_
    if param in settings[best]:
        chosen = settings[best][param]
        ax.plot([axis.place(chosen)], [value[best]], linestyle="none", marker="*", markersize=15, color=_INK, zorder=5,
                label=f"best: {_item(param, chosen)}")  # fmt: skip
    axis.dress(ax)
    ax.set(xlabel=param, ylabel=f"{search.criterion} on held-out bags (lower is better)")
    shown, folds = sum(len(ks) for ks in lines.values()), int(np.max(results["n_folds"]))
    left = f" ({len(settings) - shown} not shown)" if shown < len(settings) else ""
    ax.set_title(f"{shown} settings on {folds} folds{left}")
    ax.grid(color="0.92")
    ax.set_axisbelow(True)
    handles, labels = ax.get_legend_handles_labels()
    order = np.argsort([_legend_rank(text, [label for label, _ in ranked]) for text in labels], kind="stable")
    place: dict[str, Any] = {"loc": "best", "framealpha": 0.9, "edgecolor": "none"}
    if below:
        columns = 1 if len(max(labels, key=len)) > 30 else 2
        place = {"loc": "upper left", "bbox_to_anchor": (-0.02, -0.14), "frameon": False, "ncol": columns}
    ax.legend([handles[i] for i in order], [labels[i] for i in order], fontsize="small", **place)
    return ax


class _Absent:
    """In place of a parameter that a setting does not name."""


_ABSENT = _Absent()


class _Axis:
    """Where the values of a parameter stand: by size where they are numbers, else one after the other."""

    def __init__(self, values: list[Any]) -> None:
        self.numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) for v in values)
        distinct = {_text(value): value for value in values}  # a list, one number per source, has no hash
        self.values = sorted(set(values)) if self.numbers else [distinct[text] for text in sorted(distinct)]
        self.log = self.numbers and self.values[0] > 0 and self.values[-1] >= 10 * self.values[0]

    def place(self, value: Any) -> float:
        return float(value) if self.numbers else float([_text(one) for one in self.values].index(_text(value)))

    def dress(self, ax: Axes) -> None:
        from matplotlib.ticker import NullFormatter, NullLocator

        if self.log:
            ax.set_xscale("log")
        if not self.numbers or len(self.values) <= 10:
            ax.set_xticks([self.place(value) for value in self.values], [_text(value) for value in self.values])
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_minor_formatter(NullFormatter())


def _legend_rank(text: str, ranked: list[str]) -> int:
    if text.startswith("best: "):
        return -1
    return ranked.index(text) if text in ranked else len(ranked)


def _text(value: Any) -> str:
    if value is None:
        return "auto"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _item(name: str, value: Any) -> str:
    return str(value) if name == "method" else f"{name} = {_text(value)}"


def _shortened(name: str, most: int = 30) -> str:
    name = name if len(name) <= most else name[: most - 3] + "..."
    return name.replace("$", r"\$")  # no formula of matplotlib's


def _check_estimator(estimator: Any) -> None:
    if not isinstance(estimator, Classifier):
        raise TypeError(f"estimator is of type {type(estimator).__name__}; expected a fitted estimator of bagwise")
    check_is_fitted(estimator, "model_")


def _new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as fault:
        raise ImportError("pictures need matplotlib, which is not installed (pip install matplotlib)") from fault
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _spread(X: Features, columns: int) -> NDArray[np.float64]:
    """The standard deviation of each feature."""
    import scipy.sparse

    read_features(X).rows.check_finite("X")
    if scipy.sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(square - mean**2, 0))
    else:
        spread = np.std(np.asarray(X, dtype=np.float64), axis=0)
    if spread.shape != (columns,):
        raise ValueError(f"X has {spread.size} features; expected the {columns} of the fit")
    out: NDArray[np.float64] = spread
    return out


def _relation(model: _core.Model) -> Iterator[str]:
    """How far each source is from the target, as the report of the fit says it."""
    tasks = model.report().get("tasks", [])
    if len(tasks) != len(model.tasks) or "angles" not in tasks[-1]:
        return
    angles = tasks[-1]["angles"][:-1]
    if len(angles) == 1:
        yield f"{angles[0]:.0f} degrees apart; {100 * tasks[-1]['shared_part']:.0f} % of the target's plane is shared"
    else:
        apart = ", ".join(f"{task['name']} {angle:.0f}" for task, angle in zip(tasks, angles))
        yield f"degrees from the target: {apart}"
        yield f"{100 * tasks[-1]['shared_part']:.0f} % of the target's plane is shared"
