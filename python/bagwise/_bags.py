"""Bags and their proportions from what people have them in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagwise import _core
from bagwise._features import check_not_masked, is_frame, is_series
from bagwise._options import checked_texts, is_number, number_text

# Bags: one integer or text per row, in any order. Proportions: a dict or a Series by bag, an array by sorted bag, or
# a DataFrame (of pandas, polars or pyarrow) with the columns of a proportions file.
Bags = Any
KnownShares = Any

_MISSING_TYPES = ("NAType", "NaTType")


@dataclass(frozen=True)
class NumberedBags:
    """The bag of each row as a number into the names."""

    codes: NDArray[np.uint32]
    values: list[Any]  # int or str, distinct

    @property
    def names(self) -> list[str]:
        return checked_texts([str(value) for value in self.values], "a bag's name")


def number_bags(bags: Bags, rows: int | None, what: str = "bags") -> NumberedBags:
    """Numbers the bags of so many rows (None: of as many as there are); ValueError for what is no list of bags."""
    values = _one_per_row(bags, rows, what)
    if isinstance(values, list):
        return _number_objects(values, what)
    if not isinstance(values, np.ndarray):
        return _number_categories(values, what)
    kind = values.dtype.kind
    if kind == "f":
        values = _whole(values, what)
        if isinstance(values, list):
            return _number_objects(values, what)
    elif kind in "bi" or (kind == "u" and values.dtype.itemsize < 8):
        values = values.astype(np.int64, copy=False)
    elif kind not in "uOU":
        raise TypeError(f"{what} are of type {values.dtype}; expected integers or text")
    if values.dtype == np.int64:
        codes, distinct = _core.number_integers(np.require(values, np.int64, ["C", "A"]))
        return NumberedBags(codes, distinct.tolist())
    return _number_objects(values.tolist(), what)


def _one_per_row(bags: Bags, rows: int | None, what: str) -> Any:
    """An array in one dimension, a list, or a pandas Categorical."""
    if bags is None:
        raise ValueError(f"{what} are None; expected the bag of every row")
    if isinstance(bags, (str, bytes, Mapping)) or not (isinstance(bags, Iterable) or hasattr(bags, "__array__")):
        raise TypeError(f"{what} are of type {type(bags).__name__}; expected a list or an array, the bag of every row")
    _check_ordered(bags, what, "a list or an array, the bag of every row")
    check_not_masked(bags, what)
    values = bags
    if hasattr(bags, "cat") and hasattr(bags, "array"):
        values = bags.array  # a Series of categories
    elif not (hasattr(bags, "categories") and hasattr(bags, "codes")):
        # A list is not for numpy to unify: [1, "a"] would become text.
        values = np.asarray(bags) if hasattr(bags, "__array__") else list(bags)
    if not isinstance(values, list) and values.ndim != 1:
        raise ValueError(f"{what} have the shape {values.shape}; expected one bag for each row, in one dimension")
    if rows is not None and len(values) != rows:
        raise ValueError(f"{what} have {len(values)} entries for {rows} rows; expected one for each row")
    return values


def _check_ordered(values: Any, what: str, expected: str) -> None:
    if isinstance(values, (set, frozenset)):
        raise TypeError(f"{what} are of type {type(values).__name__}, which has no order; expected {expected}")


def _whole(values: NDArray[Any], what: str) -> NDArray[np.int64] | list[int]:
    """Floats that are whole numbers as integers; a list where 64 bits do not hold them."""
    bad = np.flatnonzero(~(np.isfinite(values) & (np.floor(values) == values)))
    if bad.size:
        raise _bag_fault(what, int(bad[0]), values[bad[0]])
    if (np.abs(values.astype(np.float64)) >= 2.0**63).any():
        return [int(value) for value in values]
    return values.astype(np.int64)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in _MISSING_TYPES or value is np.ma.masked:
        return True
    return isinstance(value, (Real, Decimal)) and value != value


def _bag_fault(what: str, row: int, value: Any) -> ValueError:
    found = "missing" if _is_missing(value) else "empty" if value == "" else f"{value}"
    return ValueError(f"{what}: row {row + 1}: the bag is {found}; expected an integer or text")


def bag_value(value: Any) -> int | str | None:
    """A bag as int or str; None where it is neither."""
    if type(value) is int:
        return value
    if isinstance(value, (Integral, np.bool_)):
        return int(value)
    if isinstance(value, (Real, Decimal)):
        try:
            whole = int(value)
        except (OverflowError, ValueError):  # infinite or NaN
            return None
        return whole if whole == value else None
    return str(value) if isinstance(value, str) and value else None


def _number_objects(values: list[Any], what: str) -> NumberedBags:
    try:
        numbers: dict[Any, int] = {value: k for k, value in enumerate(dict.fromkeys(values))}
    except TypeError:
        bad = next(value for value in values if getattr(type(value), "__hash__", None) is None)
        raise TypeError(f"{what} hold a value of type {type(bad).__name__}; expected integers or text") from None

    def row_of(bag: Any) -> int:
        return next(row for row, value in enumerate(values) if value is bag)

    distinct = _distinct(list(numbers), what, row_of)
    codes = np.fromiter(map(numbers.__getitem__, values), np.uint32, len(values))
    return NumberedBags(codes, distinct)


def _distinct(found: list[Any], what: str, row_of: Any) -> list[int | str]:
    """The bags as int or str, no two of one name."""
    out: list[int | str] = []
    seen: dict[str, int | str] = {}
    for value in found:
        bag = bag_value(value)
        if bag is None:
            if not (_is_missing(value) or isinstance(value, (Real, Decimal, str))):
                raise TypeError(f"{what} hold a value of type {type(value).__name__}; expected integers or text")
            raise _bag_fault(what, row_of(value), value)
        if seen.setdefault(str(bag), bag) != bag:
            raise ValueError(f'{what}: the number {bag} and the text "{bag}" are both bags; expected one of the two')
        out.append(bag)
    return out


def _number_categories(values: Any, what: str) -> NumberedBags:
    codes = np.asarray(values.codes)
    missing = np.flatnonzero(codes < 0)
    if missing.size:
        raise _bag_fault(what, int(missing[0]), None)
    inner, used = _core.number_integers(codes.astype(np.int64))
    found = [values.categories[k] for k in used.tolist()]
    return NumberedBags(inner, _distinct(found, what, lambda value: int(np.flatnonzero(values == value)[0])))


def make_proportions(known: KnownShares, bags: NumberedBags, what: str = "proportions") -> _core.Proportions:
    """The known shares by the names of the bags; the compiled half checks what it makes of them."""
    if known is None:
        raise ValueError(f"{what} are None; expected the share of positives of every bag")
    _check_ordered(known, what, "a dict, a Series, an array or a DataFrame")
    check_not_masked(known, what)
    columns = _columns(known)
    if columns is not None:
        return _from_table(columns, what)
    shares: Any
    if is_series(known):
        names, shares = [_key(name, what) for name in known.index.tolist()], known.to_numpy()
    elif isinstance(known, Mapping):
        names, shares = [_key(name, what) for name in known], list(known.values())
    else:
        names, shares = _by_sorted_bag(known, bags, what)
    try:
        return _core.Proportions.of_shares(what, checked_texts(names, what), _numbers(shares, names, what))
    except ValueError as error:
        raise ValueError(_by_bag(str(error), names)) from None


def _by_bag(message: str, names: list[str]) -> str:
    """A complaint about the share of a bag with its name, where a file's would have the line."""
    found = re.fullmatch(r"(.*):(\d+): column 2 \(proportion\): (.*)", message, re.DOTALL)
    return f'{found[1]}: bag "{names[int(found[2]) - 1]}": {found[3]}' if found else message


def _by_sorted_bag(known: KnownShares, bags: NumberedBags, what: str) -> tuple[list[str], Any]:
    if isinstance(known, (str, bytes)) or not (hasattr(known, "__array__") or isinstance(known, Iterable)):
        found = type(known).__name__
        raise TypeError(f"{what} are of type {found}; expected a dict, a Series, an array or a DataFrame")
    shares: Any = np.asarray(known) if hasattr(known, "__array__") else list(known)
    if isinstance(shares, np.ndarray) and shares.ndim != 1:
        raise ValueError(f"{what} have the shape {shares.shape}; expected one share for each bag, in one dimension")
    kinds = set(map(type, bags.values))
    if len(kinds) > 1:
        raise ValueError(
            f"{what} by sorted bag need bags of one kind, but some are numbers and some are text; expected a dict"
        )
    if len(shares) != len(bags.values):
        raise ValueError(
            f"{what} have {len(shares)} values for {len(bags.values)} bags; expected one for each bag, in sorted order"
        )
    if kinds == {int}:
        return list(map(str, sorted(bags.values))), shares
    return sorted(bags.names), shares


def _numbers(shares: Any, names: list[str], what: str) -> NDArray[np.float64]:
    """One number for each bag; the first that is none is an error that names its bag."""
    if isinstance(shares, np.ndarray) and shares.dtype.kind in "iuf":
        numbers = np.require(shares, np.float64, ["C", "A"])
    else:
        if not set(map(type, shares)) <= {float, int}:
            for share, name in zip(shares, names):
                _check_share(share, name, what)
        numbers = np.array(shares, dtype=np.float64)
    missing = np.flatnonzero(np.isnan(numbers))
    if missing.size:
        _check_share(np.nan, names[missing[0]], what)
    return numbers


def _key(bag: Any, what: str) -> str:
    value = bag_value(bag)
    if value is None:
        raise ValueError(f"{what}: the bag {bag!r} is neither an integer nor text; expected one of the two")
    return str(value)


def _check_share(share: Any, name: str, what: str) -> None:
    if _is_missing(share):
        raise ValueError(f'{what}: the proportion of bag "{name}" is missing; expected a number between 0 and 1')
    if not is_number(share):
        found = type(share).__name__
        raise TypeError(f'{what}: the proportion of bag "{name}" is of type {found}; expected a number between 0 and 1')


def _columns(known: Any) -> list[tuple[str, list[Any]]] | None:
    """The columns of a table of pandas, polars or pyarrow with their names; None: it is no table."""
    if is_frame(known):
        if "bag" not in known.columns and known.index.name == "bag":
            known = known.reset_index()
        return [(str(name), known.iloc[:, j].tolist()) for j, name in enumerate(known.columns)]
    if hasattr(known, "to_pydict"):  # pyarrow
        return [(name, column.to_pylist()) for name, column in zip(known.column_names, known.columns)]
    if hasattr(known, "to_dicts") and hasattr(known, "columns"):  # polars
        return [(name, known[name].to_list()) for name in known.columns]
    return None


def _from_table(columns: list[tuple[str, list[Any]]], what: str) -> _core.Proportions:
    texts = []
    for name, cells in columns:
        texts.append([_key(cell, what) for cell in cells] if name == "bag" else [_cell(cell) for cell in cells])
    header = checked_texts([name for name, _ in columns], what)
    return _core.Proportions(what, header, [checked_texts(list(record), what) for record in zip(*texts)])


def _cell(value: Any) -> str:
    if _is_missing(value):
        return ""
    return number_text(value) if is_number(value) else str(value)


def read_bounds(delta: Any, rows: int, what: str = "delta") -> NDArray[np.float64] | None:
    """The bound of every row's error; None: there is none."""
    if delta is None:
        return None
    check_not_masked(delta, what)
    bounds = np.asarray(delta)
    if bounds.dtype.kind not in "iuf":
        raise TypeError(f"{what} is of type {bounds.dtype}; expected a number or one for each row")
    bounds = np.full(rows, bounds, dtype=np.float64) if bounds.ndim == 0 else bounds.astype(np.float64)
    if bounds.shape != (rows,):
        raise ValueError(f"{what} has the shape {bounds.shape} for {rows} rows; expected a number or one for each row")
    bad = np.flatnonzero(~(np.isfinite(bounds) & (bounds >= 0)))
    if bad.size:
        raise ValueError(f"{what}: row {bad[0] + 1}: {bounds[bad[0]]} is no bound; expected a finite number >= 0")
    return bounds
