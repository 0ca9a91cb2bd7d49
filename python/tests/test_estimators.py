"""The estimators are scikit-learn's kind: parameters, clones, pickles, attributes, files."""

from __future__ import annotations

import inspect
import os
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

import bagwise
from bagwise import TLLLP, AlterPSVM, ConvPSVM, InvCal, MeanMap, TLCount
from bagwise._options import METHODS, threads_of

pytestmark = pytest.mark.filterwarnings("ignore:the objective is negative")

ALL = [TLLLP, InvCal, MeanMap, AlterPSVM, ConvPSVM, TLCount]
# Short of what each method would do by default, where that takes long.
QUICK: dict[type, dict[str, Any]] = {AlterPSVM: {"restarts": 2}, ConvPSVM: {"scale": "standard"}}


def quick(cls: type, **parameters: Any) -> Any:
    return cls(**{**QUICK.get(cls, {}), **parameters})


@pytest.fixture(params=ALL, ids=lambda cls: cls.__name__)
def fitted(request: pytest.FixtureRequest, data: Any) -> Any:
    return quick(request.param).fit(*data.target)


def test_every_method_has_an_estimator() -> None:
    assert {cls._method.name for cls in ALL} == set(METHODS)


@pytest.mark.parametrize("cls", ALL)
def test_parameters_are_the_options_of_the_method(cls: type) -> None:
    parameters = inspect.signature(cls).parameters
    assert set(cls().get_params()) == set(parameters)
    assert "lambda" not in parameters and not any("-" in name for name in parameters)
    for option in METHODS[cls._method.name].options:
        assert parameters[option.parameter].default == option.default
        assert f"\n    {option.parameter} : " in cls.__doc__


@pytest.mark.parametrize("cls", ALL)
def test_parameters_survive_cloning_and_repr(cls: type) -> None:
    name = next(iter(cls().get_params()))
    value = np.float64(0.5)
    original = cls(**{name: value})
    assert getattr(original, name) is value
    assert clone(original).get_params() == original.get_params()
    assert repr(original) == f"{cls.__name__}({name}={value!r})"
    assert is_classifier(original)


def test_unknown_parameters_and_positional_ones_are_type_errors() -> None:
    with pytest.raises(TypeError, match="nonsense"):
        InvCal(nonsense=1)
    with pytest.raises(TypeError, match="positional"):
        InvCal(1.0)
    with pytest.raises(ValueError, match="nonsense"):
        InvCal().set_params(nonsense=1)


def test_set_params_changes_the_next_fit(data: Any) -> None:
    model = InvCal(C=0.01).fit(*data.target)
    before = model.coef_
    after = model.set_params(C=10).fit(*data.target).coef_
    assert not np.array_equal(before, after)
    assert np.array_equal(after, InvCal(C=10).fit(*data.target).coef_)


def test_attributes_of_a_fit(fitted: Any, data: Any) -> None:
    X = data.X_test
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.n_features_in_ == X.shape[1] and not hasattr(fitted, "feature_names_in_")
    assert fitted.coef_.shape == (1, X.shape[1]) and fitted.intercept_.shape == (1,)
    assert fitted.n_iter_ >= 0
    scores = fitted.decision_function(X)
    np.testing.assert_allclose(scores, X @ fitted.coef_[0] + fitted.intercept_[0], rtol=1e-9, atol=1e-9)
    assert np.array_equal(fitted.predict(X), (scores > 0).astype(int))
    both = fitted.predict_proba(X)
    assert both.shape == (len(X), 2)
    np.testing.assert_allclose(both.sum(axis=1), 1, rtol=1e-12)
    assert (np.diff(both[np.argsort(scores), 1]) >= 0).all()


def test_labels_may_meet_the_shares_of_bags(data: Any) -> None:
    X, bags, shares = data.target
    model = InvCal().fit(X, bags, shares)
    labels, scores = model.predict(X, bags=bags, proportions=shares), model.decision_function(X)
    for bag, share in shares.items():
        inside = bags == bag
        assert labels[inside].mean() == share  # shares of these bags are whole numbers of rows
        assert scores[inside & (labels == 1)].min(initial=np.inf) >= scores[inside & (labels == 0)].max(initial=-np.inf)
    assert np.array_equal(labels, model.predict(X, bags=bags, proportions=[shares[bag] for bag in sorted(shares)]))
    with pytest.raises(ValueError, match="one of bags and proportions is given; expected both or none"):
        model.predict(X, bags=bags)
    with pytest.raises(ValueError, match="bags have 3 entries for 160 rows"):
        model.predict(X, bags=[1, 2, 3], proportions=shares)


def test_score_is_the_accuracy_with_either_kind_of_labels(fitted: Any, data: Any) -> None:
    X, y = data.X_test, data.y_test
    accuracy = np.mean(fitted.predict(X) == y)
    assert fitted.score(X, y) == accuracy
    assert fitted.score(X, 2 * y - 1) == accuracy
    assert fitted.score(X, y, sample_weight=np.where(fitted.predict(X) == y, 1, 0)) == 1
    with pytest.raises(ValueError, match="expected labels 0/1 or -1/1"):
        fitted.score(X, y + 1)


def test_report_tells_objective_options_and_seconds(fitted: Any) -> None:
    report = fitted.report_
    assert report["method"] == fitted._method.name
    assert np.isfinite(report["objective"])
    assert set(report["options"]) == {option.name for option in fitted._method.options}
    assert report["seconds"]["total"] >= report["seconds"]["solve"] >= 0


def test_an_unfitted_estimator_says_so() -> None:
    model = InvCal()
    for attribute in ("coef_", "intercept_", "report_", "n_iter_", "classes_", "model_"):
        assert not hasattr(model, attribute)
    with pytest.raises(NotFittedError):
        model.predict([[1.0]])
    with pytest.raises(NotFittedError):
        model.save("nowhere.json")


def test_pickles_keep_every_bit(fitted: Any, data: Any) -> None:
    again = pickle.loads(pickle.dumps(fitted))
    assert again.get_params() == fitted.get_params()
    assert np.array_equal(again.decision_function(data.X_test), fitted.decision_function(data.X_test))
    assert np.array_equal(again.predict_proba(data.X_test), fitted.predict_proba(data.X_test))
    assert again.report_ == fitted.report_


def test_files_keep_every_bit_and_the_parameters(fitted: Any, data: Any, tmp_path: Any) -> None:
    path = tmp_path / "model.json"
    fitted.save(path)
    for again in (bagwise.load(path), type(fitted).load(str(path))):
        assert type(again) is type(fitted)
        assert again.get_params() == fitted.get_params()
        assert np.array_equal(again.decision_function(data.X_test), fitted.decision_function(data.X_test))
        assert not hasattr(again, "feature_names_in_")
    other = InvCal if type(fitted) is not InvCal else MeanMap
    with pytest.raises(ValueError, match=f"is a model of {fitted._method.name}; expected one of {other._method.name}"):
        other.load(path)


def test_loading_what_is_no_model_is_an_error(tmp_path: Any) -> None:
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(ValueError, match="no.json"):
        bagwise.load(tmp_path / "no.json")
    with pytest.raises((ValueError, OSError), match="absent.json"):
        bagwise.load(tmp_path / "absent.json")


@pytest.mark.parametrize("cls", [TLLLP, AlterPSVM, TLCount])
def test_sources_have_planes_of_their_own(cls: type, data: Any) -> None:
    model = quick(cls, **({"init": "tl-llp"} if cls is AlterPSVM else {})).fit(*data.target, source=data.source)
    X = data.X_test
    assert np.array_equal(model.decision_function(X), model.decision_function(X, task="target"))
    if cls is AlterPSVM:
        return
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_[0], model.decision_function(X), rtol=1e-9)
    source = model.decision_function(X, task="source")
    assert not np.array_equal(source, model.decision_function(X))
    assert np.array_equal(source, model.decision_function(X, task=1))
    assert np.array_equal(model.predict(X, task="source"), (source > 0).astype(int))
    with pytest.raises(ValueError, match='this model has no task "source-2"'):
        model.predict_proba(X, task="source-2")


def test_several_sources_take_numbers_of_their_own(data: Any) -> None:
    pair = [data.source, data.source]
    alike = TLLLP(C_source=[0.25, 0.25]).fit(*data.target, source=pair)
    assert np.array_equal(alike.coef_, TLLLP().fit(*data.target, source=pair).coef_)
    unlike = TLLLP(C_source=(0.25, 4)).fit(*data.target, source=pair)
    assert not np.array_equal(alike.coef_, unlike.coef_)
    assert unlike.decision_function(data.X_test, task="source-2").shape == data.y_test.shape
    with pytest.raises(ValueError, match="C_source"):
        TLLLP(C_source=[1, 2, 3]).fit(*data.target, source=pair)


def test_kernel_models_have_no_plane(data: Any) -> None:
    model = InvCal(kernel="rbf").fit(*data.target)
    assert not hasattr(model, "coef_") and not hasattr(model, "intercept_")
    with pytest.raises(AttributeError, match="there is no plane"):
        model.coef_
    assert model.decision_function(data.X_test).shape == data.y_test.shape


def test_seeds_and_threads(data: Any) -> None:
    def scores(**parameters: Any) -> Any:
        return AlterPSVM(restarts=1, init="random", **parameters).fit(*data.target).decision_function(data.X_test)

    first = scores()
    assert np.array_equal(first, scores(n_jobs=1)) and np.array_equal(first, scores(n_jobs=2))
    assert np.array_equal(first, scores(random_state=np.int64(1), n_jobs=-2))
    assert np.array_equal(scores(random_state=np.random.RandomState(3)), scores(random_state=np.random.RandomState(3)))
    generator = np.random.default_rng(3)
    np.random.seed(3)
    drawn = [scores(random_state=generator), scores(random_state=generator), scores(random_state=None)]
    assert any(not np.array_equal(one, first) for one in drawn)


def test_numbers_of_threads_count_from_all_cores() -> None:
    cores = len(os.sched_getaffinity(0))
    assert [threads_of(n) for n in (None, -1, 1, 3)] == [0, 0, 1, 3]
    assert threads_of(-2) == max(1, cores - 1) and threads_of(-1000) == 1


def test_calibration_changes_probabilities_only(data: Any) -> None:
    plain = InvCal().fit(*data.target)
    by_bags = InvCal(calibrate="bags").fit(*data.target)
    assert np.array_equal(plain.coef_, by_bags.coef_)
    assert not np.array_equal(plain.predict_proba(data.X_test), by_bags.predict_proba(data.X_test))


WRONG_TYPES = [
    (TLLLP, "C", "1"), (TLLLP, "C", None), (TLLLP, "C", True), (TLLLP, "C", [1.0]), (TLLLP, "C_source", ["a"]),
    (TLLLP, "C_source", []), (TLLLP, "degree", 2.0), (TLLLP, "tube", 3), (TLLLP, "clip", "auto"),
    (AlterPSVM, "reheat", 1), (InvCal, "calibrate", 0), (InvCal, "random_state", "a"), (InvCal, "random_state", True),
    (InvCal, "n_jobs", 1.5), (InvCal, "n_jobs", "all"),
]
WRONG_VALUES = [
    (TLLLP, "C", -1, r"C = -1 breaks C > 0"),
    (TLLLP, "C", np.inf, r'C: "inf" is not a finite number'),
    (TLLLP, "C_source", [1, -1], r"C_source = 1,-1 breaks C_source > 0"),
    (MeanMap, "lam", 0.0, r"lam = 0 breaks lam > 0"),
    (TLLLP, "max_rounds", 0, r"max_rounds = 0 breaks max_rounds >= 1"),
    (TLLLP, "tube", "wide", r'tube: "wide" is not one of constant, calibrated'),
    (InvCal, "calibrate", "yes", r'calibrate: "yes" is not one of none, bags'),
    (InvCal, "random_state", -1, r"random_state = -1 is no seed"),
    (InvCal, "n_jobs", 0, r"n_jobs = 0 is no number of threads"),
]


@pytest.mark.parametrize(("cls", "name", "value"), WRONG_TYPES)
def test_a_value_of_a_wrong_type_is_a_type_error_at_fit(cls: type, name: str, value: Any, data: Any) -> None:
    with pytest.raises(TypeError, match=f"^{name} = .*expected "):
        cls(**{name: value}).fit(*data.target, **({"source": data.source} if name == "C_source" else {}))


@pytest.mark.parametrize(("cls", "name", "value", "message"), WRONG_VALUES)
def test_a_bad_value_is_a_value_error_at_fit(cls: type, name: str, value: Any, message: str, data: Any) -> None:
    with pytest.raises(ValueError, match="^" + message):
        cls(**{name: value}).fit(*data.target, **({"source": data.source} if name == "C_source" else {}))


def test_numbers_may_be_numpys(data: Any) -> None:
    plain = TLLLP(C=2, degree=2, scale="standard").fit(*data.target)
    other = TLLLP(C=np.float32(2), degree=np.int8(2), scale=np.str_("standard")).fit(*data.target)
    assert np.array_equal(plain.coef_, other.coef_)
    assert np.array_equal(plain.coef_, TLLLP(C=np.array(2.0), scale="standard").fit(*data.target).coef_)


def test_sources_where_none_are_taken_are_an_error(data: Any) -> None:
    for cls in (InvCal, MeanMap, ConvPSVM):
        with pytest.raises(ValueError, match="learns from the target alone"):
            cls().fit(*data.target, source=data.source)
    with pytest.raises(TypeError, match="expected a tuple"):
        TLLLP().fit(*data.target, source="s.csv")
    with pytest.raises(TypeError, match="a source is a tuple of 2"):
        TLLLP().fit(*data.target, source=[data.source[:2]])
    with pytest.raises(ValueError, match="C_source"):
        TLLLP(C_source=2).fit(*data.target)


def test_inputs_are_left_alone(data: Any) -> None:
    X, bags, proportions = data.target
    before = X.copy(), bags.copy(), dict(proportions)
    TLLLP().fit(X, bags, proportions, delta=np.full(len(bags), 0.1)).predict(X)
    assert np.array_equal(X, before[0]) and np.array_equal(bags, before[1]) and proportions == before[2]
