"""Pictures: what is drawn is what was computed, and nothing else is touched."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
import scipy.sparse
from matplotlib import pyplot
from matplotlib.collections import PathCollection
from sklearn.exceptions import NotFittedError

import bagwise
from bagwise import _core
from bagwise._tasks import known_bags


@pytest.fixture(autouse=True)
def _no_figures_left() -> Any:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def data() -> Any:
    return bagwise.make_transfer_bags(size=16, target_rows=320, source_rows=640, features=12, random_state=2)


@pytest.fixture(scope="module")
def helped(data: Any) -> Any:
    return bagwise.TLLLP().fit(*data.target, source=data.source)


def labels_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def bag_figures(rows: Any, count: float) -> tuple[float, float, float, float]:
    """Mean, interval and p-value of a bag of these probabilities with so many positives."""
    known = known_bags(np.zeros(len(rows), dtype=int), [count / len(rows)], len(rows))
    seen = _core.fit_by_bag(known, rows)
    return seen["share"][0], seen["low"][0], seen["high"][0], seen["p_value"][0]


def chances(rows: Any) -> Any:
    """Of every count, row by row."""
    chance = np.zeros(len(rows) + 1)
    chance[0] = 1
    for p in rows:
        chance[1:] = chance[1:] * (1 - p) + chance[:-1] * p
        chance[0] *= 1 - p
    return chance


def test_the_chance_of_counts_is_that_of_all_labelings() -> None:
    rng = np.random.default_rng(4)
    for size in (1, 2, 5, 8):
        rows = rng.random(size)
        chance = np.zeros(size + 1)
        for labels in itertools.product((0, 1), repeat=size):
            chance[sum(labels)] += np.prod(np.where(labels, rows, 1 - rows))
        assert np.cumsum(chances(rows)) == pytest.approx(np.cumsum(chance))
        for count in range(size + 1):
            mean, low, high, surprise = bag_figures(rows, count)
            assert mean == pytest.approx(rows.mean())
            tails = np.sum(chance[: count + 1]), np.sum(chance[count:])
            assert surprise == pytest.approx(min(1, 2 * min(tails)))
            if low * size <= count <= high * size:
                assert min(tails) >= 0.025 - 1e-12
            else:
                assert min(tails) < 0.025 + 1e-12


def test_large_bags_are_near_to_the_exact_ones() -> None:
    rows = np.random.default_rng(1).random(2500)  # beyond what is exact
    chance = chances(rows)
    for count in range(1180, 1320, 20):
        tails = np.sum(chance[: count + 1]), np.sum(chance[count:])
        assert bag_figures(rows, count)[3] == pytest.approx(min(1, 2 * min(tails)), abs=4e-3)


def test_many_looks_are_allowed_for() -> None:
    rng = np.random.default_rng(2)
    known = known_bags(np.repeat(np.arange(9), 6), rng.integers(0, 7, 9) / 6, 54)
    seen = _core.fit_by_bag(known, rng.random(54))
    order = np.argsort(seen["p_value"], kind="stable")
    steps = np.minimum(1, seen["p_value"][order] * np.arange(9, 0, -1))
    assert seen["adjusted"][order] == pytest.approx(np.maximum.accumulate(steps))


def test_proportions_are_drawn_by_bag(data: Any) -> None:
    X, bags, known = data.target
    model = bagwise.InvCal().fit(X, bags, known)
    ax = bagwise.plot_proportions(model, X, bags, known)
    points = np.vstack([group.get_offsets() for group in ax.collections if isinstance(group, PathCollection)])
    positive = model.predict_proba(X)[:, 1]
    wanted = sorted((share, positive[np.asarray(bags) == bag].mean()) for bag, share in known.items())
    assert np.array(sorted(map(tuple, points.tolist()))) == pytest.approx(np.array(wanted), rel=1e-12)
    error = bagwise.bag_proportion_error(positive, bags, known)
    assert ax.get_title() == f"Shares of 20 bags: mean error {error:.3f}"
    assert ax.get_xlabel() and ax.get_ylabel()
    assert labels_of(ax)[0] == "predicted = known"


def test_bags_that_do_not_fit_are_marked_by_name(data: Any) -> None:
    X, bags, known = data.target
    model = bagwise.InvCal().fit(X, bags, known)
    bag = min(known, key=lambda b: abs(known[b] - 0.5))
    ax = bagwise.plot_proportions(model, X, bags, {**known, bag: 1.0})
    assert "bag that does not fit (1)" in labels_of(ax)
    assert [text.get_text() for text in ax.texts] == [bag]


def test_proportions_of_the_source_and_given_axes(data: Any, helped: Any) -> None:
    figure, ax = pyplot.subplots()
    assert bagwise.plot_proportions(helped, *data.source, task="source", ax=ax) is ax
    assert ax.get_title().startswith("Shares of 40 bags of source: ")
    assert pyplot.get_fignums() == [figure.number]


def test_transfer_shows_the_weights_of_every_task(data: Any, helped: Any) -> None:
    ax = bagwise.plot_transfer(helped, top=4)
    planes = [helped.model_.plane(t)[0] for t in (0, 1)]
    heaviest = np.argsort(-np.max(np.abs(planes), axis=0), kind="stable")[:4]
    assert [t.get_text() for t in ax.get_yticklabels()] == [f"x{j + 1}" for j in heaviest]
    drawn = {line.get_label(): line.get_xdata() for line in ax.lines}
    assert drawn["target"] == pytest.approx(helped.coef_[0][heaviest])
    assert drawn["source"] == pytest.approx(planes[0][heaviest])
    assert drawn["part that all share"] == pytest.approx(helped.model_.shared_weights()[heaviest])
    assert labels_of(ax) == ["source", "part that all share", "target"]
    assert "degrees apart" in ax.get_title()


def test_weights_of_one_deviation_do_not_depend_on_units(data: Any) -> None:
    X, bags, known = data.target
    Xs, bags_s, known_s = data.source
    drawn = []
    for units in (np.ones(X.shape[1]), np.logspace(-3, 3, X.shape[1])):
        model = bagwise.TLLLP(scale="standard", uncertainty="off")
        model.fit(X * units, bags, known, source=(Xs * units, bags_s, known_s))
        ax = bagwise.plot_transfer(model, X * units)
        drawn.append({line.get_label(): np.asarray(line.get_xdata()) for line in ax.lines})
    for label in ("source", "part that all share", "target"):
        assert drawn[0][label] == pytest.approx(drawn[1][label], rel=1e-3, abs=1e-4)


def test_spread_is_the_same_of_every_form(helped: Any, data: Any) -> None:
    X = data.target[0]
    pandas = pytest.importorskip("pandas")
    forms = [X, X.astype(np.float32), scipy.sparse.csr_matrix(X), pandas.DataFrame(X)]
    drawn = [bagwise.plot_transfer(helped, form).lines[-1].get_xdata() for form in forms]
    for one in drawn[1:]:
        assert one == pytest.approx(drawn[0], rel=1e-5)


def test_several_sources_have_marks_of_their_own(data: Any) -> None:
    model = bagwise.TLLLP().fit(*data.target, source=[data.source, data.source])
    ax = bagwise.plot_transfer(model)
    assert labels_of(ax)[:2] == ["source", "source-2"]
    assert len({line.get_marker() for line in ax.lines if line.get_label() in ("source", "source-2", "target")}) == 3


def test_a_path_has_a_line_for_each_combination(data: Any) -> None:
    grid = {"C": [0.1, 1, 10], "epsilon": [0.01, 0.1]}
    search = bagwise.BagGridSearchCV(bagwise.InvCal(), grid, combine="best").fit(*data.target)
    ax = bagwise.plot_path(search)
    drawn = {line.get_label(): line for line in ax.lines}
    for epsilon in grid["epsilon"]:
        line = drawn[f"epsilon = {epsilon}"]
        found = zip(search.cv_results_["params"], search.cv_results_["mean_test_score"])
        value = {params["C"]: -score for params, score in found if params["epsilon"] == epsilon}
        assert list(line.get_xdata()) == sorted(value)
        assert list(line.get_ydata()) == [value[C] for C in sorted(value)]
    best = drawn[f"best: C = {search.best_params_['C']:g}"]
    assert (best.get_xdata()[0], best.get_ydata()[0]) == (search.best_params_["C"], -search.best_score_)
    assert ax.get_xscale() == "log"
    assert ax.get_ylabel() == "miscount on held-out bags (lower is better)"
    assert labels_of(ax)[0].startswith("best: ")


def test_a_path_along_names_and_over_methods(data: Any) -> None:
    grid = [{"C": [0.1, 1, 10], "scale": ["none", "standard"]}]
    methods = [bagwise.InvCal(), bagwise.TLLLP()]
    search = bagwise.BagGridSearchCV(methods, grid, combine="best").fit(*data.target)
    ax = bagwise.plot_path(search, param="scale")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["none", "standard"]
    assert any(label.endswith("tl-llp") for label in labels_of(ax))


def test_many_combinations_are_pale(data: Any) -> None:
    grid = {"C": [0.1, 1], "epsilon": [0.01 * k for k in range(10)]}
    ax = bagwise.plot_path(bagwise.BagGridSearchCV(bagwise.InvCal(), grid, combine="best").fit(*data.target))
    assert len(ax.lines) == 11
    assert "4 further combinations" in labels_of(ax)
    assert len(labels_of(ax)) == 8


def test_settings_that_halving_dropped_are_left_out(data: Any) -> None:
    search = bagwise.BagGridSearchCV(bagwise.InvCal(), search="halving", combine="best").fit(*data.target)
    ax = bagwise.plot_path(search)
    whole = np.asarray(search.cv_results_["n_folds"]) == max(search.cv_results_["n_folds"])
    assert 0 < whole.sum() < len(whole)
    assert sum(len(line.get_xdata()) for line in ax.lines) == whole.sum() + 1
    assert f"({len(whole) - whole.sum()} not shown)" in ax.get_title()


def test_what_cannot_be_drawn_is_said(data: Any, helped: Any) -> None:
    X, bags, known = data.target
    with pytest.raises(NotFittedError):
        bagwise.plot_proportions(bagwise.InvCal(), X, bags, known)
    with pytest.raises(NotFittedError):
        bagwise.plot_transfer(bagwise.TLLLP())
    with pytest.raises(NotFittedError):
        bagwise.plot_path(bagwise.BagGridSearchCV(bagwise.InvCal()))
    with pytest.raises(TypeError, match="expected a fitted estimator of bagwise"):
        bagwise.plot_transfer("model.json")
    with pytest.raises(TypeError, match="expected a fitted BagGridSearchCV"):
        bagwise.plot_path(helped)
    with pytest.raises(ValueError, match="this TLLLP has the plane of the target only; expected one that transfers"):
        bagwise.plot_transfer(bagwise.TLLLP().fit(X, bags, known))
    average = bagwise.BagGridSearchCV(bagwise.TLLLP(), [{"C": [1]}, {"lam": [1e-6]}]).fit(X, bags, known)
    with pytest.raises(ValueError, match='and combine="best"'):
        bagwise.plot_transfer(average)
    with pytest.raises(ValueError, match="a kernel model has no weight for each feature"):
        bagwise.plot_transfer(bagwise.TLLLP(kernel="rbf").fit(X, bags, known, source=data.source))
    with pytest.raises(ValueError, match="X has 3 features; expected the 12 of the fit"):
        bagwise.plot_transfer(helped, X[:, :3])
    with pytest.raises(ValueError, match="task"):
        bagwise.plot_proportions(helped, X, bags, known, task="nowhere")
    search = bagwise.BagGridSearchCV(bagwise.InvCal(), {"C": [1, 2]}, combine="best").fit(X, bags, known)
    with pytest.raises(ValueError, match="no setting of the search names the parameter 'gamma'; those that vary are C"):
        bagwise.plot_path(search, param="gamma")


def test_a_search_can_be_drawn_as_an_estimator(data: Any) -> None:
    for combine in ("average", "best"):
        search = bagwise.BagGridSearchCV(bagwise.TLLLP(), {"C": [0.1, 1]}, combine=combine)
        search.fit(*data.target, source=data.source)
        assert "target" in labels_of(bagwise.plot_transfer(search))
        assert bagwise.plot_proportions(search, *data.target).get_title().startswith("Shares of 20 bags: ")


def test_a_kernel_model_has_shares_to_draw(data: Any) -> None:
    model = bagwise.InvCal(kernel="rbf").fit(*data.target)
    assert bagwise.plot_proportions(model, *data.target).get_title().startswith("Shares of 20 bags: ")


def test_nothing_but_a_figure_is_made(data: Any, helped: Any) -> None:
    before = dict(matplotlib.rcParams)
    bagwise.plot_transfer(helped)
    bagwise.plot_proportions(helped, *data.target)
    assert dict(matplotlib.rcParams) == before
    assert len(pyplot.get_fignums()) == 2


def test_matplotlib_is_loaded_when_it_is_needed() -> None:
    loaded = "'matplotlib' in sys.modules"
    code = f"import sys, bagwise; print({loaded}, bagwise.plot_path.__name__, {loaded})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "plot_path", "False"]


def test_a_path_over_lists_and_a_spread_of_gaps(data: Any) -> None:
    import bagwise

    search = bagwise.BagGridSearchCV(bagwise.TLLLP(), {"C_source": [[1.0], [2.0]]}, cv=3, combine="best")
    search.fit(*data.target, source=data.source)
    bagwise.plot_path(search, param="C_source")
    model = bagwise.TLLLP().fit(*data.target, source=data.source)
    gaps = data.target[0].copy()
    gaps[3, 1] = float("nan")
    with pytest.raises(ValueError, match="X: row 4: column 2"):
        bagwise.plot_transfer(model, gaps)
