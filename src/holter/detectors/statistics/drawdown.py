"""Falls from the best level a series has reached, at many time scales at once.

"Ten percent below its best" fires on every noisy reward. These tests compare means of blocks, ask for many standard errors
because the best block was picked out of many, and leave the question of what matters to the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.episodes import persist
from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.rolling import running_max, trailing_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCKS = (3, 5, 10, 20, 40)
"""Lengths of the blocks that are compared, in logged points."""

START = 5
"""Points that say where a series began."""


def spread_or_less(x: NDArray[np.float64], lag: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Noise and autocorrelation of `x`, with a fallback where most points are equal.

    A median of differences is exactly zero on a sparse reward, or on one that has not moved yet; the mean square is not,
    unless the series is constant.

    Args:
        x: Finite values in step order. Shape ``(n,)``.
        lag: How many of the newest points to leave out.

    Returns:
        Standard deviation (NaN while unknown) and autocorrelation. Each of shape ``(n,)``.
    """
    grain = noise(x, lag=lag)
    squares = np.full(len(x), np.nan)
    if len(x) > 2:
        squares[2:] = (x[2:] - 2 * x[1:-1] + x[:-2]) ** 2 / 6
        squares[2:] = _lagged(trailing_mean(squares[2:], 80, least=3), lag)
    rough = np.sqrt(np.maximum(squares, 0.0))
    sd = np.where(np.nan_to_num(grain.sd) > 0, grain.sd, rough)
    return sd, grain.rho


def falls_from_best(
    x: NDArray[np.float64],
    *,
    z: float,
    share: float,
    least: NDArray[np.float64] | float,
    warm: int = 8,
) -> NDArray[np.bool_]:
    """Where the newest block lies far below the best block so far, for several rows in a row.

    Args:
        x: Finite values in step order. Shape ``(n,)``.
        z: Standard errors of a difference of two block means.
        share: Part of what was gained since the first points that must be lost; not asked where nothing was gained.
        least: Least fall that matters, in units of `x`. A number, or one a point.
        warm: Points before the first that can be flagged.

    Returns:
        Shape ``(n,)``.
    """
    n = len(x)
    out = np.zeros(n, bool)
    if n <= warm:
        return out
    start = float(np.median(x[:START]))
    for r in BLOCKS:
        if n < 2 * r + 2:
            break
        block = trailing_mean(x, r, least=r)
        best = running_max(block, lag=r)
        sd, rho = spread_or_less(x, lag=2 * r)
        inflated = np.minimum((1 + rho) / (1 - rho) * 2 / r, 2.0)
        with np.errstate(invalid="ignore"):
            se = sd * np.sqrt(inflated)
            fall = best - block
            gain = best - start
            hit = (fall > z * se) & (fall > least) & ((fall > share * gain) | (gain < 3 * se))
        out |= persist(hit, min(r, 5), min(r, 5))
    out[:warm] = False
    return out


def _lagged(x: NDArray[np.float64], lag: int) -> NDArray[np.float64]:
    out = np.full(len(x), np.nan)
    if lag < len(x):
        out[lag:] = x[: len(x) - lag]
    return out
