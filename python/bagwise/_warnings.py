"""What bagwise warns with, and how."""

from __future__ import annotations

import inspect
import warnings


class BagwiseWarning(UserWarning):
    """A remark on the data or on the fit that does not stop it."""


def warn(category: type[Warning], message: str) -> None:
    """Warns of a place outside this package: that of the caller."""
    depth, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("bagwise."):
        frame = frame.f_back
        depth += 1
    warnings.warn(message, category, stacklevel=depth)
