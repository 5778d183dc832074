"""Keeping a departure flagged for as long as it has not been made good.

A test that compares the newest points with those before falls silent once the departure has become the usual thing. A
completion length that collapsed and never came back is not over, though.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.rolling import trailing_median

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEWEST = 5
BEFORE = 20


def hold(flags: NDArray[np.bool_], x: NDArray[np.float64], *, up: bool = True) -> NDArray[np.bool_]:
    """Flags that stay up until the series has gone half of its way back, on a logarithmic scale.

    The way is that from the median before the first flag to the median at it. What is said of a point depends on values up to it.

    Args:
        flags: Where a test noticed a departure. Shape ``(n,)``.
        x: Finite positive values that it was noticed in. Shape ``(n,)``.
        up: Whether the departure is a rise or a fall.
    """
    out = flags.copy()
    y = np.log(x)
    level = trailing_median(y, NEWEST)
    usual = trailing_median(y, BEFORE, lag=NEWEST)
    i = 0
    while True:
        raised = np.flatnonzero(flags[i:])
        if not len(raised):
            return out
        i += int(raised[0])
        base = usual[i] if np.isfinite(usual[i]) else y[0]
        middle = (base + level[i]) / 2
        back = np.flatnonzero((level[i:] < middle) if up else (level[i:] > middle))
        end = i + int(back[0]) if len(back) else len(x)
        out[i:end] = True
        i = max(end, i + 1)


def latched(begins: NDArray[np.bool_], holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where `holds` has been true without a break since a point at which `begins` was true as well.

    Args:
        begins: Shape ``(n,)``.
        holds: Shape ``(n,)``.

    Returns:
        Shape ``(n,)``; entry i depends on entries up to i only.
    """
    position = np.arange(len(holds))
    broken = np.maximum.accumulate(np.where(holds, -1, position))
    begun = np.maximum.accumulate(np.where(begins & holds, position, -1))
    out: NDArray[np.bool_] = holds & (begun > broken)
    return out
