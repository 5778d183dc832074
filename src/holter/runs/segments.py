"""Where a log begins again: resumes, several runs in one file, counters that restart with every epoch.

A step that goes back is only a restart when a metric that is logged throughout goes back with it. Rows of two processes, or
an evaluation that arrives late, go back without repeating anything and are merged; rows in no order at all are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

THROUGHOUT = 0.5
"""A metric with this share of the fullest metric's values or more is logged throughout."""

OFTEN = 0.25
"""Steps that go back at more than this share of the rows, and hardly ever repeat, were never in order."""

DISTINCT = 0.9
"""Share of distinct steps from which on steps hardly ever repeat."""


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The rows of one run in a log.

    Attributes:
        first: First row.
        end: Row after the last.
        resumes: Rows, counted from `first`, at which the run was resumed from an earlier step.
        void: Rows that a resume made worthless: logged before it, at or after the step it went back to.
            Shape ``(end - first,)``.
    """

    first: int
    end: int
    resumes: tuple[int, ...]
    void: NDArray[np.bool_]


def throughout(columns: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """The columns that are logged throughout, each by the rows that hold a value."""
    most = max((len(at) for at in columns), default=0)
    return [at for at in columns if len(at) >= max(THROUGHOUT * most, 1)]


def fullest(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Rows of the column with most values; empty where there is no column."""
    return max(columns, key=len, default=np.empty(0, np.int64))


def shares_steps(steps: NDArray[np.float64], columns: Sequence[NDArray[np.int64]], most: float = 0.5) -> bool:
    """Whether more than a share `most` of the fullest metric's values repeat the step before: it does not number the rows.

    Args:
        steps: Step of each row, in file order. Shape ``(n,)``.
        columns: For each metric, the rows that hold a value, increasing.
        most: Share of repeated steps that is still believed.
    """
    rows = fullest(columns)
    # Of two rows under one step the newer may correct the older; under a counter that must not repeat they are two.
    return len(rows) > (2 if most else 1) and float(np.mean(np.diff(steps[rows]) == 0)) > most


def out_of_order(steps: NDArray[np.float64], columns: Sequence[NDArray[np.int64]]) -> bool:
    """Whether rows come in no order, so that going back means nothing."""
    own = steps[fullest(columns)]
    if len(own) < 3 or float(np.mean(np.diff(own) < 0)) <= OFTEN:
        return False
    return len(np.unique(own)) >= DISTINCT * len(own)


def counted_on(
    steps: NDArray[np.float64], epochs: NDArray[np.float64] | None, columns: Sequence[NDArray[np.int64]]
) -> NDArray[np.float64] | None:
    """Steps counted on where the counter restarts with every epoch; None where it does not.

    An epoch that rises while the step falls tells such a counter from a resume and from a second run, where both fall.

    Args:
        steps: Step of each row, in file order. Shape ``(n,)``.
        epochs: Epoch of each row. Shape ``(n,)``; None where no epoch is logged.
        columns: For each metric, the rows that hold a value, increasing.
    """
    if epochs is None:
        return None
    backs = restarts(steps, columns)
    if not backs or not all(epochs[b] > epochs[b - 1] for b in backs):
        return None
    ahead = np.zeros(len(steps))
    with np.errstate(over="ignore", invalid="ignore"):
        for back, start in zip(backs, [0, *backs[:-1]], strict=True):
            apart = np.diff(steps[start:back])
            gap = np.min(apart[apart > 0], initial=np.inf)
            ahead[back] = np.max(steps[start:back]) + (gap if np.isfinite(gap) else 1.0) - steps[back]
        out: NDArray[np.float64] = steps + np.cumsum(ahead)
    return out if np.isfinite(out).all() else None


def restarts(steps: NDArray[np.float64], columns: Sequence[NDArray[np.int64]]) -> list[int]:
    """Rows at which the metrics that are logged throughout go back to an earlier step.

    Args:
        steps: Step of each row, in file order. Shape ``(n,)``.
        columns: For each metric, the rows that hold a value, increasing.
    """
    backs = np.flatnonzero(np.diff(steps) < 0) + 1
    if not len(backs) or out_of_order(steps, columns):
        return []
    found: set[int] = set()
    for at in throughout(columns):
        again = at[1:][np.diff(steps[at]) < 0]
        nearest = np.searchsorted(backs, again, side="right") - 1
        found.update(backs[nearest[nearest >= 0]].tolist())
    return sorted(found)


def segments(
    steps: NDArray[np.float64], columns: Sequence[NDArray[np.int64]], resumes: Sequence[int] | None = None
) -> list[Segment]:
    """The runs in a log: a new one begins where a restart falls back to the first step or below it.

    Args:
        steps: Step of each row, in file order. Shape ``(n,)``.
        columns: For each metric, the rows that hold a value, increasing.
        resumes: Rows at which the only run in it was resumed, where the log says so; None where the steps have to tell.
    """
    n = len(steps)
    if not n:
        return []
    if resumes is not None:
        return [_segment(steps, 0, n, list(resumes))]
    out: list[Segment] = []
    first, inner = 0, list[int]()
    for back in [*restarts(steps, columns), n]:
        if back < n and steps[back] > steps[first]:
            inner.append(back)
            continue
        out.append(_segment(steps, first, back, inner))
        first, inner = back, []
    return out


def _segment(steps: NDArray[np.float64], first: int, end: int, resumes: list[int]) -> Segment:
    if not resumes:
        return Segment(first, end, (), np.zeros(end - first, bool))
    floor = np.full(end - first, np.inf)
    for row in resumes:
        floor[row - first - 1] = min(floor[row - first - 1], steps[row])
    floor = np.minimum.accumulate(floor[::-1])[::-1]
    return Segment(first, end, tuple(r - first for r in resumes), steps[first:end] >= floor)
