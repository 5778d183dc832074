"""Falls from the best level a series has reached, at many time scales at once.

"Ten percent below its best" fires on every noisy reward. These tests compare means of blocks, ask for many standard errors
because the best block was picked out of many, and leave the question of what matters to the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.episodes import persist
from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.rolling import running_max, trailing_mean, trailing_median

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCKS = (3, 5, 10, 20, 40)
"""Lengths of the blocks that are compared, in logged points."""

START = 5
"""Points that say where a series began."""


def spread_or_less(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Noise and autocorrelation of `x`, with a fallback where most points are equal.

    A median of differences is exactly zero on a sparse reward; the mean square over everything so far is not.

    Args:
        x: Finite values in step order. Shape ``(n,)``.

    Returns:
        Standard deviation (NaN while unknown) and autocorrelation. Each of shape ``(n,)``.
    """
    grain = noise(x)
    squares = np.full(len(x), np.nan)
    if len(x) > 2:
        squares[2:] = trailing_mean((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2 / 6, len(x), least=3)
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
        z: Standard errors of a difference of two block means; more are asked of the first points.
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
    strict = z * (1 + 10 / np.arange(1, n + 1))  # noise that was estimated from few points is often too small
    sds, rhos = spread_or_less(x)
    sparse = _repeats(x)
    for r in BLOCKS:
        if n < 2 * r + 2:
            break
        block = trailing_mean(x, r, least=r)
        best = running_max(block, lag=r)
        sd, rho = lagged(sds, 2 * r), lagged(rhos, 2 * r)  # what is tested must not set its own yardstick
        inflated = np.minimum((1 + rho) / (1 - rho) * 2 / r, 2.0)
        with np.errstate(invalid="ignore"):
            se = sd * np.sqrt(inflated)
            fall = best - block
            gain = best - start
            hit = (fall > strict * se) & (fall > least) & ((fall > share * gain) | (gain < 3 * se))
        if (hit & sparse).any():
            hit &= ~sparse | _most_of_the_block(x, r)
        out |= persist(hit, min(r, 5), min(r, 5))
    out[:warm] = False
    return out


def _repeats(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where more than a quarter of the values so far repeat the one before, as sparse rewards do. Shape ``(n,)``."""
    same = np.concatenate(([0], np.cumsum(np.diff(x) == 0)))
    out: NDArray[np.bool_] = same > 0.25 * np.arange(len(x))
    return out


def _most_of_the_block(x: NDArray[np.float64], r: int) -> NDArray[np.bool_]:
    """Where the median of the newest block is below the best earlier one: a single hit of a sparse reward is no level."""
    middle = trailing_median(x, r, least=r)
    out: NDArray[np.bool_] = middle < running_max(middle, lag=r)
    return out


def lagged(x: NDArray[np.float64], lag: int) -> NDArray[np.float64]:
    """Values as they stood `lag` points before; NaN before there were any. Shape ``(n,)``."""
    out = np.full(len(x), np.nan)
    if lag < len(x):
        out[lag:] = x[: len(x) - lag]
    return out
