"""That the compiled half and numpy understand each other.

Arrays of numpy 2 are laid out otherwise than those of numpy 1. A compiled half that was built with a pybind11 before
2.12 knows the old layout only, and would read arrays wrongly without a word.
"""

from __future__ import annotations

import numpy as np

from bagwise import _core


def check_numpy() -> None:
    """ImportError where arrays do not come through as they are."""
    codes, values = _core.number_integers(np.array([7, 5, 7]))
    if codes.tolist() != [0, 1, 0] or values.tolist() != [7, 5]:
        raise ImportError(
            f"this build of bagwise cannot read the arrays of numpy {np.__version__}: "
            "build it with pybind11 2.12 or later, or use numpy 1"
        )
