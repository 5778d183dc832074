"""Fewer values that draw the same picture: of each stretch of a long series its extremes, and the median between them.

Widths of stretches grow in leaps, so that a series that grows keeps its stretches, and all but the last of what was kept of
them, until the next leap: a page that has them is sent the end only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=np.generic)
MOST = 2000
"""Values of one series that a page carries; a longer series is thinned to its extremes."""


def thinned(values: NDArray[np.float64], most: int = MOST) -> NDArray[np.int64]:
    """Positions that draw the same picture: of each stretch its least and its greatest value and where it is not finite.

    Args:
        values: In step order. Shape ``(n,)``.
        most: Numbers to keep, at most and roughly, those of `middles` among them; all positions when there are no more.

    Returns:
        Increasing positions, the first and the last among them.
    """
    n = len(values)
    if n <= most:
        return np.arange(n, dtype=np.int64)
    width, stretches = _stretches(n, most)
    offsets = np.arange(stretches) * width
    broken = ~np.isfinite(values)
    is_broken = bool(broken.any())
    low = _folded(np.where(broken, np.inf, values) if is_broken else values, width)
    high = _folded(np.where(broken, -np.inf, values), width) if is_broken else low
    parts = [low.argmin(axis=1) + offsets, high.argmax(axis=1) + offsets, np.array([0, n - 1])]
    for kind in (np.isnan(values), values == np.inf, values == -np.inf) if is_broken else ():
        if kind.any():
            rows = _folded(kind, width)
            has = rows.any(axis=1)
            parts.append((rows.argmax(axis=1) + offsets)[has])
            parts.append((width - 1 - rows[:, ::-1].argmax(axis=1) + offsets)[has])
    # The last stretch is filled up with the last value.
    return np.unique(np.minimum(np.concatenate(parts), n - 1)).astype(np.int64)


def middles(values: NDArray[np.float64], most: int = MOST) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The line through the envelope of a thinned series: of each stretch the median of its finite values.

    Args:
        values: In step order. Shape ``(n,)``.
        most: As `thinned` was given it.

    Returns:
        Positions in the middles of the stretches and the medians there, NaN where a stretch has no finite value. Empty
        where nothing is thinned.
    """
    n = len(values)
    if n <= most:
        return np.arange(0), np.empty(0)
    width, stretches = _stretches(n, most)
    finite = np.isfinite(values)
    count = np.full(stretches, width)
    count[-1] = n - (stretches - 1) * width
    if not finite.all():
        values = np.where(finite, values, np.inf)
        count -= _folded(~finite, width, fill=False).sum(axis=1)
    # Whatever is not finite, and what the last stretch is filled up with, is sorted to the end.
    ordered = np.sort(_folded(values, width, fill=np.inf), axis=1)
    row = np.arange(stretches)
    low, high = ordered[row, np.maximum(count - 1, 0) // 2], ordered[row, np.minimum(count // 2, width - 1)]
    medians = np.where(count > 0, np.where(count > 0, low, 0.0) / 2 + np.where(count > 0, high, 0.0) / 2, np.nan)
    return np.minimum(row * width + width // 2, n - 1), medians


def _stretches(n: int, most: int) -> tuple[int, int]:
    """Width and number of the stretches: each costs a least, a greatest and a middle value.

    Widths are powers of two and the middles between them: 1, 2, 3, 4, 6, 8, 12, ...
    """
    least = -(-n // max(1, most // 3))
    power = 1 << (least - 1).bit_length()
    width = power * 3 // 4 if power >= 4 and power * 3 // 4 >= least else power
    return width, -(-n // width)


def _folded(x: NDArray[Kind], width: int, *, fill: float | None = None) -> NDArray[Kind]:
    """One stretch a row, the last one filled up, with its last value unless told. Shape ``(stretches, width)``."""
    short = -len(x) % width
    if not short:
        return x.reshape(-1, width)
    out = np.empty(len(x) + short, x.dtype)
    out[: len(x)] = x
    out[len(x) :] = x[-1] if fill is None else fill
    return out.reshape(-1, width)
