"""Bags made from labels, generated data, errors by bag, diagnoses."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import bagwise
from bagwise import BagGridSearchCV, InvCal, bag_proportion_error, diagnose, make_bags, make_transfer_bags


def test_bags_are_full_and_their_shares_are_counts() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 3, 8, 50):
        y = rng.integers(0, 2, 43)
        bags, proportions = make_bags(np.zeros((43, 2)), y, size=size, random_state=size)
        counts = Counter(bags.tolist())
        assert sorted(counts.values()) == sorted([size] * (43 // size) + [43 % size] * (43 % size > 0))
        assert {bag: y[bags == bag].mean() for bag in counts} == proportions
        other, _ = make_bags(None, np.where(y, 1, -1), size=size, random_state=size)
        assert np.array_equal(bags, other)
        assert list(proportions) == sorted(proportions)


def test_bad_bags_to_make_are_errors() -> None:
    with pytest.raises(ValueError, match="size = 0 breaks size >= 1"):
        make_bags(None, [0, 1], size=0)
    with pytest.raises(TypeError, match="size = 2.0"):
        make_bags(None, [0, 1], size=2.0)
    with pytest.raises(ValueError, match="y has 2 labels for 3 rows"):
        make_bags(np.zeros((3, 1)), [0, 1])
    with pytest.raises(ValueError, match="expected labels 0/1 or -1/1"):
        make_bags(None, [0, 1, 2])
    with pytest.raises(ValueError, match="expected labels 0/1 or -1/1"):
        make_bags(None, [0.5, 1])


def test_generated_data_are_what_was_asked_for() -> None:
    sizes = {"source_rows": 50, "target_rows": 40, "test_rows": 30, "features": 7, "size": 8}
    made = make_transfer_bags(**sizes, best_accuracy=0.8, angle_degrees=45)
    assert made.source[0].shape == (50, 7) and made.target[0].shape == (40, 7) and made.X_test.shape == (30, 7)
    assert set(made.y_test.tolist()) == {0, 1} and len(made.target[2]) == 5
    assert made.best_accuracy == pytest.approx(0.8) and made.angle_degrees == pytest.approx(45)
    assert len(made.feature_names) == 7
    documents = make_transfer_bags("documents", source_rows=40, target_rows=40, test_rows=30)
    assert scipy.sparse.issparse(documents.target[0]) and documents.target[0].has_canonical_format
    InvCal().fit(*documents.target).predict(documents.X_test)


def test_bad_generated_data_are_errors() -> None:
    bad = [
        ({"kind": "images"}, ValueError),
        ({"preset": "near"}, ValueError),
        ({"target_rows": 0}, ValueError),
        ({"features": 1.5}, TypeError),
        ({"features": 1}, ValueError),
        ({"best_accuracy": 2.0}, ValueError),
        ({"angle_degrees": "9"}, TypeError),
    ]
    for arguments, kind in bad:
        with pytest.raises(kind):
            make_transfer_bags(**arguments)


def test_proportion_errors_by_plain_loops() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        bags = rng.integers(0, 6, 40)
        names = np.unique(bags)
        known = rng.random(len(names))
        for predicted in (rng.integers(0, 2, 40), rng.random(40)):
            expected = np.mean([abs(predicted[bags == name].mean() - share) for name, share in zip(names, known)])
            assert bag_proportion_error(predicted, bags, known) == pytest.approx(expected)
            by_name = dict(zip(names.tolist(), known))
            assert bag_proportion_error(predicted, bags.astype(str), by_name) == pytest.approx(expected)
            both = np.stack([1 - predicted, predicted], axis=1)
            assert bag_proportion_error(both, bags, known) == pytest.approx(expected)
        assert bag_proportion_error(np.full(40, -1), bags, np.zeros(len(names))) == 0
        assert bag_proportion_error([True] * 40, bags, np.ones(len(names))) == 0


def test_bad_predictions_are_errors() -> None:
    for predicted in ([2, 0], [np.nan, 0], [[0.5]], []):
        with pytest.raises(ValueError, match="predicted has"):
            bag_proportion_error(predicted, [1, 2], {1: 0, 2: 1})


def test_a_diagnosis_tells_good_bags_from_hopeless_ones(data: Any) -> None:
    made = make_transfer_bags(target_rows=400, features=5, size=8)
    found = diagnose(*made.target)
    assert found.learnable is True
    assert "can be learnt from" in str(found) and "findings" in found.to_dict()
    assert {finding["severity"] for finding in found.findings} <= {"verdict", "remark", "warning", "fault"}
    assert repr(found).startswith("<Diagnosis: learnable, ") and "<pre>" in found._repr_html_()
    X, bags, shares = made.target
    noise = np.random.default_rng(1).standard_normal(X.shape)
    assert diagnose(noise, bags, shares).learnable is False


def test_a_diagnosis_of_a_model(data: Any) -> None:
    for model in (InvCal().fit(*data.target), BagGridSearchCV(InvCal(), {"C": [1, 2]}).fit(*data.target)):
        found = diagnose(*data.target, estimator=model, folds=3, bootstrap=3)
        assert len(found.findings) > len(diagnose(*data.target).findings) or "model" in found.to_dict()
    with pytest.raises(TypeError, match="estimator is of type str"):
        diagnose(*data.target, estimator="m.json")
    with pytest.raises(Exception, match="not fitted"):
        diagnose(*data.target, estimator=InvCal())
    with pytest.raises(ValueError, match="folds = -1 breaks folds >= 0"):
        diagnose(*data.target, folds=-1)


def test_everything_public_has_a_docstring_and_is_found() -> None:
    for name in bagwise.__all__:
        if name.startswith("plot_"):
            continue  # where matplotlib may be missing
        assert getattr(bagwise, name).__doc__
    assert set(bagwise.__all__) <= set(dir(bagwise))
    with pytest.raises(AttributeError, match="nonsense"):
        bagwise.nonsense
