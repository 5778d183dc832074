"""A metric that can stand as evidence for a statement about rows: every finding quotes values of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from holter.runs.run import Run, Series


def fullest(run: Run) -> Series | None:
    """The metric with most values, the first by its key among equals; a counter only where nothing else is there."""
    held = [s for s in run.series.values() if len(s)]
    return min(held, key=lambda s: (s.derived, s.concept == "axis", -len(s), s.key), default=None)


def witness(run: Run, row: int) -> tuple[Series, int] | None:
    """A metric with a value on this row, and its position there; None when the row holds none."""
    for series in sorted(run.series.values(), key=lambda s: (s.derived, s.concept == "axis", -len(s), s.key)):
        i = int(np.searchsorted(series.at, row))
        if i < len(series) and series.at[i] == row:
            return series, i
    return None
