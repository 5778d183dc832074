"""Trailing statistics: entry i depends on values up to i only. Windows that are not full yet use what there is."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_CHUNK = 1 << 20
"""Window entries held at once: memory stays bounded whatever the length of the run."""
_SHORT = 40
"""Longest windows whose medians are found by comparing columns."""
_BLOCK = 4096
"""Rows whose columns are compared at once; they stay in the processor's cache."""


def trailing_median(
    x: NDArray[np.float64],
    length: int,
    lag: int = 0,
    least: int = 1,
    every: int = 1,
    where: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Median of the `length` values that end `lag` before each one.

    Args:
        x: Finite values in step order. Shape ``(n,)``.
        length: Window, in logged points.
        lag: How many of the newest values to leave out; 0 includes the value itself.
        least: Fewer values than this give NaN.
        every: Once the window is full, look at every so many points only and keep the last answer in between. The points
            are anchored at the beginning of the run, so that a prefix says the same.
        where: Points to look at; the others are NaN. Not together with `every`. Shape ``(n,)``.

    Returns:
        Shape ``(n,)``.
    """
    return _trailing(x, length, lag, least, every, where, _medians)


def trailing_mad(
    x: NDArray[np.float64],
    length: int,
    lag: int = 0,
    least: int = 1,
    every: int = 1,
    where: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Median absolute deviation from the window's median, scaled to a normal's standard deviation. Shape ``(n,)``."""
    return _trailing(x, length, lag, least, every, where, _deviations)


def trailing_mean(x: NDArray[np.float64], length: int, lag: int = 0, least: int = 1) -> NDArray[np.float64]:
    """Mean of the `length` values that end `lag` before each one. Shape ``(n,)``."""
    n = len(x)
    ends = np.maximum(np.arange(1, n + 1) - lag, 0)
    starts = np.maximum(ends - length, 0)
    centre = float(x[0]) if n else 0.0
    total = np.concatenate(([0.0], np.cumsum(x - centre)))
    count = ends - starts
    with np.errstate(all="ignore"):
        mean = centre + (total[ends] - total[starts]) / count
    return np.where(count >= max(least, 1), mean, np.nan)


def running_max(x: NDArray[np.float64], lag: int = 0) -> NDArray[np.float64]:
    """Largest value up to `lag` before each one, NaN left out; -inf where there is none. Shape ``(n,)``."""
    shifted = np.full(len(x), -np.inf)
    kept = x[: max(len(x) - lag, 0)]
    shifted[lag:] = np.where(np.isnan(kept), -np.inf, kept)
    return np.maximum.accumulate(shifted)


def running_min(x: NDArray[np.float64], lag: int = 0) -> NDArray[np.float64]:
    """Smallest value up to `lag` before each one, NaN left out; inf where there is none. Shape ``(n,)``."""
    return -running_max(-x, lag)


def _trailing(
    x: NDArray[np.float64],
    length: int,
    lag: int,
    least: int,
    every: int,
    where: NDArray[np.bool_] | None,
    statistic: Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """A statistic of trailing windows; `statistic` gets rows of equal length, padded with inf, and how many count."""
    n = len(x)
    out = np.full(n, np.nan)
    least = max(least, 1)
    partial = np.arange(lag + min(least, length) - 1, min(n, lag + length - 1))
    if where is not None:
        partial = partial[where[partial]]
    if len(partial):
        have = partial - lag + 1
        padded = np.where(np.arange(length - 1) < have[:, None], x[np.minimum(np.arange(length - 1), n - 1)], np.inf)
        out[partial] = statistic(padded, have)
    full = np.arange(lag + length - 1, n)
    if not len(full) or length < least:
        return out
    at = full[((full + 1) % every == 0) | (full == full[0])] if where is None else full[where[full]]
    windows = np.lib.stride_tricks.sliding_window_view(x, length)
    step = max(1, _CHUNK // length)
    for a in range(0, len(at), step):
        part = at[a : a + step]
        out[part] = statistic(windows[part - lag - length + 1], np.full(len(part), length))
    if every > 1 and where is None:
        newest = (full + 1) // every * every - 1
        out[full] = out[np.maximum(newest, full[0])]
    return out


def _medians(rows: NDArray[np.float64], have: NDArray[np.int64]) -> NDArray[np.float64]:
    """Median of the first `have` entries of each row; the rest are inf."""
    length = rows.shape[1]
    low, high = (have - 1) // 2, have // 2
    if len(have) and have[0] == have[-1] == length:
        if length <= _SHORT and not np.isnan(rows).any():
            return _short_medians(rows)
        ordered = np.partition(rows, sorted({int(low[0]), int(high[0])}), axis=1)
    else:
        ordered = np.sort(rows, axis=1)
    row = np.arange(len(rows))
    out: NDArray[np.float64] = (ordered[row, low] + ordered[row, high]) / 2
    return out


def _short_medians(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median of each row, by comparing whole columns: of short rows several times faster than ordering one after another."""
    n, length = rows.shape
    low, high = (length - 1) // 2, length // 2
    out = np.empty(n)
    for a in range(0, n, _BLOCK):
        columns = list(np.ascontiguousarray(rows[a : a + _BLOCK].T))
        for first, second, least, greatest in _comparisons(length):
            one, other = columns[first], columns[second]
            if least:
                columns[first] = np.minimum(one, other)
            if greatest:
                columns[second] = np.maximum(one, other)
        out[a : a + _BLOCK] = (columns[low] + columns[high]) / 2
    return out


@cache
def _comparisons(length: int) -> tuple[tuple[int, int, bool, bool], ...]:
    """Comparisons that put the middle of `length` numbers in its place: two places, and which of both results is needed.

    References:
        Batcher, "Sorting networks and their applications" (1968): merging of odd and even places; without the comparisons
        on which the middle does not depend.
    """
    pairs: list[tuple[int, int]] = []
    merged = 1
    while merged < length:
        apart = merged
        while apart:
            pairs += [
                (i, i + apart)
                for begin in range(apart % merged, length - apart, 2 * apart)
                for i in range(begin, min(begin + apart, length - apart))
                if i // (2 * merged) == (i + apart) // (2 * merged)
            ]
            apart //= 2
        merged *= 2
    needed = {(length - 1) // 2, length // 2}
    kept = []
    for first, second in reversed(pairs):
        if needed & {first, second}:
            kept.append((first, second, first in needed, second in needed))
            needed |= {first, second}
    return tuple(reversed(kept))


def _deviations(rows: NDArray[np.float64], have: NDArray[np.int64]) -> NDArray[np.float64]:
    out: NDArray[np.float64] = 1.4826 * _medians(np.abs(rows - _medians(rows, have)[:, None]), have)
    return out
