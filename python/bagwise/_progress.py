"""The line on stderr that shows how far a fit is."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bagwise._core import Watch

_WIDTH = 24


def _line(phase: str, done: float, total: float, gap: float) -> str:
    if total > 0:
        part = min(max(done / total, 0.0), 1.0)
        full = int(part * _WIDTH)
        out = f"{phase:<9} [{'#' * full}{'.' * (_WIDTH - full)}] {100 * part:3.0f}%"
    else:
        out = f"{phase:<9} {done:.0f}"
    return out + (f"  gap {gap:.1e}" if gap > 0 else "")


@contextmanager
def watching(verbose: bool) -> Iterator[Watch | None]:
    """What a fit calls to tell its progress: nothing unless `verbose`. At the end it says how long the work took."""
    if not verbose or sys.stderr is None:
        yield None
        return
    began = time.monotonic()
    widest = 0

    def watch(phase: str, done: float, total: float, gap: float) -> None:
        nonlocal widest
        line = _line(phase, done, total, gap)
        sys.stderr.write(f"\r{line:<{widest}}")
        sys.stderr.flush()
        widest = max(widest, len(line))

    ended = "stopped after"
    try:
        yield watch
        ended = "done in"
    finally:
        sys.stderr.write(f"\r{f'{ended} {time.monotonic() - began:.1f} s':<{widest}}\n")
        sys.stderr.flush()
