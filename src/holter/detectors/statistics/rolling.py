"""Trailing statistics: entry i depends on values up to i only. Windows that are not full yet use what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_CHUNK = 1 << 20
"""Window entries held at once: memory stays bounded whatever the length of the run."""


def trailing_median(x: NDArray[np.float64], length: int, lag: int = 0, least: int = 1) -> NDArray[np.float64]:
    """Median of the `length` values that end `lag` before each one.

    Args:
        x: Finite values in step order. Shape ``(n,)``.
        length: Window, in logged points.
        lag: How many of the newest values to leave out; 0 includes the value itself.
        least: Fewer values than this give NaN.

    Returns:
        Shape ``(n,)``.
    """
    return _trailing(x, length, lag, least, lambda w: np.median(w, axis=-1))


def trailing_mad(x: NDArray[np.float64], length: int, lag: int = 0, least: int = 1) -> NDArray[np.float64]:
    """Median absolute deviation from the window's median, scaled to a normal's standard deviation. Shape ``(n,)``."""

    def mad(w: NDArray[np.float64]) -> NDArray[np.float64]:
        out: NDArray[np.float64] = 1.4826 * np.median(np.abs(w - np.median(w, axis=-1, keepdims=True)), axis=-1)
        return out

    return _trailing(x, length, lag, least, mad)


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
    shifted[lag:] = np.where(np.isnan(x[: len(x) - lag]), -np.inf, x[: len(x) - lag])
    return np.maximum.accumulate(shifted)


def running_min(x: NDArray[np.float64], lag: int = 0) -> NDArray[np.float64]:
    """Smallest value up to `lag` before each one, NaN left out; inf where there is none. Shape ``(n,)``."""
    return -running_max(-x, lag)


def _trailing(
    x: NDArray[np.float64],
    length: int,
    lag: int,
    least: int,
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    n = len(x)
    out = np.full(n, np.nan)
    for i in range(lag, min(n, lag + length - 1)):  # windows that are not full yet
        have = i - lag + 1
        if have >= least:
            out[i] = statistic(x[:have])
    if n - lag >= length and length >= least:
        windows = np.lib.stride_tricks.sliding_window_view(x[: n - lag], length)
        step = max(1, _CHUNK // length)
        for a in range(0, len(windows), step):
            out[lag + length - 1 + a : lag + length - 1 + a + step] = statistic(windows[a : a + step])
    return out
