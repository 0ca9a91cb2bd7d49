"""What nobody should hand in, and some do: it is refused in plain words, or means what it seems to."""

from __future__ import annotations

import os
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import bagwise
from bagwise import TLLLP, BagGridSearchCV, InvCal, bag_proportion_error, diagnose, make_bags, make_transfer_bags
from bagwise._bags import number_bags
from bagwise._features import read_features

pd = pytest.importorskip("pandas")

X = np.array([[0.0, 1.0], [0.2, 0.5], [1.0, 0.1], [0.9, 0.7], [0.1, 0.3], [0.8, 0.9]])
BAGS = [1, 1, 2, 2, 3, 3]
SHARES = {1: 0.0, 2: 1.0, 3: 0.5}


def fit(**other: Any) -> InvCal:
    return InvCal().fit(**{"X": X, "bags": BAGS, "proportions": SHARES, **other})


def test_a_loaded_model_of_numbered_names_checks_their_order(tmp_path: Any, recwarn: Any) -> None:
    frame = pd.DataFrame(X, columns=["x1", "x2"])
    fit(X=frame).save(tmp_path / "model.json")
    model = bagwise.load(tmp_path / "model.json")
    assert model.decision_function(frame).tolist() == model.decision_function(X).tolist()
    assert not recwarn.list
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[["x2", "x1"]])
    with pytest.warns(UserWarning, match="has feature names"):
        model.predict(frame.rename(columns={"x1": "a"}))


MASKED: dict[str, dict[str, Any]] = {
    "X": {"X": np.ma.array(X, mask=X > 0.95)},
    "a row of X": {"X": [*X.tolist()[:5], np.ma.array([0.8, 0.9], mask=[0, 1])]},
    "bags": {"bags": np.ma.array(BAGS, mask=[0, 0, 1, 0, 0, 0])},
    "a bag in a list": {"bags": [1, 1, np.ma.masked, 2, 3, 3]},
    "proportions": {"proportions": np.ma.array([0, 1, 0.5], mask=[0, 0, 1])},
    "delta": {"delta": np.ma.array(np.zeros(6), mask=[1, 0, 0, 0, 0, 0])},
}


@pytest.mark.parametrize("where", MASKED)
def test_masked_values_are_refused(where: str) -> None:
    with pytest.raises(ValueError, match="masked|bag is missing"):
        TLLLP().fit(**{"X": X, "bags": BAGS, "proportions": SHARES, **MASKED[where]})


def test_masked_predictions_are_refused() -> None:
    with pytest.raises(ValueError, match="predicted has masked values"):
        bag_proportion_error(np.ma.array([0, 1, 1], mask=[0, 0, 1]), [1, 1, 2], {1: 0.5, 2: 1})


def test_bags_beyond_64_bits_stay_apart() -> None:
    for kind in (np.float64, np.longdouble):
        numbered = number_bags(np.array([2.0**63, 2.0**64, 1e19, -(2.0**70)], dtype=kind), 4)
        assert numbered.values == [2**63, 2**64, 10**19, -(2**70)]
    assert number_bags([Fraction(4, 2), Decimal(2), Decimal("1e30")], 3).values == [2, 10**30]


CELLS: dict[str, Any] = {
    "datetime64": np.datetime64("2020-01-01"),
    "timedelta64": np.timedelta64(3, "D"),
    "a missing value": pd.NA,
    "no time": pd.NaT,
    "a timestamp": pd.Timestamp("2020-01-01"),
    "a dict": {},
    "a list": [1.0],
    "too large": 10**400,
    "text": "b",
}


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("kind", [np.array, pd.DataFrame])
def test_a_cell_that_is_no_number_is_named(cell: str, kind: Any) -> None:
    cells = np.array(X.tolist(), dtype=object)
    cells[2, 1] = CELLS[cell]
    with pytest.raises((ValueError, TypeError), match=r"X: row 3: column 2 \((x2|1)\): .*; expected a finite number"):
        read_features(kind(cells))


def test_ragged_rows_are_named() -> None:
    with pytest.raises(ValueError, match="X: row 3 has 1 columns, row 1 has 2 columns; expected rows of the same"):
        fit(X=[[0, 1], [2, 3], [4], [0, 1], [2, 3], [4, 5]])


def test_numbers_of_any_type_are_numbers() -> None:
    fractions = np.array([[Fraction(str(x)) for x in row] for row in X.tolist()], dtype=object)
    decimals = pd.DataFrame([[Decimal(str(x)) for x in row] for row in X.tolist()])
    text = fit().model_.text()
    assert fit(X=fractions).model_.text() == fit(X=decimals).model_.text() == text
    shares = {1: Decimal(0), 2: Fraction(1), 3: Decimal("0.5")}
    assert InvCal(C=Decimal(1)).fit(X, BAGS, shares).model_.text() == text


@pytest.mark.parametrize("kind", [set, frozenset])
def test_what_has_no_order_is_refused(kind: Any) -> None:
    with pytest.raises(TypeError, match="proportions are of type .*set, which has no order; expected a dict"):
        fit(proportions=kind([0, 1, 0.5]))
    with pytest.raises(TypeError, match="bags are of type .*set, which has no order"):
        fit(bags=kind(range(6)))


def test_too_wide_a_matrix_is_refused_at_once() -> None:
    wide = scipy.sparse.csr_matrix((2, 2**31 + 5))
    with pytest.raises(ValueError, match="sparse matrix of 2147483653 columns; expected at most"):
        read_features(wide)


def test_unaligned_arrays_are_copied() -> None:
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    odd = raw[1:].view(np.float64).reshape(X.shape)
    odd[:] = X
    assert not odd.flags.aligned
    assert fit(X=odd).model_.text() == fit().model_.text()


def test_a_subclass_may_have_a_constructor_of_its_own(tmp_path: Any) -> None:
    class Mine(InvCal):
        def __init__(self, cost: float = 3.0) -> None:
            self.cost = cost
            self.C = cost

    model = Mine().fit(X, BAGS, SHARES)
    assert model.model_.text() == InvCal(C=3.0).fit(X, BAGS, SHARES).model_.text()
    assert model.predict(X).shape == (6,)
    model.save(tmp_path / "m")
    assert Mine.load(tmp_path / "m").C == 3
    search = BagGridSearchCV(Mine(), {"epsilon": [0.1, 0.2]}, cv=3, combine="best").fit(X, BAGS, SHARES)
    assert type(search.best_estimator_) is Mine and search.best_estimator_.C == 3
    assert search.best_estimator_.epsilon == search.best_params_["epsilon"]


def test_the_seed_is_loaded(tmp_path: Any) -> None:
    InvCal(random_state=7).fit(X, BAGS, SHARES).save(tmp_path / "m")
    assert bagwise.load(tmp_path / "m").random_state == InvCal.load(tmp_path / "m").random_state == 7


@pytest.mark.parametrize("load", [bagwise.load, InvCal.load])
def test_files_that_cannot_be_opened_are_the_usual_errors(load: Any, tmp_path: Any) -> None:
    model = fit()
    for path, fault in [("", FileNotFoundError), (tmp_path / "none", FileNotFoundError), (tmp_path, IsADirectoryError)]:
        with pytest.raises(fault):
            load(path)
    for path, fault in [
        ("", FileNotFoundError),
        (tmp_path / "none" / "m", FileNotFoundError),
        (tmp_path, IsADirectoryError),
    ]:
        with pytest.raises(fault):
            model.save(path)
    for call in (load, model.save):
        with pytest.raises(ValueError, match="embedded null"):
            call(f"{tmp_path}/m\0.json")
    assert list(tmp_path.iterdir()) == []


def test_paths_need_not_be_text(tmp_path: Any) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"caf\xe9")
    model = fit()
    model.save(os.fsdecode(path))
    assert os.listdir(os.fsencode(tmp_path)) == [b"caf\xe9"]
    for name in (path, os.fsdecode(path)):
        assert bagwise.load(name).model_.text() == model.model_.text()
    with open(path, "w") as out:
        out.write("no model")
    with pytest.raises(ValueError, match=r"caf\\xe9"):
        bagwise.load(path)


def test_wrong_arguments_are_named() -> None:
    lone = "a\udc80"
    frame = pd.DataFrame(X, columns=["a", lone])
    calls: list[tuple[Any, type[Exception], str]] = [
        (lambda: fit(allow_leak=1), TypeError, "allow_leak = 1 is of type int; expected True or False"),
        (lambda: fit(align_features="no"), TypeError, "align_features = 'no'"),
        (lambda: InvCal(verbose=2).fit(X, BAGS, SHARES), TypeError, "verbose = 2"),
        (lambda: diagnose(X, BAGS, SHARES, folds=10**30), ValueError, "folds = 10+ breaks folds <= 1000"),
        (lambda: diagnose(X, BAGS, SHARES, bootstrap=10**9), ValueError, "bootstrap <= 100000"),
        (lambda: BagGridSearchCV(InvCal(), repeats=2**70).fit(X, BAGS, SHARES), ValueError, "repeats <= 1000"),
        (lambda: make_bags(None, [0, 1], size=2**64), ValueError, "size = 18446744073709551616 breaks"),
        (lambda: make_transfer_bags(features=2**64), ValueError, "features = 18446744073709551616 breaks"),
        (lambda: make_transfer_bags(kind=None), TypeError, "kind = None is of type NoneType"),
        (lambda: fit().predict(X, task=lone), ValueError, "task: the text .* cannot be encoded"),
        (lambda: TLLLP(kernel=lone).fit(X, BAGS, SHARES), ValueError, "kernel: the text .* cannot be encoded"),
        (lambda: BagGridSearchCV(InvCal(), criterion=lone).fit(X, BAGS, SHARES), ValueError, "criterion: the text"),
        (lambda: fit(X=frame), ValueError, "a feature's name: the text .* cannot be encoded"),
        (lambda: fit(bags=[1, 1, 2, 2, lone, lone]), ValueError, "a bag's name: the text .* cannot be encoded"),
        (lambda: fit(proportions={**SHARES, lone: 0.5}), ValueError, "proportions: the text .* cannot be encoded"),
        (lambda: fit(X=NoStream()), TypeError, "X: __arrow_c_stream__ gave a value of type int; expected a PyCapsule"),
    ]
    for call, fault, message in calls:
        with pytest.raises(fault, match=message):
            call()


class NoStream:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return 5


def test_arguments_may_be_numpys() -> None:
    InvCal(n_jobs=2**40, verbose=np.False_).fit(X, BAGS, SHARES, allow_leak=np.True_, align_features=np.False_)


def test_grid_values_may_be_any_sequence() -> None:
    for values, count in [(range(1, 3), 2), (pd.Series([1.0, 2.0]), 2), (np.array(2.0), 1), (2, 1)]:
        search = BagGridSearchCV(InvCal(), {"C": values}, cv=3).fit(X, BAGS, SHARES)
        assert len(search.cv_results_["params"]) == count
    with pytest.raises(TypeError, match="param_grid is of type int; expected a dict"):
        BagGridSearchCV(InvCal(), 5).fit(X, BAGS, SHARES)


def test_a_search_warns_of_a_delta_it_does_not_use() -> None:
    with pytest.warns(bagwise.BagwiseWarning, match="delta is not used: inv-cal"):
        BagGridSearchCV(InvCal(), {"C": [1]}, cv=3).fit(X, BAGS, SHARES, delta=0.1)


def test_a_diagnosis_counts_its_findings() -> None:
    def shown(learnable: str, findings: int) -> str:
        return repr(bagwise.Diagnosis({"tasks": [{"learnable": learnable}], "findings": [{}] * findings}, ""))

    assert shown("unclear", 1) == "<Diagnosis: unclear, 1 finding>"
    assert shown("no", 2) == "<Diagnosis: not learnable, 2 findings>"


def test_progress_needs_no_stderr(monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stderr", None)
    InvCal(verbose=True).fit(X, BAGS, SHARES)


def test_names_on_one_side_only_are_told() -> None:
    source = (pd.DataFrame(X, columns=["a", "b"]), BAGS, SHARES)
    with pytest.warns(bagwise.BagwiseWarning, match="source X has names of features and X has none: columns are"):
        TLLLP().fit(X, BAGS, SHARES, source=source)
    with pytest.raises(ValueError, match="expected names in both"):
        TLLLP().fit(X, BAGS, SHARES, source=source, align_features=True)


def test_a_model_without_names_is_diagnosed_on_data_with_names_and_back(data: Any) -> None:
    X, bags, proportions = data.target
    frame = pd.DataFrame(X).rename(columns=lambda j: f"f{j}")
    source = (pd.DataFrame(data.source[0]).rename(columns=lambda j: f"f{j}"), *data.source[1:])
    how: dict[str, Any] = {"folds": 2, "bootstrap": 0}
    plain = bagwise.TLLLP().fit(X, bags, proportions, source=data.source)
    named = bagwise.TLLLP().fit(frame, bags, proportions, source=source)
    expected = bagwise.diagnose(X, bags, proportions, source=data.source, estimator=plain, **how).to_dict()["model"]
    with pytest.warns(bagwise.BagwiseWarning, match="X has names of features and the model has none"):
        found = bagwise.diagnose(frame, bags, proportions, source=source, estimator=plain, **how)
    assert found.to_dict()["model"] == expected
    with pytest.warns(bagwise.BagwiseWarning, match="the model has names of features and X has none"):
        found = bagwise.diagnose(X, bags, proportions, source=data.source, estimator=named, **how)
    assert found.to_dict()["model"]["bags"] == expected["bags"]


@pytest.mark.parametrize("shares", [{1: 0.0, 2: 1.5, 3: 0.5}, [0.0, 1.5, 0.5], pd.Series([0.0, 1.5, 0.5], [1, 2, 3])])
def test_a_share_that_is_none_is_told_with_its_bag(shares: Any) -> None:
    with pytest.raises(ValueError, match='^proportions: bag "2": "1.5" is outside'):
        InvCal().fit(X, BAGS, shares)
