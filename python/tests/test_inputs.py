"""Features, bags and proportions may come in many shapes: the model is the same to the last bit, or a clear error."""

from __future__ import annotations

import os
import resource
import tempfile
import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from bagwise import TLLLP, InvCal, _core
from bagwise._bags import number_bags
from bagwise._features import read_features

pd = pytest.importorskip("pandas")


def whole_features(data: Any) -> np.ndarray:
    """Features that any type of number holds."""
    return np.round(4 * data.target[0])


def model_text(X: Any, bags: Any, proportions: Any, **arguments: Any) -> str:
    return InvCal().fit(X, bags, proportions, **arguments).model_.text()


KINDS = {
    "a list of lists": lambda X: X.tolist(),
    "column-major": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "int8": lambda X: X.astype(np.int8),
    "objects": lambda X: X.astype(object),
    "every second row of another": lambda X: np.repeat(X, 2, axis=0)[::2],
    "big-endian": lambda X: X.astype(">f8"),
    "read-only": lambda X: _read_only(X),
    "memory-mapped": lambda X: _memory_mapped(X),
    "masked nowhere": np.ma.array,
    "a DataFrame of integers as names": lambda X: pd.DataFrame(X),
}
SPARSE_KINDS = {
    "csr_matrix": scipy.sparse.csr_matrix,
    "csr_array": scipy.sparse.csr_array,
    "csc_matrix": scipy.sparse.csc_matrix,
    "coo_matrix": scipy.sparse.coo_matrix,
    "lil_matrix": scipy.sparse.lil_matrix,
    "dok_matrix": scipy.sparse.dok_matrix,
    "float32": lambda X: scipy.sparse.csr_matrix(X.astype(np.float32)),
    "int64 indices": lambda X: _long_indices(scipy.sparse.csr_matrix(X)),
    "unsorted": lambda X: _unsorted(scipy.sparse.csr_matrix(X)),
    "read-only": lambda X: _read_only_parts(scipy.sparse.csr_matrix(X)),
}
NAMED_KINDS = {
    "a DataFrame": lambda frame: frame,
    "of several types": lambda frame: frame.astype({"a0": np.int16, "a1": np.float32}),
    "of extension types": lambda frame: frame.astype({"a0": "Int64", "a1": "Float32", "a2": "Float64"}),
    "of objects": lambda frame: frame.astype({"a0": object}),
    "column by column": lambda frame: pd.concat([frame[[name]] for name in frame], axis=1),
    "with another index": lambda frame: frame.set_index(np.arange(len(frame))[::-1]),
}


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.setflags(write=False)
    return X


def _memory_mapped(X: np.ndarray) -> np.ndarray:
    with tempfile.NamedTemporaryFile() as file:
        np.save(file.name + ".npy", X)
        mapped = np.load(file.name + ".npy", mmap_mode="r")
        os.unlink(file.name + ".npy")
    return mapped


def _long_indices(X: Any) -> Any:
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _read_only_parts(X: Any) -> Any:
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    return X


def _unsorted(X: Any) -> Any:
    """The same matrix with the columns of each row backwards, and one value in two halves."""
    index, values, start = [], [], [0]
    for i in range(X.shape[0]):
        row = X.getrow(i)
        index += [*row.indices[::-1], *row.indices[:1]]
        halves = row.data[::-1].copy()
        halves[-1:] /= 2
        values += [*halves, *halves[-1:]]
        start.append(len(index))
    out = scipy.sparse.csr_matrix((np.array(values), np.array(index, dtype=np.int32), np.array(start)), shape=X.shape)
    assert not out.has_canonical_format
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_dense_features_of_every_kind_give_the_same_model(kind: str, data: Any) -> None:
    X, (_, bags, shares) = whole_features(data), data.target
    expected = model_text(X, bags, shares)
    assert model_text(KINDS[kind](X), bags, shares) == expected


@pytest.mark.parametrize("kind", SPARSE_KINDS)
def test_sparse_features_of_every_kind_give_the_same_model(kind: str, data: Any) -> None:
    X, (_, bags, shares) = whole_features(data), data.target
    sparse = SPARSE_KINDS[kind](X)
    parts = [part.copy() for part in (sparse.data, sparse.indices)] if kind == "unsorted" else []
    assert model_text(sparse, bags, shares) == model_text(scipy.sparse.csr_matrix(X), bags, shares)
    if parts:
        assert np.array_equal(sparse.data, parts[0]) and np.array_equal(sparse.indices, parts[1])


@pytest.mark.parametrize("kind", NAMED_KINDS)
def test_data_frames_of_every_kind_give_the_same_model(kind: str, data: Any) -> None:
    X, (_, bags, shares) = whole_features(data), data.target
    frame = pd.DataFrame(X, columns=[f"a{j}" for j in range(X.shape[1])])
    model = InvCal().fit(NAMED_KINDS[kind](frame), bags, shares)
    assert model.model_.text() == model_text(frame, bags, shares)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert np.array_equal(model.coef_, InvCal().fit(X, bags, shares).coef_)


def test_sparse_and_dense_rows_have_the_same_scores(data: Any) -> None:
    X, bags, shares = data.target
    model = InvCal().fit(X, bags, shares)
    scores = model.decision_function(scipy.sparse.csc_matrix(X))
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-12)
    frame = pd.DataFrame(X).astype(pd.SparseDtype(float, 0))
    np.testing.assert_allclose(InvCal().fit(frame, bags, shares).coef_, model.coef_, rtol=1e-9)
    assert read_features(frame).rows.sparse


def test_row_major_numbers_are_read_in_place() -> None:
    X = np.random.default_rng(1).standard_normal((200_000, 20))  # 32 MB
    bags = np.arange(len(X)) % 100
    shares = np.linspace(0.1, 0.9, 100)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    model = InvCal().fit(X, bags, shares)
    model.decision_function(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert peak < X.nbytes / 4
    assert grown < 0.6 * X.nbytes


def test_arrays_stay_alive_as_long_as_rows_use_them() -> None:
    rows = _core.Rows.dense(np.full((3, 2), 7.0), ["a", "b"])
    np.zeros((3, 2))  # may take the place of an array that was let go
    model = InvCal().fit([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]], [1, 2, 3], [0.1, 0.5, 0.9]).model_
    assert np.array_equal(model.scores(rows, 0), model.scores(_core.Rows.dense(np.full((3, 2), 7.0), ["a", "b"]), 0))


def test_canonical_csr_is_read_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    class Recorded:
        @staticmethod
        def csr(*parts: Any) -> Any:
            seen.extend(parts)
            return _core.Rows.csr(*parts)

    X = scipy.sparse.random(50, 9, density=0.3, format="csr", random_state=1)
    monkeypatch.setattr("bagwise._features._core", type("Core", (), {"Rows": Recorded}))
    read_features(X)
    assert seen[1] is X.indices or np.shares_memory(seen[1], X.indices)
    assert np.shares_memory(seen[2], X.data)


def test_names_of_features_are_kept_and_checked(data: Any) -> None:
    X, bags, shares = data.target
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = InvCal().fit(frame, bags, shares)
    assert model.model_.features == list("abcdef")
    model.predict(frame)
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        model.predict(frame[list("bacdef")])
    missing = "unseen at fit time:\n- z\nFeature names seen at fit time, yet now missing:\n- a\n"
    with pytest.raises(ValueError, match=missing):
        model.predict(frame.rename(columns={"a": "z"}))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but InvCal was fitted with"):
        scores = model.decision_function(X)
    assert np.array_equal(scores, model.decision_function(frame))
    with pytest.warns(UserWarning, match="X has feature names, but InvCal was fitted without feature names"):
        InvCal().fit(X, bags, shares).predict(frame)
    with pytest.raises(ValueError, match="X has 5 features, but InvCal is expecting 6 features as input"):
        InvCal().fit(X, bags, shares).predict(X[:, :5])
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        model.fit(pd.DataFrame(X, columns=["a", "b", 3, 4, 5, 6]), bags, shares)
    with pytest.raises(ValueError, match='the column "a" occurs twice'):
        model.fit(pd.DataFrame(X, columns=list("aacdef")), bags, shares)
    model.fit(X, bags, shares)
    assert not hasattr(model, "feature_names_in_")


BAD_FEATURES = [
    (np.zeros(4), ValueError, "Reshape your data"),
    (5.0, ValueError, "Reshape your data"),
    (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
    (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
    (np.zeros((4, 0)), ValueError, r"0 feature\(s\) \(shape=\(4, 0\)\) while a minimum of 1 is required"),
    (np.zeros((4, 2)) + 1j, ValueError, "Complex data not supported"),
    (np.array([[1, 2], [3, 4], [5, 1j], [7, 8]], dtype=object), ValueError, "Complex data not supported"),
    (scipy.sparse.csr_matrix(np.eye(4) + 1j), ValueError, "Complex data not supported"),
    ([["1", "2"]] * 4, ValueError, r'X: row 1: column 1 \(x1\): "1" is not a number; expected a finite number'),
    ([[1, 2], [3, "4"], [1, 1], [1, 1]], ValueError, r'X: row [12]: column [12] \(x[12]\): "[14]" is not a number'),
    (np.array([[1, {}]] * 4, dtype=object), TypeError, "argument must be a string or a.* number"),
    (np.ma.array(np.zeros((4, 1)), mask=[[0], [1], [0], [0]]), ValueError, "masked values"),
    (np.array([[np.datetime64("2020-01-01")]] * 4), ValueError, "is not a number"),
    ([[1.0], [np.nan], [1.0], [2.0]], ValueError, "NaN|nan"),
    ([[1.0], [2.0], [np.inf], [2.0]], ValueError, "inf"),
    (scipy.sparse.csr_matrix([[1.0], [np.nan], [1.0], [2.0]]), ValueError, "NaN|nan"),
    (None, ValueError, "Reshape your data|Expected 2D"),
]


@pytest.mark.parametrize(("X", "kind", "message"), BAD_FEATURES)
def test_what_is_no_table_of_numbers_is_an_error(X: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        InvCal().fit(X, [1, 2, 3, 4], [0.1, 0.3, 0.7, 0.9])
    columns = X.shape[1] if getattr(X, "ndim", 0) == 2 else len(X[0]) if isinstance(X, list) else 1
    model = InvCal().fit(np.arange(4.0 * max(columns, 1)).reshape(4, -1), [1, 2, 3, 4], [0.1, 0.3, 0.7, 0.9])
    with pytest.raises(kind, match=message):
        model.predict(X)


def test_text_in_a_data_frame_is_an_error_that_names_the_cell() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0], "party": ["left", "right"]})
    text = r'X: row 1: column 2 \(party\): "left" is not a number.*get_dummies\(X, columns=\[.party.\], prefix_sep=.=.\)'
    with pytest.raises(ValueError, match=text):
        InvCal().fit(frame, [1, 2], [0.1, 0.9])
    mixed = pd.DataFrame({"age": [1.0, "two"]})
    with pytest.raises(ValueError, match=r'X: row 2: column 1 \(age\): "two" is not a number'):
        InvCal().fit(mixed, [1, 2], [0.1, 0.9])
    with pytest.raises(ValueError, match=r"column 1 \(year\): is of type category; expected numbers"):
        InvCal().fit(pd.DataFrame({"year": pd.Categorical([2019, 2020])}), [1, 2], [0.1, 0.9])
    with pytest.raises(ValueError, match=r"column 1 \(day\).*is not a number"):
        InvCal().fit(pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])}), [1, 2], [0.1, 0.9])
    with pytest.raises(ValueError, match=r"X: .*column 1 \(age\): .*row 2.* is NaN|X: row 2: column 1 \(age\).*NaN"):
        InvCal().fit(pd.DataFrame({"age": pd.array([1, None], dtype="Int64")}), [1, 2], [0.1, 0.9])


ALL_CATEGORIES = [str(k) for k in range(99, -1, -1)]  # most of them without a row

# Bags of the rows 0..n-1, as integers from 0; each gives the same partition.
BAG_KINDS = {
    "a list": lambda bags: bags.tolist(),
    "a tuple": lambda bags: tuple(bags.tolist()),
    "int8": lambda bags: bags.astype(np.int8),
    "uint64": lambda bags: bags.astype(np.uint64),
    "whole floats": lambda bags: bags.astype(float),
    "a list of floats": lambda bags: bags.astype(float).tolist(),
    "objects": lambda bags: bags.astype(object),
    "every second of others": lambda bags: np.repeat(bags, 2)[::2],
    "text": lambda bags: bags.astype(str),
    "a list of text": lambda bags: [str(bag) for bag in bags],
    "a Series": pd.Series,
    "a Series with an index": lambda bags: pd.Series(bags, index=np.arange(len(bags))[::-1]),
    "a Series of Int64": lambda bags: pd.Series(bags, dtype="Int64"),
    "a Series of text": lambda bags: pd.Series(bags.astype(str)),
    "a Series of string": lambda bags: pd.Series(bags.astype(str), dtype="string"),
    "a Categorical": pd.Categorical,
    "a Series of categories": lambda bags: pd.Series(pd.Categorical(bags.astype(str), ALL_CATEGORIES)),
    "an Index": pd.Index,
}
SHARE_KINDS = {
    "a dict by number": lambda shares: dict(enumerate(shares)),
    "a dict by text": lambda shares: {str(k): share for k, share in enumerate(shares)},
    "a dict by numpy's numbers": lambda shares: {np.int64(k): np.float64(share) for k, share in enumerate(shares)},
    "a Series": lambda shares: pd.Series(shares)[::-1],
    "a Series by text": lambda shares: pd.Series(shares, index=[str(k) for k in range(len(shares))]),
    "a DataFrame": lambda shares: pd.DataFrame({"bag": range(len(shares)), "proportion": shares}),
    "a DataFrame by index": lambda shares: pd.DataFrame({"proportion": shares}).rename_axis("bag"),
}


@pytest.fixture(scope="module")
def small() -> tuple[np.ndarray, np.ndarray, list[float]]:
    rng = np.random.default_rng(5)
    bags = rng.permutation(np.repeat(np.arange(12), 4))  # 10 and 11 sort otherwise as text
    X = rng.integers(-8, 8, (48, 3)).astype(float)
    return X, bags, rng.integers(0, 5, 12).astype(float) / 4 * 0.9 + 0.01


@pytest.mark.parametrize("kind", BAG_KINDS)
@pytest.mark.parametrize("shares", SHARE_KINDS)
def test_bags_and_proportions_of_every_kind_give_the_same_model(kind: str, shares: str, small: Any) -> None:
    X, bags, known = small
    expected = model_text(X, bags, dict(enumerate(known)))
    assert model_text(X, BAG_KINDS[kind](bags), SHARE_KINDS[shares](known)) == expected


def test_an_array_of_proportions_goes_by_sorted_bag(small: Any) -> None:
    X, bags, known = small
    for given in (bags, bags.astype(str), (bags - 5) * 3):
        for shares in (known, known.tolist(), tuple(known)):
            by_name = dict(zip(np.unique(given).tolist(), known))
            assert model_text(X, given, shares) == model_text(X, given, by_name)


def test_proportions_may_be_counts(small: Any) -> None:
    X, bags, _ = small
    positives = np.arange(12) % 5
    table = pd.DataFrame({"bag": range(12), "positives": positives.astype(float), "size": 4})
    assert model_text(X, bags, table) == model_text(X, bags, positives / 4)
    with pytest.raises(ValueError, match="expected the number of its rows"):
        InvCal().fit(X, bags, table.assign(size=5))


def test_bags_and_proportions_may_be_of_polars_and_pyarrow(small: Any) -> None:
    X, bags, known = small
    expected = model_text(X, bags, known)
    columns = {"bag": list(range(12)), "proportion": known.tolist()}
    polars, pyarrow = (pytest.importorskip(name) for name in ("polars", "pyarrow"))
    names = bags.astype(str)
    for given in (polars.Series(bags), pyarrow.array(bags), polars.Series(names), pyarrow.array(names)):
        for shares in (polars.DataFrame(columns), pyarrow.table(columns)):
            assert model_text(X, given, shares) == expected
    assert model_text(X, bags, polars.Series(known)) == expected == model_text(X, bags, pyarrow.array(known))


def test_numbering_bags_agrees_with_numpy() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        bags = rng.integers(-5, 5, rng.integers(1, 30))
        for given in (bags, bags.astype(str), bags.tolist(), pd.Categorical(bags)):
            numbered = number_bags(given, len(bags))
            assert [str(numbered.values[code]) for code in numbered.codes] == [str(bag) for bag in bags]
            assert sorted(map(str, numbered.values)) == sorted(set(map(str, bags.tolist())))


BAD_BAGS = [
    ([1, 2, None, 4], ValueError, "bags: row 3: the bag is missing"),
    ([1, 2, np.nan, 4], ValueError, "bags: row 3: the bag is missing"),
    (np.array([1, 2, np.nan, 4]), ValueError, "bags: row 3: the bag is missing"),
    (pd.Series([1, 2, None, 4], dtype="Int64"), ValueError, "bags: row 3: the bag is missing"),
    (pd.Series(["a", "b", None, "d"], dtype="string"), ValueError, "bags: row 3: the bag is missing"),
    (pd.Categorical(["a", "b", None, "d"]), ValueError, "bags: row 3: the bag is missing"),
    ([1, 2.5, 3, 4], ValueError, "bags: row 2: the bag is 2.5; expected an integer or text"),
    (np.array([1, 2.5, 3, 4]), ValueError, "bags: row 2: the bag is 2.5; expected an integer or text"),
    (np.array([1, np.inf, 3, 4]), ValueError, "bags: row 2: the bag is inf"),
    (["a", "", "c", "d"], ValueError, "bags: row 2: the bag is empty"),
    ([1, "1", 3, 4], ValueError, 'the number 1 and the text "1" are both bags|the text "1"'),
    ([1, 2, 3], ValueError, "bags have 3 entries for 4 rows; expected one for each row"),
    ([[1], [2], [3], [4]], TypeError, "a value of type list"),
    (np.array([[1], [2], [3], [4]]), ValueError, r"bags have the shape \(4, 1\)"),
    ([b"a", b"b", b"c", b"d"], TypeError, "a value of type bytes"),
    (np.array(["2020-01-01"] * 4, dtype="M8[D]"), TypeError, r"bags are of type datetime64\[D\]; expected integers"),
    ("abcd", TypeError, "bags are of type str"),
    (None, ValueError, "bags are None"),
    (7, TypeError, "bags are of type int"),
]
BAD_SHARES = [
    ({1: 0.1, 2: 0.2, 3: 0.3}, ValueError, 'bag "4" has no proportion in proportions'),
    ({1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4, 5: 0.5}, ValueError, 'bag "5" has a proportion but no row'),
    ({1: 0.1, 2: 1.5, 3: 0.3, 4: 0.4}, ValueError, r'"1.5" is outside \[0, 1\]; expected a proportion between 0 and 1'),
    ({1: 0.1, 2: np.nan, 3: 0.3, 4: 0.4}, ValueError, 'the proportion of bag "2" is missing'),
    ({1: 0.1, 2: None, 3: 0.3, 4: 0.4}, ValueError, 'the proportion of bag "2" is missing'),
    ({1: 0.1, 2: "x", 3: 0.3, 4: 0.4}, TypeError, 'the proportion of bag "2" is of type str'),
    ({1: 0.1, "1": 0.2, 3: 0.3, 4: 0.4}, ValueError, 'bag "1" has a proportion already'),
    ({1: 0.1, (2,): 0.2, 3: 0.3, 4: 0.4}, ValueError, "neither an integer nor text"),
    ([0.1, 0.2, 0.3], ValueError, "proportions have 3 values for 4 bags"),
    (np.zeros((4, 1)), ValueError, r"proportions have the shape \(4, 1\)"),
    (0.5, TypeError, "proportions are of type float; expected a dict"),
    ("p.csv", TypeError, "proportions are of type str; expected a dict"),
    (None, ValueError, "proportions are None"),
    ([0.5, 0.5, 0.5, 0.5], ValueError, "proportion"),
    (pd.DataFrame({"bag": [1, 2, 3, 4], "share": 0.5}), ValueError, r"column 2 \(share\): is not known"),
    (pd.DataFrame({"proportion": [0.1, 0.2, 0.3, 0.4]}), ValueError, "there is no column bag"),
    (pd.DataFrame([[1, 0.1, 1]] * 4, columns=["bag", "proportion", "bag"]), ValueError, "occurs twice"),
    (pd.DataFrame({"bag": [1, 2, 3, 4], "proportion": [0.1, None, 0.2, 0.3]}), ValueError, r"\(proportion\): is empty"),
]


@pytest.mark.parametrize(("bags", "kind", "message"), BAD_BAGS)
def test_what_is_no_list_of_bags_is_an_error(bags: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        InvCal().fit(np.arange(4.0)[:, None], bags, {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4})


@pytest.mark.parametrize(("shares", "kind", "message"), BAD_SHARES)
def test_what_are_no_proportions_of_the_bags_is_an_error(shares: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        InvCal().fit(np.arange(4.0)[:, None], [1, 2, 3, 4], shares)


def test_an_array_of_proportions_needs_bags_of_one_kind() -> None:
    with pytest.raises(ValueError, match="some are numbers and some are text; expected a dict"):
        InvCal().fit(np.arange(4.0)[:, None], [1, "b", 3, 4], [0.1, 0.2, 0.3, 0.4])


def test_bounds_may_be_one_for_all_rows_or_one_for_each(data: Any) -> None:
    X, bags, shares = data.target
    same = TLLLP().fit(X, bags, shares, delta=0.1)
    assert np.array_equal(same.coef_, TLLLP().fit(X, bags, shares, delta=np.full(len(bags), 0.1)).coef_)
    assert np.array_equal(same.coef_, TLLLP(delta=0.1).fit(X, bags, shares).coef_)
    assert not np.array_equal(same.coef_, TLLLP().fit(X, bags, shares).coef_)
    with pytest.raises(ValueError, match="expected one of the two"):
        TLLLP(delta=0.1).fit(X, bags, shares, delta=0.1)
    with pytest.raises(ValueError, match="delta: row 1: -0.1 is no bound; expected a finite number >= 0"):
        TLLLP().fit(X, bags, shares, delta=-0.1)
    with pytest.raises(ValueError, match=r"delta has the shape \(2,\)"):
        TLLLP().fit(X, bags, shares, delta=[0.1, 0.2])
    with pytest.raises(TypeError, match="delta is of type"):
        TLLLP().fit(X, bags, shares, delta="x")
    both = TLLLP().fit(X, bags, shares, delta=0.1, source=(*data.source, 0.2))
    assert not np.array_equal(both.coef_, TLLLP().fit(X, bags, shares, delta=0.1, source=(*data.source, 0.1)).coef_)


def test_bounds_that_are_not_used_are_warned_of(data: Any) -> None:
    with pytest.warns(UserWarning, match="delta is not used: inv-cal takes the rows as exact"):
        InvCal().fit(*data.target, delta=0.1)


def test_features_of_sources_are_put_in_order(data: Any) -> None:
    names = list("abcdef")
    X, bags, shares = data.target
    target = pd.DataFrame(X, columns=names)
    source = pd.DataFrame(data.source[0], columns=names)
    expected = TLLLP().fit(*data.target, source=data.source).coef_
    for other in (source, source[list("fbdace")], data.source[0]):
        assert np.array_equal(TLLLP().fit(target, bags, shares, source=(other, *data.source[1:])).coef_, expected)
    with pytest.raises(ValueError, match='source X: has no feature "c", which the target X has; align_features=True'):
        TLLLP().fit(target, bags, shares, source=(source.drop(columns="c"), *data.source[1:]))
    with pytest.raises(ValueError, match='has a feature "g", which the target X lacks'):
        TLLLP().fit(target, bags, shares, source=(source.assign(g=1.0), *data.source[1:]))
    with pytest.raises(ValueError, match='"x6"'):
        TLLLP().fit(*data.target, source=(data.source[0][:, :5], *data.source[1:]))


def test_features_may_be_aligned(data: Any) -> None:
    names = list("abcdef")
    X, bags, shares = data.target
    target = pd.DataFrame(X, columns=names)
    source = pd.DataFrame(data.source[0], columns=names)
    aligned = TLLLP().fit(
        target.drop(columns="a"), bags, shares, source=(source.drop(columns="c"), *data.source[1:]), align_features=True
    )
    assert aligned.feature_names_in_.tolist() == list("bcdefa")
    order = list("bcdefa")
    by_hand = TLLLP().fit(
        target.assign(a=0.0)[order], bags, shares, source=(source.assign(c=0.0)[order], *data.source[1:])
    )
    assert np.array_equal(aligned.coef_, by_hand.coef_)


def test_a_feature_that_tells_the_proportions_is_an_error() -> None:
    X = np.array([[0.1, 1.0], [0.3, 2.0], [0.9, 0.0]])
    with pytest.raises(ValueError, match='the feature "x1" has each bag\'s proportion as its mean.*allow_leak=True'):
        InvCal().fit(X, [1, 2, 3], X[:, 0])
    InvCal().fit(X, [1, 2, 3], X[:, 0], allow_leak=True)
