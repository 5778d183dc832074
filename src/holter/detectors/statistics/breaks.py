"""Sudden or accelerating departures from a trend or a level, at many time scales at once.

Rolling z-scores fire on every healthy trend. These tests compare the newest points with what a robust line through the
points before would have predicted, and ask for a material ratio besides statistical significance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.rolling import running_max, running_min, trailing_median

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SCALES = (20, 40, 80, 160, 320)
_CHUNK = 1 << 20


def recent(scale: int) -> int:
    """Number of newest points that are compared with `scale` points before."""
    return max(5, scale // 8)


def breaks_trend(
    x: NDArray[np.float64],
    *,
    z: float,
    ratio: float,
    up: bool = True,
    log: bool = False,
    floor: float = 0.0,
    scales: Sequence[int] = SCALES,
) -> NDArray[np.bool_]:
    """Where the newest points lie far beyond the line through the points before.

    Args:
        x: Finite values in step order; transform first (sqrt for a KL). Shape ``(n,)``.
        z: Robust standard deviations beyond the extrapolated line.
        ratio: Least factor beyond the line; what matters besides what is significant.
        up: Whether to look above (True) or below the line.
        log: Whether to fit the line to log(x), for losses, entropies and norms.
        floor: Least noise to assume, in the units of the fit.
        scales: Numbers of points before.

    Returns:
        Shape ``(n,)``.
    """
    y = np.log(np.maximum(x, 1e-12)) if log else x
    out = np.zeros(len(x), bool)
    for scale in scales:
        r = recent(scale)
        if len(x) < scale + r:
            break
        out |= _one_scale(y, scale, r, z=z, ratio=ratio, up=up, log=log, floor=floor)
    return out


def _one_scale(
    y: NDArray[np.float64], scale: int, r: int, *, z: float, ratio: float, up: bool, log: bool, floor: float
) -> NDArray[np.bool_]:
    n = len(y)
    out = np.zeros(n, bool)
    every = max(1, r // 4)
    ends = np.arange(scale + r - 1, n)
    ends = ends[(ends + 1) % every == 0]  # anchored at absolute positions, so that a prefix is judged the same
    u = np.arange(scale) - (scale - 1) / 2
    sxx = float((u**2).sum())
    asked = np.zeros(n, bool)
    asked[ends] = True
    mean = np.correlate(y, np.full(scale, 1.0 / scale), "valid")[ends - r - scale + 1]
    slope = np.correlate(y, u / sxx, "valid")[ends - r - scale + 1]
    newest = trailing_median(y, r, where=asked)[ends]
    last = trailing_median(y, min(10, scale), lag=r, where=asked)[ends]
    line = mean + slope * ((scale - 1) / 2 + (r + 1) / 2)
    line = np.maximum(line, last) if up else np.minimum(line, last)
    beyond = newest - line if up else line - newest
    if log:
        matters = beyond > np.log(ratio)
    else:
        matters = (newest > ratio * line) if up else (newest < line / ratio)
    kept = np.flatnonzero(matters & (beyond > z * max(floor, 1e-12)))
    windows = np.lib.stride_tricks.sliding_window_view(y, scale)
    for a in range(0, len(kept), max(1, _CHUNK // scale)):  # the spread is dear, and seldom asked for
        k = kept[a : a + max(1, _CHUNK // scale)]
        before = windows[ends[k] - r - scale + 1]
        residual = np.abs(before - mean[k, None] - slope[k, None] * u)
        spread = 1.4826 * np.median(residual, axis=1)
        out[ends[k[beyond[k] > z * spread]]] = True
    return out


def leaves_level(
    x: NDArray[np.float64],
    *,
    factor: float,
    up: bool = True,
    extreme: float = 1.5,
    scales: Sequence[int] = SCALES,
) -> NDArray[np.bool_]:
    """Where the median of the newest points is `factor` times that of the points before, and a new extreme.

    Args:
        x: Finite positive values in step order. Shape ``(n,)``.
        factor: Ratio of the medians, above 1 also when looking down.
        up: Whether to look for a rise (True) or a fall.
        extreme: How far beyond everything before, as a factor.
        scales: Numbers of points before.

    Returns:
        Shape ``(n,)``.
    """
    out = np.zeros(len(x), bool)
    for scale in scales:
        r = recent(scale)
        every = max(1, r // 4)
        newest = trailing_median(x, r, least=3, every=every)
        past = trailing_median(x, 2 * r, lag=r, least=3, every=every)
        with np.errstate(all="ignore"):
            beyond = newest > extreme * running_max(past) if up else newest < running_min(past) / extreme
            beyond &= (np.arange(1, len(x) + 1) % every == 0) | (np.arange(len(x)) < scale + r)
            before = trailing_median(x, scale, lag=r, least=max(8, scale // 4), where=beyond)
            out |= (newest > factor * before) if up else (newest < before / factor)
    return out


def accelerates(
    x: NDArray[np.float64],
    *,
    z: float,
    ratio: float,
    growth: float,
    scales: Sequence[int] = SCALES[:-1],
) -> NDArray[np.bool_]:
    """Where a series climbs much faster over the last stretch than over the one before: slow ramps that no line breaks.

    Three medians, now, one scale ago and two scales ago, make two climbs that are compared.

    Args:
        x: Finite values in step order; transform first, so that a healthy series is straight (sqrt for a KL). Shape ``(n,)``.
        z: Standard errors that the newer climb must exceed the older one by, whatever the autocorrelation.
        ratio: Factor that it must exceed the older one by.
        growth: Least factor between now and one scale ago.
        scales: Lengths of a stretch, in points.

    Returns:
        Shape ``(n,)``.
    """
    n = len(x)
    out = np.zeros(n, bool)
    grain = noise(x, lag=5)
    for scale in scales:
        r = recent(scale)
        if n < 2 * scale + r:
            break
        middle = trailing_median(x, r, least=r, every=max(1, r // 4))
        once, twice = np.full(n, np.nan), np.full(n, np.nan)
        once[scale:], twice[2 * scale :] = middle[:-scale], middle[: -2 * scale]
        with np.errstate(invalid="ignore"):
            newer, older = middle - once, once - twice
            error = 1.5 * grain.of_mean(r)
            out |= (
                (newer - ratio * np.maximum(older, 0) > z * error) & (newer > ratio * -older) & (middle > growth * once)
            )
    return out
