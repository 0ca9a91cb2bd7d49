"""Tables by the Arrow C stream protocol: what is fitted is what numpy gives, whoever holds the table."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest

import bagwise
from bagwise import _core

FORMATS = dict(zip("?bBhHiIlLefd", "bcCsSiIlLefg"))  # numpy's letters and Arrow's


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowArrayStream(ctypes.Structure):
    pass


Pointer = ctypes.c_void_p
ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))
ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))
ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArrayStream))
GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream), ctypes.POINTER(ArrowSchema))
GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream), ctypes.POINTER(ArrowArray))
GetLastError = ctypes.CFUNCTYPE(Pointer, ctypes.POINTER(ArrowArrayStream))
ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.POINTER(ArrowSchema)),
    ("release", ReleaseSchema),
    ("private_data", Pointer),
]
ArrowArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(Pointer)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ReleaseArray),
    ("private_data", Pointer),
]
ArrowArrayStream._fields_ = [
    ("get_schema", GetSchema),
    ("get_next", GetNext),
    ("get_last_error", GetLastError),
    ("release", ReleaseStream),
    ("private_data", Pointer),
]

CapsuleEnd = ctypes.PYFUNCTYPE(None, Pointer)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [Pointer, ctypes.c_char_p, CapsuleEnd]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = Pointer, [Pointer, ctypes.c_char_p]
NAME = b"arrow_array_stream"


HOLDERS: list[Holder] = []  # for good: the functions of a holder may be called as long as anyone has its capsules


@pytest.fixture(autouse=True)
def _everything_comes_back() -> Any:
    yield
    for holder in HOLDERS:
        holder.capsules.clear()
    assert all(holder.lent == {} for holder in HOLDERS)


class Holder:
    """Some table of some other library: columns by name, given as batches of so many rows.

    `lent` is what was handed out and not given back: it must be empty in the end.
    """

    def __init__(self, columns: dict[str, Any], batch: int = 7, *, nulls: Any = (), fault: str | None = None) -> None:
        self.columns = {name: np.asarray(values) for name, values in columns.items()}
        self.batch, self.nulls, self.fault = batch, set(nulls), fault
        self.lent: dict[str, Any] = {}
        self.next = 0
        self.kept: list[Any] = []  # what others hold addresses of
        self.release_schema, self.release_array = ReleaseSchema(self.end_schema), ReleaseArray(self.end_array)
        self.release_stream, self.release_capsule = ReleaseStream(self.end_stream), CapsuleEnd(self.end_capsule)
        self.streams_ended = 0
        self.capsules: list[object] = []
        HOLDERS.append(self)

    @property
    def rows(self) -> int:
        return max((len(values) for values in self.columns.values()), default=0)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.next = 0
        stream = ArrowArrayStream()
        stream.get_schema, stream.get_next = GetSchema(self.get_schema), GetNext(self.get_next)
        stream.get_last_error, stream.release = GetLastError(self.get_last_error), self.release_stream
        self.kept.append(stream)
        self.lent["stream"] = stream
        # Kept, so that Python code, which this destructor is, does not run while an error is on its way up.
        self.capsules.append(new_capsule(ctypes.addressof(stream), NAME, self.release_capsule))
        return self.capsules[-1]

    def end_capsule(self, capsule: int) -> None:
        stream = ArrowArrayStream.from_address(capsule_pointer(capsule, NAME))
        if stream.release:
            stream.release(ctypes.byref(stream))

    def end_stream(self, stream: Any) -> None:
        stream.contents.release = ReleaseStream()
        self.streams_ended += 1
        del self.lent["stream"]

    def get_last_error(self, stream: Any) -> int | None:
        text = ctypes.create_string_buffer((self.fault or "").encode())
        self.kept.append(text)
        return ctypes.addressof(text)

    def get_schema(self, stream: Any, out: Any) -> int:
        texts: list[Any] = []  # a structure of others does not hold on to what it points to

        def put(schema: Any, format: str, name: str | None) -> None:
            texts.extend([format.encode(), None if name is None else name.encode()])
            schema.format, schema.name = texts[-2:]
            schema.release = self.release_schema

        fields = [ArrowSchema() for _ in self.columns]
        for field, (name, values) in zip(fields, self.columns.items()):
            put(field, FORMATS.get(values.dtype.char, "u"), name)
        schema = out.contents
        ctypes.memset(out, 0, ctypes.sizeof(schema))
        put(schema, "+s", None)
        schema.n_children = len(fields)
        pointers = (ctypes.POINTER(ArrowSchema) * len(fields))(*map(ctypes.pointer, fields))
        schema.children = pointers
        self.lent["schema"] = (fields, pointers, texts)
        return 0

    def end_schema(self, schema: Any) -> None:
        schema.contents.release = ReleaseSchema()
        del self.lent["schema"]

    def get_next(self, stream: Any, out: Any) -> int:
        ctypes.memset(out, 0, ctypes.sizeof(ArrowArray))
        first, self.next = self.next, self.next + self.batch
        if first >= self.rows:
            return 5 if self.fault else 0
        count = min(self.batch, self.rows - first)
        parts: list[Any] = []

        def put(array: Any, first: int, buffers: list[Any]) -> None:
            array.length, array.offset, array.n_buffers = count, first, len(buffers)
            array.null_count = -1 if buffers[0] is not None else 0
            pointers = (Pointer * len(buffers))(*[None if b is None else b.ctypes.data for b in buffers])
            array.buffers = pointers
            array.release = self.release_array
            parts.extend([pointers, buffers])

        children = [ArrowArray() for _ in self.columns]
        for array, (name, values) in zip(children, self.columns.items()):
            # The whole column in memory, of which the batch is a part by its offset.
            bits = np.packbits(values.astype(bool), bitorder="little") if values.dtype == bool else values.copy()
            valid = None
            if any(column == name for _, column in self.nulls):
                valid = np.packbits([(row, name) not in self.nulls for row in range(self.rows)], bitorder="little")
            put(array, first, [valid, bits])
        put(out.contents, 0, [None])
        pointers = (ctypes.POINTER(ArrowArray) * len(children))(*map(ctypes.pointer, children))
        out.contents.n_children, out.contents.children = len(children), pointers
        self.lent[f"array {first}"] = (children, pointers, parts)
        out.contents.private_data = first
        return 0

    def end_array(self, array: Any) -> None:
        array.contents.release = ReleaseArray()
        del self.lent[f"array {array.contents.private_data or 0}"]


def draw_bags(seed: int = 3, rows: int = 60) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    bags = np.arange(rows) % 6
    X = rng.normal(size=(rows, 3)) + bags[:, np.newaxis] / 3
    return X, bags, np.linspace(0.1, 0.9, 6)


def holder_of(X: Any, names: Any = ("age", "income", "height"), **more: Any) -> Holder:
    return Holder({name: X[:, j] for j, name in enumerate(names)}, **more)


def fault_of(holder: Holder) -> str:
    with pytest.raises(ValueError) as caught:
        _core.Rows.arrow(holder.__arrow_c_stream__())
    assert holder.lent == {} and holder.streams_ended == 1
    holder.capsules.clear()
    gc.collect()
    assert holder.lent == {} and holder.streams_ended == 1
    return str(caught.value)


@pytest.mark.parametrize("batch", [1, 7, 60, 1000])
def test_a_stream_gives_the_model_that_the_array_gives(batch: int) -> None:
    X, bags, proportions = draw_bags()
    from_array = bagwise.InvCal().fit(X, bags, proportions)
    holder = holder_of(X, batch=batch)
    from_stream = bagwise.InvCal().fit(holder, bags, proportions)
    assert from_stream.coef_.tobytes() == from_array.coef_.tobytes()
    assert from_stream.intercept_.tobytes() == from_array.intercept_.tobytes()
    assert from_stream.decision_function(holder).tobytes() == from_array.decision_function(X).tobytes()
    assert list(from_stream.feature_names_in_) == ["age", "income", "height"]
    assert holder.lent == {} and holder.streams_ended == 2


def test_every_kind_of_number_comes_through() -> None:
    rng = np.random.default_rng(1)
    columns = {char: rng.integers(0, 2 if char == "?" else 100, 50).astype(char) for char in FORMATS}
    holder = Holder(columns)
    rows = _core.Rows.arrow(holder.__arrow_c_stream__())
    assert (rows.rows, rows.columns, rows.sparse, rows.names) == (50, len(FORMATS), False, list(FORMATS))
    plain = np.column_stack([values.astype(float) for values in columns.values()])
    bags, proportions = np.arange(50) % 5, np.linspace(0.1, 0.9, 5)
    fits = [bagwise.MeanMap().fit(X, bags, proportions) for X in (holder, plain)]
    assert fits[0].coef_.tobytes() == fits[1].coef_.tobytes()


def test_names_are_checked_when_predicting() -> None:
    X, bags, proportions = draw_bags()
    model = bagwise.InvCal().fit(holder_of(X), bags, proportions)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(holder_of(X, ("age", "income", "weight")))
    with pytest.raises(ValueError, match="same order"):
        model.predict(holder_of(X, ("income", "age", "height")))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


def test_a_stream_can_be_source_and_target() -> None:
    X, bags, proportions = draw_bags()
    Xs, bags_s, proportions_s = draw_bags(5, 120)
    plain = bagwise.TLLLP().fit(X, bags, proportions, source=(Xs, bags_s, proportions_s))
    arrow = bagwise.TLLLP().fit(holder_of(X), bags, proportions, source=(holder_of(Xs), bags_s, proportions_s))
    assert plain.coef_.tobytes() == arrow.coef_.tobytes()


def test_faults_name_the_column() -> None:
    assert fault_of(Holder({"age": [1.0, 2.0], "city": ["Bonn", "Ulm"]})) == (
        'X: column 2 (city): holds text (Arrow format "u"); expected numbers or booleans: encode it as numbers '
        "(one column per value) or leave it out"
    )
    X, _, _ = draw_bags()
    assert fault_of(holder_of(X, nulls=[(30, "height"), (9, "income"), (12, "age")])) == (
        "X: row 10: column 2 (income): is empty (null); expected a finite number "
        "(fill nulls or leave such rows out first)"
    )
    assert fault_of(holder_of(X, fault="the file was cut off")) == "X: the Arrow stream failed: the file was cut off"
    assert fault_of(Holder({})) == "X: there is no feature column here; expected at least one"


def test_values_that_are_not_finite_are_faults_of_a_fit() -> None:
    X, bags, proportions = draw_bags()
    X[4, 1] = np.inf
    with pytest.raises(ValueError, match=r"row 5.*column 2 \(income\)"):
        bagwise.InvCal().fit(holder_of(X), bags, proportions)


def test_no_rows_are_a_fault_of_a_fit() -> None:
    with pytest.raises(ValueError, match="0 sample"):
        bagwise.InvCal().fit(holder_of(np.empty((0, 3))), [], [])


def test_a_stream_is_read_once_and_its_capsule_ended_once() -> None:
    holder = holder_of(draw_bags()[0])
    capsule = holder.__arrow_c_stream__()
    _core.Rows.arrow(capsule)
    with pytest.raises(ValueError, match="the Arrow stream was read"):
        _core.Rows.arrow(capsule)
    assert holder.streams_ended == 1
    del capsule
    holder.capsules.clear()
    gc.collect()
    assert holder.streams_ended == 1 and holder.lent == {}


def test_a_capsule_that_nobody_reads_ends_its_stream() -> None:
    holder = holder_of(draw_bags()[0])
    capsule = holder.__arrow_c_stream__()
    assert "stream" in holder.lent
    del capsule
    holder.capsules.clear()
    gc.collect()
    assert holder.streams_ended == 1 and holder.lent == {}


@pytest.mark.parametrize("other", [None, 3, object(), "arrow_array_stream"])
def test_what_is_no_capsule_is_a_type_error(other: object) -> None:
    with pytest.raises(TypeError):
        _core.Rows.arrow(other)


def test_a_capsule_of_another_kind_is_refused() -> None:
    name = b"arrow_schema"
    other = new_capsule(ctypes.addressof(ctypes.c_int64(1)), name, CapsuleEnd())
    with pytest.raises((TypeError, ValueError), match="arrow_array_stream"):
        _core.Rows.arrow(other)
