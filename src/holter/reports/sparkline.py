"""A series as a line of block characters that keeps its spikes and shows where it is not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCKS = "▁▂▃▄▅▆▇█"
NOT_FINITE = "×"


def sparkline(values: NDArray[np.float64], width: int = 40) -> str:
    """One character a bin. A bin shows its value farthest from the median, so that no spike is averaged away.

    Args:
        values: In step order, NaN and infinities included. Shape ``(n,)``.
        width: Most characters to use.

    Returns:
        At most `width` characters; ``×`` where a bin holds a value that is not finite. Empty when there are no values.
    """
    bins = np.array_split(values, min(width, len(values))) if len(values) else []
    finite = values[np.isfinite(values)]
    if not len(finite):
        return NOT_FINITE * len(bins)
    low, high, middle = float(finite.min()), float(finite.max()), float(np.median(finite))
    out = []
    for part in bins:
        if not np.isfinite(part).all():
            out.append(NOT_FINITE)
            continue
        value = float(part[np.argmax(np.abs(part - middle))])
        share = 0.5 if high == low else value / (high - low) - low / (high - low)
        out.append(BLOCKS[min(int(share * len(BLOCKS)), len(BLOCKS) - 1)])
    return "".join(out)


def bin_of(position: int, count: int, width: int = 40) -> int:
    """The character of `sparkline` that holds the value at `position` of `count` values."""
    bins = min(width, count)
    size, extra = divmod(count, bins)
    edge = extra * (size + 1)
    return position // (size + 1) if position < edge else extra + (position - edge) // size
