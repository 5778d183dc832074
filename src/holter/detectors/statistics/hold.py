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


def hold(
    flags: NDArray[np.bool_],
    x: NDArray[np.float64],
    *,
    up: bool = True,
    log: bool = True,
    base: NDArray[np.float64] | None = None,
) -> NDArray[np.bool_]:
    """Flags that stay up until the series has gone half of its way back.

    The way is that from the level before the first flag to the median at it. What is said of a point depends on values up to it.

    Args:
        flags: Where a test noticed a departure. Shape ``(n,)``.
        x: Finite values that it was noticed in; positive where `log`. Shape ``(n,)``.
        up: Whether the departure is a rise or a fall.
        log: Whether half of the way is meant on a logarithmic scale.
        base: Level that each point departed from, where the test knows it better than the median of the values before.
    """
    out = flags.copy()
    y = np.log(x) if log else x
    level = trailing_median(y, NEWEST)
    if base is None:
        usual = trailing_median(y, BEFORE, lag=NEWEST)
    else:
        usual = np.log(base) if log else base
    i = 0
    while True:
        raised = np.flatnonzero(flags[i:])
        if not len(raised):
            return out
        i += int(raised[0])
        start = usual[i] if np.isfinite(usual[i]) else y[0]
        middle = (start + level[i]) / 2
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
