"""Where a log begins again: resumes, several runs in one file, rows that share a step.

A step that goes back is only a restart when some metric is logged *again* for a step that it already had. Rows of two
processes, or an evaluation that arrives late, go back without repeating anything and are simply merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The rows of one run in a log.

    Attributes:
        first: First row.
        end: Row after the last.
        resumes: Rows, counted from `first`, at which the run was resumed from an earlier step.
        void: Rows that a resume made worthless: logged before it, at or after the step it went back to. Shape ``(end - first,)``.
    """

    first: int
    end: int
    resumes: tuple[int, ...]
    void: NDArray[np.bool_]


def restarts(steps: NDArray[np.float64], columns: Iterable[NDArray[np.int64]]) -> list[int]:
    """Rows at which a metric is logged again for a step it already had.

    Args:
        steps: Step of each row, in file order. Shape ``(n,)``.
        columns: For each metric, the rows that hold a value, increasing.
    """
    backs = np.flatnonzero(np.diff(steps) < 0) + 1
    if not len(backs):
        return []
    true: set[int] = set()
    for at in columns:
        again = at[1:][np.diff(steps[at]) < 0]
        if len(again):
            found = np.searchsorted(backs, again, side="right") - 1
            true.update(backs[found[found >= 0]].tolist())
    return sorted(true)


def segments(steps: NDArray[np.float64], columns: Iterable[NDArray[np.int64]]) -> list[Segment]:
    """The runs in a log: a new one begins where a restart falls back to the first step or below it."""
    n = len(steps)
    if not n:
        return []
    out: list[Segment] = []
    first, inner = 0, []
    for back in [*restarts(steps, columns), n]:
        if back < n and steps[back] > steps[first]:
            inner.append(back)
            continue
        out.append(_segment(steps, first, back, inner))
        first, inner = back, []
    return out


def _segment(steps: NDArray[np.float64], first: int, end: int, resumes: list[int]) -> Segment:
    floor = np.full(end - first, np.inf)
    for row in resumes:
        floor[row - first - 1] = min(floor[row - first - 1], steps[row])
    floor = np.minimum.accumulate(floor[::-1])[::-1]
    return Segment(first, end, tuple(r - first for r in resumes), steps[first:end] >= floor)


def shares_steps(steps: NDArray[np.float64], columns: Iterable[NDArray[np.int64]]) -> bool:
    """Whether most values of the fullest metric repeat the step before, so that the step does not number the rows."""
    fullest = max(columns, key=len, default=np.empty(0, np.int64))
    return len(fullest) > 3 and float(np.mean(np.diff(steps[fullest]) == 0)) > 0.5
