"""Features from what people have them in: arrays, sparse matrices, data frames, Arrow streams."""

from __future__ import annotations

import sys
from collections.abc import Sized
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from bagwise import _core
from bagwise._options import checked_texts

# Features: an array, a list of lists, a scipy sparse matrix or array, a pandas DataFrame, or anything with
# `__arrow_c_stream__`.
Features = Any


@dataclass(frozen=True)
class Table:
    """Rows, and whether their features have names of their own (else they are called x1, x2, ...)."""

    rows: _core.Rows
    named: bool

    @property
    def names(self) -> list[str]:
        return self.rows.names


def numbered_names(columns: int) -> list[str]:
    """What features without names are called."""
    return [f"x{j + 1}" for j in range(columns)]


def read_features(X: Features, what: str = "X") -> Table:
    """The rows of X, in place where it is row-major float64 or canonical CSR. `what` is what messages call it."""
    if is_frame(X):
        return _read_frame(X, what)
    if scipy.sparse.issparse(X):
        columns = _checked_shape(X.shape, what)[1]
        if columns > np.iinfo(np.int32).max:
            raise ValueError(f"{what} is a sparse matrix of {columns} columns; expected at most 2**31 - 1")
        return Table(_sparse_rows(X, numbered_names(columns), what), named=False)
    if hasattr(X, "__arrow_c_stream__"):
        stream = X.__arrow_c_stream__()
        if type(stream).__name__ != "PyCapsule":
            found = type(stream).__name__
            raise TypeError(f"{what}: __arrow_c_stream__ gave a value of type {found}; expected a PyCapsule")
        rows = _core.Rows.arrow(stream, what)
        _checked_shape((rows.rows, rows.columns), what)
        return Table(rows, named=True)
    values = _dense_values(X, what)
    return Table(_core.Rows.dense(values, numbered_names(values.shape[1])), named=False)


def is_frame(X: Any) -> bool:
    """Whether it is a pandas DataFrame; pandas is not loaded for the question."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_series(values: Any) -> bool:
    """Whether it is a pandas Series."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, pandas.Series)


def _checked_shape(shape: tuple[int, ...], what: str) -> tuple[int, int]:
    """Rows and columns; ValueError, in scikit-learn's words, where there are not two dimensions or nothing in them."""
    if len(shape) != 2:
        raise ValueError(f"Found array with dim {len(shape)}. {what} expected <= 2.")
    for count, kind in zip(shape, ("sample", "feature")):
        if count == 0:
            found = f"Found array with 0 {kind}(s) (shape={tuple(shape)})"
            raise ValueError(f"{found} while a minimum of 1 is required: {what} has none.")
    return shape[0], shape[1]


def check_not_masked(values: Any, what: str) -> None:
    """ValueError where values, or those of one row of a list, are masked: numpy would take what is under the mask."""
    parts = values if isinstance(values, (list, tuple)) else [values]
    if any(isinstance(part, np.ma.MaskedArray) and np.any(part.mask) for part in parts):
        raise ValueError(f"{what} has masked values; expected values that are there: fill them first")


def _dense_values(X: Features, what: str) -> NDArray[np.float64]:
    check_not_masked(X, what)
    values = _as_array(X, what)
    if values.ndim == 1 or values.ndim == 0:
        raise ValueError(
            f"Expected 2D array, got {'scalar' if values.ndim == 0 else '1D'} array instead:\narray={values}.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
            "array.reshape(1, -1) if it contains a single sample."
        )
    _checked_shape(values.shape, what)
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{what} is of type {values.dtype}; expected real numbers")
    if values.dtype.kind == "O":
        return _numbers_of_objects(values, numbered_names(values.shape[1]), what)
    if values.dtype.kind not in "buif":
        raise _no_number(values, numbered_names(values.shape[1]), what)
    return _in_place(values)


def _in_place(values: NDArray[Any]) -> NDArray[np.float64]:
    """Row-major and aligned float64: the array itself where it is that already."""
    return np.require(values, np.float64, ["C", "A"])


def _as_array(X: Features, what: str) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError:
        if not isinstance(X, (list, tuple)):
            raise
        lengths = [len(row) if isinstance(row, Sized) else None for row in X]
        row = next((k for k, length in enumerate(lengths) if length != lengths[0]), None)
        if row is None:
            raise ValueError(f"{what} has rows of different shapes; expected a number in every cell") from None
        counts = ["no columns" if k is None else f"{k} columns" for k in (lengths[row], lengths[0])]
        raise ValueError(
            f"{what}: row {row + 1} has {counts[0]}, row 1 has {counts[1]}; expected rows of the same length"
        ) from None


def _numbers_of_objects(
    values: NDArray[np.object_], names: list[str], what: str, first: int = 0
) -> NDArray[np.float64]:
    """The numbers of cells of any type; `first` is the number of their first column."""
    if not set(map(type, values.flat)) <= {float, int, bool, type(None)}:
        if any(isinstance(value, (complex, np.complexfloating)) for value in values.flat):
            raise ValueError(f"Complex data not supported\n{what} has complex numbers; expected real ones")
        for (row, column), value in np.ndenumerate(values):
            _check_cell(what, row, first + column, names[column], value, "expected a finite number in every cell")
    try:
        return np.ascontiguousarray(values.astype(np.float64))
    except OverflowError:
        for (row, column), value in np.ndenumerate(values):
            _check_cell(what, row, first + column, names[column], value, "expected a finite number in every cell")
        raise


def _check_cell(what: str, row: int, column: int, name: str, value: Any, expected: str) -> None:
    """ValueError or TypeError where a cell holds no number."""
    if value is None:
        return
    if _is_no_number(value):
        raise _cell_fault(what, row, column, name, value, expected)
    place = f"{what}: row {row + 1}: column {column + 1} ({name})"
    try:
        float(value)
    except OverflowError:
        raise ValueError(f"{place}: is beyond what a float64 holds; {expected}") from None
    except (TypeError, ValueError) as fault:
        raise TypeError(f"{place}: {fault}; {expected}") from None


def _is_no_number(value: Any) -> bool:
    """Of those that float() would take, or that stand for nothing."""
    kinds = (str, bytes, np.datetime64, np.timedelta64, np.void)
    return isinstance(value, kinds) or type(value).__name__ in ("NAType", "NaTType", "Timestamp", "Timedelta")


def _no_number(values: NDArray[Any], names: list[str], what: str) -> ValueError:
    """What is wrong with the first cell that holds no number."""
    for (row, column), value in np.ndenumerate(values):
        if _is_no_number(value):
            break
    return _cell_fault(what, row, column, names[column], value, "expected a finite number in every cell")


def _cell_fault(what: str, row: int, column: int, name: str, value: Any, expected: str) -> ValueError:
    """Row and column from 0."""
    return ValueError(f'{what}: row {row + 1}: column {column + 1} ({name}): "{value}" is not a number; {expected}')


def _sparse_rows(X: Any, names: list[str], what: str) -> _core.Rows:
    if X.dtype.kind not in "buif":
        if X.dtype.kind == "c":
            raise ValueError(f"Complex data not supported\n{what} is of type {X.dtype}; expected real numbers")
        raise ValueError(f"{what} is a sparse matrix of type {X.dtype}; expected numbers")
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is X else rows
        rows.sum_duplicates()
    return _core.Rows.csr(
        np.require(rows.indptr, np.int64, ["C", "A"]),
        np.require(rows.indices, np.int32, ["C", "A"]),
        _in_place(rows.data),
        rows.shape[1],
        names,
    )


def _frame_names(frame: Any) -> tuple[list[str], bool]:
    """The names of the columns, and whether they are the frame's own: those that are no text are not taken."""
    kinds = sorted({type(name).__name__ for name in frame.columns})
    if kinds and all(isinstance(name, str) for name in frame.columns):
        names = checked_texts([str(name) for name in frame.columns], "a feature's name")
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise ValueError(f'the column "{repeated}" occurs twice; expected every feature once')
        return names, True
    if "str" in kinds:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. Convert them all: X.columns = X.columns.astype(str)"
        )
    return numbered_names(len(frame.columns)), False


def _read_frame(frame: Any, what: str) -> Table:
    import pandas

    names, named = _frame_names(frame)
    shape = _checked_shape(frame.shape, what)
    kinds = list(frame.dtypes)
    if all(isinstance(kind, pandas.SparseDtype) and kind.fill_value == 0 for kind in kinds):
        return Table(_sparse_rows(frame.sparse.to_coo(), names, what), named)
    if all(isinstance(kind, np.dtype) and kind.kind in "buif" for kind in kinds):
        values = _in_place(frame.to_numpy())
    else:
        values = np.empty(shape)
        for j, name in enumerate(names):
            values[:, j] = _column(frame.iloc[:, j], what, j, name)
    return Table(_core.Rows.dense(values, names), named)


def _column(column: Any, what: str, number: int, name: str) -> NDArray[np.float64]:
    """A column's numbers; missing ones are NaN."""
    import pandas

    kind = column.dtype
    numeric = pandas.api.types.is_numeric_dtype(kind) or pandas.api.types.is_bool_dtype(kind)
    if numeric and not pandas.api.types.is_complex_dtype(kind):
        values: NDArray[np.float64] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return values
    cells = column.to_numpy(dtype=object)
    row = next((row for row, cell in enumerate(cells) if not _is_plain_number(cell)), None)
    if kind == object and row is None:
        return _numbers_of_objects(cells[:, np.newaxis], [name], what, number)[:, 0]
    if row is None:
        place = f"{what}: column {number + 1} ({name})"
        raise ValueError(f"{place}: is of type {kind}; expected numbers ({_dummies(name)})")
    hint = f" ({_dummies(name)})" if isinstance(cells[row], str) else ""
    raise _cell_fault(what, row, number, name, cells[row], f"expected a finite number{hint}")


def _dummies(name: str) -> str:
    return f"pandas.get_dummies(X, columns=[{name!r}], prefix_sep='=') makes numbers of a column of text"


def _is_plain_number(cell: Any) -> bool:
    """None is a missing number, found later with the NaNs."""
    if isinstance(cell, (np.complexfloating, np.timedelta64)):
        return False
    return cell is None or isinstance(cell, (Real, Decimal, np.number, np.bool_))
