"""Whether a few evaluations rose to a peak and then fell, or only look so.

The test compares two shapes: one that never falls (isotonic), and one that rises to a peak and falls after it. The difference
of their squared errors, in units of the evaluation's own noise, is a likelihood ratio. "Lower than the best so far" is true of
almost every evaluation of a healthy run; this is not.

References:
    Frisen, "Unimodal regression" (1986). Barlow et al., "Statistical Inference under Order Restrictions" (1972).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 120
"""Evaluations looked at together. Longer series are dense enough for block means."""


LARGEST = 1e100
"""Magnitude beyond which a value is cut off, so that squares stay finite."""

SPACINGS = ((1, 3), (2, 12), (4, 24))
"""Distances over which second differences are taken, each with the fewest evaluations that allow it."""


@dataclass(frozen=True, slots=True, eq=False)
class Peak:
    """The best rise-then-fall through a series, judged anew at every point from the points up to it.

    Attributes:
        ratio: Likelihood ratio statistic of rise-then-fall against never-falls; 0 where it cannot be told. Shape ``(n,)``.
        at: Position of the peak. Shape ``(n,)``.
        height: Fitted level at the peak. Shape ``(n,)``.
        now: Fitted level at the point itself. Shape ``(n,)``.
        sd: Noise of one evaluation that the ratio is measured in. Shape ``(n,)``.
    """

    ratio: NDArray[np.float64]
    at: NDArray[np.int64]
    height: NDArray[np.float64]
    now: NDArray[np.float64]
    sd: NDArray[np.float64]


def rise_then_fall(e: NDArray[np.float64], stderr: NDArray[np.float64] | None = None, floor: float = 0.01) -> Peak:
    """Rise-then-fall against never-falls, at every prefix.

    Args:
        e: Evaluations in step order, at most `MOST`. Shape ``(n,)``.
        stderr: Standard error of each evaluation, NaN where it is unknown. Shape ``(n,)``.
        floor: Least noise to assume, as a share of the largest magnitude so far: numbers are rounded.
    """
    n = len(e)
    out = Peak(np.zeros(n), np.zeros(n, np.int64), np.array(e), np.array(e), np.full(n, np.nan))
    e = np.clip(e, -LARGEST, LARGEST)
    for k in range(2, n):
        if stderr is None or not np.isfinite(stderr[: k + 1]).all():
            sd = max(scatter(e[: k + 1]), floor * float(np.abs(e[: k + 1]).max()))
        else:
            sd = float(np.sqrt(np.mean(stderr[: k + 1] ** 2)))
        out.sd[k] = sd
        if not sd > 1 / LARGEST:
            continue
        calm = without_outliers(e[: k + 1])
        up = rising_errors(calm)
        down = rising_errors(calm[::-1])  # falling through the points from j on is rising through them backwards
        total = np.concatenate((up[:k] + down[k - 1 :: -1], up[k:]))
        # With the second highest point as the peak, the highest may begin the fall: both fit alike, the later one is meant.
        j = int(np.flatnonzero(total <= total.min() + 1e-9 * sd**2)[-1])
        out.ratio[k] = max(float(up[k] - total[j]), 0.0) / sd**2
        out.at[k] = j
        out.height[k] = rising(calm[: j + 1])[-1]
        out.now[k] = rising(calm[k:j:-1])[0] if j < k else out.height[k]
    return out


def without_outliers(e: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median of each inner point and its two neighbours: one lucky evaluation is no peak. The ends stay. Shape ``(n,)``."""
    if len(e) < 6:
        return e
    out = e.copy()
    out[1:-1] = np.median(np.stack((e[:-2], e[1:-1], e[2:])), axis=0)
    return out


def scatter(e: NDArray[np.float64]) -> float:
    """Noise of one evaluation around a trend, from so few that their own estimate has to be corrected upwards.

    Args:
        e: Evaluations in step order. Shape ``(n,)``, ``n >= 3``.
    """
    # Neighbours that repeat each other make second differences too small; taken further apart, less so.
    gaps = [gap for gap, least in SPACINGS if len(e) >= least]
    robust = max(float(np.median(np.abs(e[2 * g :] - 2 * e[g:-g] + e[: -2 * g]))) for g in gaps)
    return float(1.4826 * robust / np.sqrt(6.0) * np.sqrt(1 + 6.0 / (len(e) - 2)))


def rising(e: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least-squares fit that never falls (pool adjacent violators). Shape ``(n,)``."""
    levels: list[float] = []
    counts: list[int] = []
    for value in e.tolist():
        levels.append(value)
        counts.append(1)
        while len(levels) > 1 and levels[-2] > levels[-1]:
            level, count = levels.pop(), counts.pop()
            levels[-1] = (levels[-1] * counts[-1] + level * count) / (counts[-1] + count)
            counts[-1] += count
    return np.repeat(np.asarray(levels), counts)


def rising_errors(e: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared error of the fit that never falls, for every prefix of `e`. Shape ``(n,)``, linear time."""
    out = np.zeros(len(e))
    levels: list[float] = []
    counts: list[int] = []
    within: list[float] = []
    total = 0.0
    for i, value in enumerate(e.tolist()):
        levels.append(value)
        counts.append(1)
        within.append(0.0)
        while len(levels) > 1 and levels[-2] > levels[-1]:
            level, count, error = levels.pop(), counts.pop(), within.pop()
            both = counts[-1] + count
            joined = within[-1] + error + counts[-1] * count / both * (levels[-1] - level) ** 2
            total += joined - within[-1] - error
            levels[-1] = (levels[-1] * counts[-1] + level * count) / both
            counts[-1], within[-1] = both, joined
        out[i] = total
    return out
