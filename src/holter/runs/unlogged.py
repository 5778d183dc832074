"""Metrics that a run ceased to log while others went on: what is not looked at any more is not healthy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.language import said, some
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holter.runs.run import Series

LEAST = 3
"""Values that a name must have had before its silence means anything."""
OVERDUE = 2
"""Times its longest interval, in rows, that a name must have been silent for to have ended."""
ROWS = 10
"""Rows at the end of a run without a metric from which on people are told."""
_NAMED = 5


def has_ended(series: Series, rows: int) -> bool:
    """Whether a metric, as often as it was logged, would have come again by now.

    Args:
        series: The metric.
        rows: Rows of the run.
    """
    return len(series) >= LEAST and rows - 1 - int(series.at[-1]) > OVERDUE * int(np.diff(series.at).max())


def remarks(series: Iterable[Series], rows: int) -> Iterator[str]:
    """Which training metrics are missing at the end of a run, from which step on."""
    mine = [s for s in series if s.split is Split.TRAIN and s.concept != "axis" and not s.derived and len(s)]
    if not any(rows - 1 - int(s.at[-1]) < ROWS for s in mine):
        return
    ended: dict[float, list[str]] = {}
    for each in mine:
        if rows - 1 - int(each.at[-1]) >= ROWS and has_ended(each, rows):
            ended.setdefault(float(each.steps[-1]), []).append(each.metric)
    for step, names in ended.items():
        yield said(
            "not logged after step {step}, so that trouble there would go unseen: {metrics}",
            step=f"{step:g}",
            metrics=some(names, _NAMED),
        )
