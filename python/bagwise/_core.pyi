"""The compiled half of bagwise. Nothing here is for users: the estimators and functions of `bagwise` are.

Bad input is a ValueError with the words of the command line; a stop by Ctrl-C is a KeyboardInterrupt, whatever `watch`
raises passes through. The interpreter's lock is not held while a fit, a tuning or a diagnosis runs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

# Called several times a second with phase, done, total (0: unknown) and the relative gap (0: none yet).
Watch = Callable[[str, float, float, float], None]

def methods() -> list[dict[str, Any]]:
    """The methods there are: name, summary, uses_sources, and options as dicts of name, help, type, rule, choices and
    default (None: chosen by the method), all in their order."""

class Rows:
    """Rows of features with their names."""

    @staticmethod
    def dense(values: NDArray[np.float64], names: Sequence[str]) -> Rows:
        """Row-major float64, read in place: the array is kept, not copied. No other array is taken."""
    @staticmethod
    def csr(
        start: NDArray[np.int64],
        index: NDArray[np.int32],
        values: NDArray[np.float64],
        columns: int,
        names: Sequence[str],
    ) -> Rows:
        """Sparse rows, read in place, columns ascending within each row. A fault of the arrays is a ValueError."""
    @staticmethod
    def arrow(stream: object, what: str = "X") -> Rows:
        """What a capsule "arrow_array_stream" gives, copied to row-major float64; names are those of its columns."""
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def sparse(self) -> bool: ...
    def renamed(self, names: Sequence[str]) -> Rows:
        """The same rows under other names, not copied."""
    def take(self, columns: Sequence[int], names: Sequence[str]) -> Rows:
        """A copy with these columns in this order; -1 is a column of zeros."""
    def check_finite(self, what: str, threads: int = 0) -> None:
        """ValueError where a value is not finite: `what`, row and column from 1, the column's name, and what it is."""

def number_integers(bags: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Codes and distinct values, in order of first appearance."""

class Proportions:
    """Known shares by the name of the bag."""

    def __init__(self, what: str, header: Sequence[str], records: Sequence[Sequence[str]]) -> None:
        """A table as a file of proportions has it: `bag,proportion[,size]` or `bag,positives,size`, either with a
        further column `stderr` or `epsilon_dp`; all cells are text. `what` is what messages call it."""
    @staticmethod
    def of_shares(what: str, bags: Sequence[str], shares: NDArray[np.float64]) -> Proportions:
        """The same of shares that are numbers already, one for each bag: quicker where there are many."""
    @property
    def remarks(self) -> list[str]: ...

class Task:
    """Instances in bags, with what is known of each bag."""

    def __init__(
        self,
        name: str,  # "target", "source", "source-2", ...
        rows: Rows,
        codes: NDArray[np.uint32],  # one per row, into bags
        bags: Sequence[str],  # distinct names
        proportions: Proportions,
        bounds: NDArray[np.float64] | None = None,  # one per row
        what: str = "X",  # what messages call the instances
    ) -> None: ...
    @property
    def bag_names(self) -> list[str]:
        """Sorted, as the model knows them."""
    @property
    def bag_of_row(self) -> NDArray[np.uint32]: ...
    @property
    def bag_sizes(self) -> NDArray[np.int64]: ...
    @property
    def proportions(self) -> NDArray[np.float64]: ...

def check_same_features(target: Sequence[str], source: Sequence[str], what: str) -> None:
    """ValueError that names the first feature one of the two lacks."""

def check_options(method: str, options: dict[str, str], sources: int) -> None:
    """ValueError for an unknown option, a bad value, values that do not go together, or sources the method does not
    take. Options are texts by the command line's names ("C-source")."""

class Model:
    """A trained model, as the model file has it. Can be pickled."""

    def __init__(self, text: str) -> None:
        """Of the file's text, as a pickle has it."""

    @property
    def method(self) -> str: ...
    @property
    def features(self) -> list[str]: ...
    @property
    def tasks(self) -> list[str]:
        """Sources in order, the target last."""
    @property
    def options(self) -> dict[str, Any]:
        """As used, by the command line's names; None: chosen by the method."""
    @property
    def linear(self) -> bool:
        """Whether every task has a plane (of an average: the averaged one)."""
    @property
    def average(self) -> bool:
        """Whether it is an average over several planes: scores are then not those of the averaged plane."""
    @property
    def termination(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def plane(self, task: int) -> tuple[NDArray[np.float64], float]:
        """Weights and bias on raw values. ValueError for a kernel model."""
    def shared_weights(self) -> NDArray[np.float64] | None:
        """The part of the planes that all tasks share, on raw values; None: the model has no such part."""
    def scores(self, rows: Rows, task: int, threads: int = 0) -> NDArray[np.float64]: ...
    def probabilities(self, scores: NDArray[np.float64], task: int) -> NDArray[np.float64]:
        """Two columns: of the negative and of the positive class."""
    def find_task(self, name: str) -> int: ...
    def report(self) -> dict[str, Any]:
        """What `bagwise train --json` prints, without times and memory."""
    def text(self) -> str:
        """The model file's text."""
    @staticmethod
    def from_text(text: str, what: str) -> Model: ...
    def save(self, path: str | bytes) -> None: ...
    @staticmethod
    def load(path: str | bytes) -> Model: ...

def fit(
    method: str,
    options: dict[str, str],
    tasks: Sequence[Task],  # sources in order, the target last
    *,
    seed: int,
    threads: int,
    calibrate: bool,
    allow_leak: bool,
    watch: Watch | None,
) -> tuple[Model, dict[str, float]]:
    """The model and the seconds of its parts: reduce, solve, total."""

def tune(
    arms: Sequence[tuple[str, str | None, Sequence[tuple[str, Sequence[str]]]]],
    tasks: Sequence[Task],
    *,
    folds: int,
    repeats: int,
    criterion: str,
    combine: str | None,  # None: average, or best where a setting has a kernel
    search: str,
    tau: float,
    seed: int,
    threads: int,
    allow_leak: bool,
    watch: Watch | None,
) -> tuple[Model, dict[str, Any]]:
    """Each arm: a method, the text of a grid file (None: the method's own grid), and the values of options, as texts, to
    put over it. The dict is what `bagwise tune --json` prints, `table` in the order of the grid, and `best`, the number
    of the best setting in it."""

def diagnose(
    tasks: Sequence[Task],
    model: Model | None,
    *,
    folds: int,
    bootstrap: int,
    seed: int,
    threads: int,
    watch: Watch | None,
) -> tuple[dict[str, Any], str]:
    """What `bagwise diagnose` prints, with --json and without."""

def bag_folds(
    sizes: NDArray[np.int64], proportions: NDArray[np.float64], folds: int, seed: int
) -> list[NDArray[np.int64]]:
    """The numbers of the bags of each fold."""

def deal_bags(labels: NDArray[np.int8], size: int, seed: int) -> tuple[NDArray[np.uint32], list[str], NDArray[np.float64]]:
    """As `bagwise bag`: codes per row, names of the bags, share of positives per bag, bags sorted. Labels +1 and -1."""

def generate(
    kind: str,
    preset: str,
    *,
    source_rows: int | None,
    target_rows: int | None,
    test_rows: int | None,
    features: int | None,
    best_accuracy: float | None,
    angle_degrees: float | None,
    seed: int,
) -> dict[str, Any]:
    """As `bagwise generate`, None being what the preset has: source, target and test, each (X, labels +1/-1) with X a dense array or a tuple
    (start, index, values, columns); best_accuracy, angle_degrees, names."""

def proportion_metrics(
    scores: NDArray[np.float64], probabilities: NDArray[np.float64], codes: NDArray[np.uint32], known: NDArray[np.float64]
) -> dict[str, Any]:
    """As `bagwise evaluate`: mean_error, mean_soft_error, miscount, and per bag hard and soft."""

def matched_labels(
    scores: NDArray[np.float64], codes: NDArray[np.uint32], shares: NDArray[np.float64]
) -> NDArray[np.int64]:
    """As `bagwise predict --proportions`: in each bag so many of the highest scores are 1 that its share is met."""

def fit_by_bag(task: Task, probabilities: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Per bag, as `bagwise diagnose` has it: `share` (mean probability), `low` and `high` (its interval of 95 %),
    `p_value` of the known share, and `adjusted`, the same after all looks (Holm)."""
