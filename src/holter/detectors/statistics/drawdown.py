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
    spread: NDArray[np.float64] | None = None,
) -> NDArray[np.bool_]:
    """Where the newest block lies far below the best block so far, for several rows in a row.

    Args:
        x: Finite values in step order. Shape ``(n,)``.
        z: Standard errors of a difference of two block means, as if points were independent: large enough for neighbours that
            are correlated by a half, whose means scatter 1.7 times as much. More are asked of the first points.
        share: Part of what was gained since the first points that must be lost; not asked where nothing was gained.
        least: Least fall that matters, in units of `x`. A number, or one a point.
        warm: Points before the first that can be flagged.
        spread: Noise of `x` as `spread_or_less` tells it, where it is known already. Shape ``(n,)``.

    Returns:
        Shape ``(n,)``.
    """
    n = len(x)
    out = np.zeros(n, bool)
    if n <= warm:
        return out
    start = float(np.median(x[:START]))
    sds = spread_or_less(x)[0] if spread is None else spread
    sparse = _repeats(x)
    for r in BLOCKS:
        if n < 2 * r + 2:
            break
        block = trailing_mean(x, r, least=r)
        best, top = running_max(block, lag=r), best_at(block, lag=r)
        # What is tested must not set its own yardstick, however long ago it fell: the noise is that of the time of the best.
        known = np.where(np.isfinite(sds[top]), top, np.maximum(np.arange(n) - 2 * r, 0))
        strict = z * (1 + 10 / (known + 1))  # noise that was estimated from few points is often too small
        with np.errstate(invalid="ignore"):
            se = sds[known] * np.sqrt(2 / r)
            fall = best - block
            gain = best - start
            hit = (fall > strict * se) & (fall > least) & ((fall > share * gain) | (gain < 3 * se))
        if (hit & sparse).any():
            hit &= ~sparse | _most_of_the_block(x, r)
        # One value may drag a mean far down, for as many rows as the block has; where the median did not follow, no level fell.
        position = np.arange(n)
        young = hit & (position - np.maximum.accumulate(np.where(hit, -1, position)) <= r)
        middle = trailing_median(x, r, where=young)
        with np.errstate(invalid="ignore"):
            hit &= ~young | (best - middle > 0.5 * fall)
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


def best_at(block: NDArray[np.float64], lag: int) -> NDArray[np.int64]:
    """Position of the largest value up to `lag` before each point; 0 where there is none. NaN is none. Shape ``(n,)``."""
    filled = np.where(np.isfinite(block), block, -np.inf)
    best = np.maximum.accumulate(filled)
    new = np.concatenate(([True], filled[1:] > best[:-1]))
    where = np.maximum.accumulate(np.where(new, np.arange(len(block)), 0))
    out = np.zeros(len(block), np.int64)
    if lag < len(block):
        out[lag:] = where[: len(block) - lag]
    return out


def lagged(x: NDArray[np.float64], lag: int) -> NDArray[np.float64]:
    """Values as they stood `lag` points before; NaN before there were any. Shape ``(n,)``."""
    out = np.full(len(x), np.nan)
    if lag < len(x):
        out[lag:] = x[: len(x) - lag]
    return out
