"""Folds of bags and searches over settings."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from bagwise import TLLLP, BagGridSearchCV, BagKFold, InvCal, MeanMap, TLCount


def test_folds_hold_whole_bags_each_once() -> None:
    rng = np.random.default_rng(1)
    for trial in range(20):
        bags = rng.integers(0, 30, 200)
        known = dict(zip(np.unique(bags).tolist(), rng.random(len(np.unique(bags)))))
        splits = list(BagKFold(4, random_state=trial).split(None, bags, known if trial % 2 else None))
        assert len(splits) == 4
        assert sorted(np.concatenate([test for _, test in splits]).tolist()) == list(range(200))
        for train, test in splits:
            assert sorted([*train, *test]) == list(range(200))
            assert not set(bags[train]) & set(bags[test])


def test_folds_are_alike_in_proportion_and_size() -> None:
    bags = np.repeat(np.arange(40), 5)
    known = np.repeat([0.1, 0.9], 20)
    for _, test in BagKFold(5).split(np.zeros((200, 1)), bags, known):
        assert len(test) == 40
        assert known[bags[test]].mean() == pytest.approx(0.5)


def test_folds_follow_the_seed_and_the_names_of_bags_do_not_matter() -> None:
    bags = np.arange(100) // 4
    known = np.linspace(0, 1, 25)

    def tests(seed: int, bags: Any = bags) -> list[list[int]]:
        return [test.tolist() for _, test in BagKFold(5, random_state=seed).split(np.zeros((100, 2)), bags, known)]

    assert tests(1) == tests(1) != tests(2)
    assert tests(1) == tests(1, bags + 100)
    assert BagKFold(7).get_n_splits() == 7
    assert repr(BagKFold(7)) == "BagKFold(n_splits=7)"


def test_bad_folds_are_errors() -> None:
    with pytest.raises(ValueError, match="n_splits = 5 is more than the 3 bags"):
        next(BagKFold(5).split(None, [1, 2, 3]))
    with pytest.raises(ValueError, match="n_splits = 1 breaks n_splits >= 2"):
        next(BagKFold(1).split(None, [1, 2, 3]))
    with pytest.raises(TypeError, match="n_splits"):
        next(BagKFold(2.0).split(None, [1, 2, 3]))
    with pytest.raises(ValueError, match="bags have 3 entries for 2 rows"):
        next(BagKFold(2).split(np.zeros((2, 1)), [1, 2, 3]))


@pytest.fixture(scope="module")
def searched(data: Any) -> Any:
    grid = {"C": [0.25, 1, 4], "epsilon": [0.01, 0.1]}
    return BagGridSearchCV(InvCal(scale="standard"), grid, combine="best").fit(*data.target)


def test_the_best_setting_is_fitted_to_all_bags(searched: Any, data: Any) -> None:
    assert searched.best_params_["scale"] == "standard" and searched.best_params_["C"] in (0.25, 1, 4)
    alone = InvCal(**searched.best_params_).fit(*data.target)
    np.testing.assert_allclose(searched.coef_, alone.coef_, rtol=1e-4, atol=1e-6)
    best = searched.best_estimator_
    assert isinstance(best, InvCal) and best.get_params() == {**alone.get_params(), "n_jobs": None}
    assert np.array_equal(best.predict(data.X_test), searched.predict(data.X_test))
    assert np.array_equal(best.predict_proba(data.X_test), searched.predict_proba(data.X_test))
    assert searched.score(data.X_test, data.y_test) == best.score(data.X_test, data.y_test)
    assert searched.classes_.tolist() == [0, 1] and searched.n_features_in_ == 6


def test_results_are_a_table_of_all_settings(searched: Any) -> None:
    pd = pytest.importorskip("pandas")
    results = pd.DataFrame(searched.cv_results_)
    assert len(results) == 6
    assert sorted(zip(results.param_C, results.param_epsilon)) == [(C, e) for C in (0.25, 1, 4) for e in (0.01, 0.1)]
    assert set(results.method) == {"inv-cal"} and set(results.n_folds) == {5}
    for row in results.itertuples():
        assert row.params["C"] == row.param_C and row.params["epsilon"] == row.param_epsilon
    assert (results.mean_test_score <= 0).all()
    best = results.iloc[searched.best_index_]
    assert best.rank_test_score == 1 and best.mean_test_score == results.mean_test_score.max() == searched.best_score_
    assert best.params == searched.best_params_
    assert results.rank_test_score.tolist() == results.mean_test_score.rank(method="min", ascending=False).tolist()


def test_values_are_judged_on_held_out_bags(data: Any) -> None:
    """The miscount by plain loops over single fits."""
    X, bags, shares = data.target
    search = BagGridSearchCV(InvCal(), {"C": [0.5, 2]}, cv=3, combine="best").fit(X, bags, shares)
    for C, score in zip(search.cv_results_["param_C"], search.cv_results_["mean_test_score"]):
        lost = 0.0
        for train, test in BagKFold(3).split(X, bags, shares):
            known = {bag: shares[bag] for bag in set(bags[train].tolist())}
            predicted = InvCal(C=C).fit(X[train], bags[train], known).predict(X[test])
            for bag in set(bags[test].tolist()):
                inside = bags[test] == bag
                lost += inside.sum() * abs(predicted[inside].mean() - shares[bag])
        assert lost == pytest.approx(-score)


def test_parameters_off_their_default_are_held_fixed(data: Any) -> None:
    search = BagGridSearchCV(MeanMap(scale="standard"), cv=3).fit(*data.target)
    assert [params["lam"] for params in search.cv_results_["params"]] == [0.1, 1, 10]
    assert all(params["scale"] == "standard" for params in search.cv_results_["params"])
    held = BagGridSearchCV(MeanMap(lam=3.0), cv=3).fit(*data.target)
    assert [params["lam"] for params in held.cv_results_["params"]] == [3.0]
    overridden = BagGridSearchCV(MeanMap(lam=3.0), {"lam": [1, 2]}, cv=3).fit(*data.target)
    assert [params["lam"] for params in overridden.cv_results_["params"]] == [1, 2]


def test_metrics_are_tried_like_other_values(data: Any) -> None:
    grid = {"lam": [1, 2], "metric": ["none", "pca"]}
    search = BagGridSearchCV(MeanMap(), grid, cv=3, combine="best").fit(*data.target)
    tried = [(params["lam"], params["metric"]) for params in search.cv_results_["params"]]
    assert sorted(tried) == [(1, "none"), (1, "pca"), (2, "none"), (2, "pca")]
    assert search.best_estimator_.metric == search.best_params_["metric"]


def test_several_estimators_compete(data: Any) -> None:
    search = BagGridSearchCV([MeanMap(), InvCal(C=2)], cv=3, combine="best").fit(*data.target)
    methods = search.cv_results_["method"].tolist()
    assert set(methods) == {"mean-map", "inv-cal"}
    assert search.cv_results_["param_lam"].mask.tolist() == [method != "mean-map" for method in methods]
    assert search.best_estimator_._method.name == methods[search.best_index_]
    grid = [{"lam": [1, 2]}, {"C": [1], "epsilon": [0.1]}]
    own = BagGridSearchCV([MeanMap(), InvCal()], grid, cv=3).fit(*data.target)
    assert own.cv_results_["method"].tolist() == ["mean-map", "mean-map", "inv-cal"]


def test_sources_go_to_a_search(data: Any) -> None:
    search = BagGridSearchCV(TLCount(), {"lam": [0.1, 1]}, cv=3, combine="best").fit(*data.target, source=data.source)
    assert search.decision_function(data.X_test, task="source").shape == data.y_test.shape
    per_source = BagGridSearchCV(TLLLP(), {"C_source": [0.25, [0.5, 1]]}, cv=3, combine="best")
    per_source.fit(*data.target, source=[data.source, data.source])
    assert per_source.cv_results_["param_C_source"].tolist() == [0.25, [0.5, 1]]
    with pytest.raises(ValueError, match="learns from the target alone"):
        BagGridSearchCV(InvCal()).fit(*data.target, source=data.source)


def test_kernels_keep_the_best_with_a_warning(data: Any) -> None:
    with pytest.warns(UserWarning, match="no planes to average"):
        search = BagGridSearchCV(InvCal(kernel="rbf"), {"C": [0.5, 1]}, cv=3).fit(*data.target)
    assert not hasattr(search, "coef_") and search.best_estimator_.kernel == "rbf"


def test_searches_are_cloned_and_pickled(searched: Any, data: Any) -> None:
    again = pickle.loads(pickle.dumps(searched))
    assert np.array_equal(again.decision_function(data.X_test), searched.decision_function(data.X_test))
    assert again.best_params_ == searched.best_params_ and again.report_ == searched.report_
    fresh = clone(searched)
    assert not hasattr(fresh, "model_") and fresh.get_params()["estimator__scale"] == "standard"
    assert clone(BagGridSearchCV("auto")).estimator == "auto"
    assert [type(one) for one in clone(BagGridSearchCV([InvCal(), MeanMap()])).estimator] == [InvCal, MeanMap]
    fresh.set_params(estimator__scale="none", param_grid={"C": [1]}, cv=3).fit(*data.target)
    assert fresh.best_params_ == {"C": 1}


BAD = [
    (dict(estimator="inv-cal"), TypeError, 'expected an estimator of bagwise, a list of them, or "auto"'),
    (dict(estimator=InvCal), TypeError, "expected an estimator of bagwise"),
    (dict(estimator=[]), ValueError, "estimator is an empty list"),
    (dict(estimator=InvCal(calibrate="bags")), ValueError, "a search does not calibrate"),
    (dict(param_grid={"D": [1]}), ValueError, "param_grid: inv-cal has no parameter 'D'"),
    (dict(param_grid={"C": []}), ValueError, "param_grid: C has no values"),
    (dict(param_grid=[]), ValueError, "param_grid is an empty list"),
    (dict(param_grid=["C"]), TypeError, "param_grid holds a value of type str"),
    (dict(param_grid={"C": ["a"]}), TypeError, "C = 'a' is of type str"),
    (dict(param_grid={"C": [1, -1]}), ValueError, "C = -1 breaks C > 0"),
    (dict(cv=1), ValueError, "cv = 1 breaks cv >= 2"),
    (dict(cv=1000), ValueError, "cv = 1000 with 20 bags; expected from 2 to the number of bags"),
    (dict(repeats=0), ValueError, "repeats"),
    (dict(criterion="accuracy"), ValueError, "criterion"),
    (dict(combine="all"), ValueError, "combine"),
    (dict(search="random"), ValueError, "search"),
    (dict(tau="x"), TypeError, "tau"),
    (dict(tau=-1), ValueError, "tau"),
    (dict(criterion=3), TypeError, "criterion"),
]


@pytest.mark.parametrize(("arguments", "kind", "message"), BAD)
def test_a_bad_search_is_an_error_at_fit(
    arguments: dict[str, Any], kind: type[Exception], message: str, data: Any
) -> None:
    with pytest.raises(kind, match=message):
        BagGridSearchCV(**{"estimator": InvCal(), **arguments}).fit(*data.target)


def test_a_dict_that_does_not_name_a_parameter_has_the_estimators_own(data: Any) -> None:
    grid = [{"C": [1.0, 2.0]}, {"epsilon": [0.01, 0.2]}]
    search = BagGridSearchCV(InvCal(C=7.0), grid, cv=3).fit(*data.target)
    assert [setting["C"] for setting in search.cv_results_["params"]] == [1, 2, 7, 7]
    alone = BagGridSearchCV(InvCal(C=7.0), grid[1], cv=3).fit(*data.target)
    assert search.cv_results_["mean_test_score"][2:].tolist() == alone.cv_results_["mean_test_score"].tolist()
