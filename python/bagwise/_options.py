"""The options of the methods as parameters of the estimators: one list, that of the compiled half, feeds them all."""

from __future__ import annotations

import inspect
import os
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from bagwise import _core

_RENAMED = {"lambda": "lam", "lambda-source": "lam_source"}  # lambda is a keyword of Python


@dataclass(frozen=True)
class Option:
    """One parameter: an option of a method, or one that all estimators have."""

    name: str  # of the command line
    help: str
    type: str  # "number", "numbers", "integer", "flag", "choice", or "other" for those of all estimators
    rule: str
    choices: tuple[str, ...]
    default: Any

    @property
    def parameter(self) -> str:
        """Its name in Python."""
        return _RENAMED.get(self.name, self.name.replace("-", "_"))

    @property
    def expected(self) -> str:
        """What a value may be, in words."""
        if self.type == "choice":
            return "one of " + ", ".join(f'"{choice}"' for choice in self.choices)
        kind = {
            "number": "a number",
            "numbers": "a number or a list of numbers, one per source",
            "integer": "a whole number",
            "flag": "True or False",
        }[self.type]
        return f"{kind} {self.rule}".rstrip() + (" or None" if self.default is None else "")

    def text(self, value: Any) -> str:
        """The value as the command line has it; TypeError where it is of another type."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if value is None and self.default is None:
            return "auto"
        found = _text_of(self.type, value)
        if found is None:
            raise TypeError(f"{self.parameter} = {value!r} is of type {type(value).__name__}; expected {self.expected}")
        return checked_text(found, self.parameter)

    def chosen(self, value: Any) -> str:
        """The value of a choice; ValueError where it is none of them."""
        if self.text(value) not in self.choices:
            raise ValueError(f'{self.parameter}: "{value}" is not one of {", ".join(self.choices)}')
        return str(value)

    def value(self, text: str) -> Any:
        """What `text` makes: the inverse of text()."""
        if text == "auto":
            return None
        if self.type == "number":
            return float(text)
        if self.type == "numbers":
            numbers = [float(part) for part in text.split(",")]
            return numbers[0] if len(numbers) == 1 else numbers
        if self.type == "integer":
            return int(text)
        return text == "true" if self.type == "flag" else text


@dataclass(frozen=True)
class Method:
    """A method and its options."""

    name: str
    summary: str
    uses_sources: bool
    options: tuple[Option, ...]

    def option(self, parameter: str) -> Option | None:
        """That with this name in Python."""
        return next((option for option in self.options if option.parameter == parameter), None)


def checked_text(text: str, what: str) -> str:
    """The text; ValueError where it is none that can be written, as of a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what}: the text {text!a} cannot be encoded; expected text that UTF-8 can write") from None
    return text


def checked_texts(texts: list[str], what: str) -> list[str]:
    """The same of many."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        for text in texts:
            checked_text(text, what)
    return texts


def flag(name: str, value: Any) -> bool:
    """An argument that is True or False; TypeError where it is neither."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} = {value!r} is of type {type(value).__name__}; expected True or False")
    return bool(value)


def number_text(value: Real) -> str:
    """A number that reads back to the same bits, written as the command line writes it."""
    return str(int(value)) if isinstance(value, Integral) else repr(float(value)).removesuffix(".0")


def is_number(value: Any) -> bool:
    """Whether it is a single real number; truth values are none."""
    return isinstance(value, (Real, Decimal)) and not isinstance(value, (bool, np.bool_))


def _text_of(kind: str, value: Any) -> str | None:
    """None where the value is not of this kind."""
    if kind == "numbers" and isinstance(value, (list, tuple, np.ndarray)):
        parts = [number_text(part) for part in value if is_number(part)]
        return ",".join(parts) if parts and len(parts) == len(value) else None
    if kind in ("number", "numbers"):
        return number_text(value) if is_number(value) else None
    if kind == "integer":
        return str(int(value)) if is_number(value) and isinstance(value, Integral) else None
    if kind == "flag":
        return ("true" if value else "false") if isinstance(value, (bool, np.bool_)) else None
    return str(value) if isinstance(value, str) else None


CALIBRATE = Option(
    name="calibrate",
    help="probabilities as the method has them, or by a sigmoid refitted on the bags' likelihood",
    type="choice",
    rule="none|bags",
    choices=("none", "bags"),
    default="none",
)


def _of_all(name: str, help: str, default: Any) -> Option:
    return Option(name, help, "other", "", (), default)


COMMON = (
    CALIBRATE,
    _of_all(
        "random-state",
        "where the random numbers start: the same number gives the same bits; None, a RandomState or a Generator: "
        "drawn from it at each fit",
        1,
    ),
    _of_all(
        "n-jobs",
        "how many threads to use; None and -1: one per core; the results are the same bits whatever their number",
        None,
    ),
    _of_all("verbose", "whether to show progress on stderr", False),
)


def _read(method: dict[str, Any]) -> Method:
    options = tuple(
        Option(o["name"], o["help"], o["type"], o["rule"], tuple(o["choices"]), o["default"]) for o in method["options"]
    )
    return Method(method["name"], method["summary"], method["uses_sources"], options)


METHODS = {method["name"]: _read(method) for method in _core.methods()}


def parameters_of(method: Method) -> tuple[Option, ...]:
    """All parameters of the method's estimator, in their order."""
    return method.options + COMMON


def signature_of(method: Method) -> inspect.Signature:
    """That of the estimator's constructor."""
    kinds = inspect.Parameter
    return inspect.Signature(
        [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
        + [kinds(o.parameter, kinds.KEYWORD_ONLY, default=o.default) for o in parameters_of(method)]
    )


_TYPES = {"number": "float", "numbers": "float or list of float", "integer": "int", "flag": "bool"}
_COMMON_TYPES = {"random-state": "int, RandomState, Generator or None", "n-jobs": "int or None", "verbose": "bool"}


def _documented(option: Option) -> str:
    kind = _TYPES.get(option.type) or _COMMON_TYPES.get(option.name)
    if kind is None:
        kind = "{" + ", ".join(f'"{choice}"' for choice in option.choices) + "}"
    if option.default is None and "None" not in kind:
        kind += " or None"
    text = option.help.replace("auto: ", "None: ").replace("the table's delta column", "the delta of `fit`")
    for choice in option.choices:
        text = re.sub(rf"\b{re.escape(choice)}(?=: )", f'"{choice}"', text)
    if option.rule and option.type != "choice":
        text += f" ({option.rule})"
    lines = textwrap.wrap(text[0].upper() + text[1:] + ".", 110)
    default = f'"{option.default}"' if isinstance(option.default, str) else option.default
    return f"{option.parameter} : {kind}, default={default}\n" + textwrap.indent("\n".join(lines), "    ")


def parameters_section(method: Method) -> str:
    """The section Parameters of the estimator's docstring."""
    return "Parameters\n----------\n" + "\n".join(_documented(option) for option in parameters_of(method))


ATTRIBUTES = """Attributes
----------
classes_ : array of shape (2,)
    The classes, 0 and 1.
coef_ : array of shape (1, n_features)
    Weights of the target's plane on raw values; of linear models only.
intercept_ : array of shape (1,)
    Its bias; of linear models only.
n_features_in_ : int
    The number of features of the fit.
feature_names_in_ : array of shape (n_features_in_,)
    Their names; only where X had names.
n_iter_ : int
    {rounds}
report_ : dict
    Objective, options as used, warnings, seconds and more: what `bagwise train --json` prints.
model_ : object
    The model itself."""


def given_texts(method: Method, estimator: Any) -> dict[str, str]:
    """The options of an estimator that are not at their default, as texts by the command line's names."""
    out = {}
    for option in method.options:
        text = option.text(getattr(estimator, option.parameter))
        if text != option.text(option.default):
            out[option.name] = text
    return out


# What the command line calls otherwise than Python does; what stands in quotes is the user's and stays as it is.
_IN_PYTHON = {
    **{o.name: o.parameter for method in METHODS.values() for o in method.options if o.name != o.parameter},
    "--align-features": "align_features=True",
    "--allow-leak": "allow_leak=True",
    "--scale standard": 'scale="standard"',
    "train with --method tl-llp and this source": "fit TLLLP with this source",
    "leave it out with --exclude": "leave it out",
    "predict --threshold or --proportions": "predict with bags and proportions, or another threshold on predict_proba,",
}
_OTHERWISE = re.compile(
    r'"[^"]*"|(?<![\w-])(' + "|".join(map(re.escape, sorted(_IN_PYTHON, key=len, reverse=True))) + r")(?![\w-])"
)


def in_python(message: str) -> str:
    """A message of the compiled half with names as they are in Python."""
    return _OTHERWISE.sub(lambda found: _IN_PYTHON.get(found[0], found[0]), message)


@contextmanager
def python_names() -> Iterator[None]:
    """Errors from within speak of parameters by their names in Python."""
    try:
        yield
    except ValueError as error:
        message = in_python(str(error))
        if message == str(error):
            raise
        raise type(error)(message) from None


_MOST_THREADS = 2**16


def whole_number(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    """An argument that counts; TypeError where it is no whole number, ValueError where it is too small or large."""
    if not isinstance(value, Integral) or not is_number(value):
        raise TypeError(f"{name} = {value!r} is of type {type(value).__name__}; expected a whole number >= {least}")
    if value < least:
        raise ValueError(f"{name} = {value} breaks {name} >= {least}")
    if int(value) > most:
        raise ValueError(f"{name} = {value} breaks {name} <= {most}")
    return int(value)


def seed_of(random_state: Any) -> int:
    """The seed a parameter random_state stands for."""
    if isinstance(random_state, Integral) and is_number(random_state):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state = {random_state} is no seed; expected a whole number from 0 to 2**64 - 1")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if random_state is None:
        return int(np.random.mtrand._rand.randint(2**32, dtype=np.uint64))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**32, dtype=np.uint64))
    raise TypeError(
        f"random_state = {random_state!r} is of type {type(random_state).__name__}; "
        "expected a whole number, a RandomState, a Generator or None"
    )


def threads_of(n_jobs: Any) -> int:
    """How many threads a parameter n_jobs stands for; 0: one per core."""
    if n_jobs is None:
        return 0
    if not isinstance(n_jobs, Integral) or not is_number(n_jobs):
        raise TypeError(f"n_jobs = {n_jobs!r} is of type {type(n_jobs).__name__}; expected a whole number or None")
    if n_jobs == 0:
        raise ValueError("n_jobs = 0 is no number of threads; expected at least 1, or -1 for all cores")
    if int(n_jobs) > 0:
        return min(int(n_jobs), _MOST_THREADS)
    return 0 if n_jobs == -1 else max(1, _cores() + 1 + int(n_jobs))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
