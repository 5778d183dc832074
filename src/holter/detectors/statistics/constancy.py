"""Stretches in which a noisy number is exactly, or nearly, constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.drawdown import spread_or_less
from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.rolling import trailing_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIVELY = 8
"""Values before a stretch that must show that the number used to vary."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of equal values after livelier ones. Positions in the series.

    Attributes:
        first: First of the equal values.
        raised: Where it was long enough to be said.
        last: Last of the equal values.
        jump: The constant minus the level before, in standard deviations of the noise before.
        proven: Where it had lasted longer than chance could make it, as often as values repeated before; None if never.
    """

    first: int
    raised: int
    last: int
    jump: float
    proven: int | None


CHANCE = 1e-6
"""Probability below which a stretch of equal values is no accident."""


def equal_run(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many values in a row, up to each one, are equal to it. Shape ``(n,)``, at least 1."""
    n = len(x)
    same = np.zeros(n, bool)
    if n:
        same[1:] = x[1:] == x[:-1]
    position = np.arange(n)
    start = np.maximum.accumulate(np.where(same, 0, position))
    out: NDArray[np.int64] = position - start + 1
    return out


def goes_constant(x: NDArray[np.float64], least: int) -> list[Stretch]:
    """Stretches of at least `least` equal values that begin after lively ones.

    Args:
        x: Finite values in step order. Shape ``(n,)``.
        least: Equal values in a row that can be no accident.
    """
    run = equal_run(x)
    raised = np.flatnonzero(run == least)
    if not len(raised):
        return []
    sd, _ = spread_or_less(x)
    out = []
    changes = np.concatenate(([0], np.cumsum(np.diff(x) != 0)))
    ends = np.flatnonzero(np.concatenate((run[1:] == 1, [True])))
    for k in raised.tolist():
        first = k - least + 1
        a = max(0, first - 20)
        if first < LIVELY or changes[first - 1] - changes[a] < 0.7 * (first - 1 - a):
            continue
        before, noise = x[max(0, first - 5) : first], float(sd[first - 1])
        if not noise > 0:
            continue
        last = int(ends[np.searchsorted(ends, k)])
        repeats = first - 1 - int(changes[first - 1])
        often = (repeats + 1) / (first + 1)  # a repeat that was never seen may still happen
        proven = first + int(np.ceil(np.log(CHANCE) / np.log(often)))
        jump = float((x[k] - np.median(before)) / noise)
        out.append(Stretch(first, k, last, jump, proven if proven <= last else None))
    return out


def moves_less_than_noise(
    x: NDArray[np.float64], spread: NDArray[np.float64], samples: float, window: int
) -> NDArray[np.bool_]:
    """Where a mean of samples moves less than sampling alone would make it move.

    The mean of B samples with standard deviation s has noise s / sqrt(B). A mean that moves less than that for any
    B that could have been drawn is not a mean of fresh samples. A log that was smoothed before it was written moves less, by as
    much as its neighbouring values repeat each other, and so does a window of it by chance; so less is asked to be normal there.

    Args:
        x: Means in step order, not repeated. Shape ``(n,)``.
        spread: Standard deviation of single samples at the same rows, NaN where unknown. Shape ``(n,)``.
        samples: Larger than any batch.
        window: Values that are looked at together.

    Returns:
        Shape ``(n,)``.
    """
    n = len(x)
    if n < window:
        return np.zeros(n, bool)
    centre = trailing_mean(x, window, least=window)
    windows = np.lib.stride_tricks.sliding_window_view(x, window)
    sd = np.full(n, np.nan)
    sd[window - 1 :] = np.sqrt(((windows - centre[window - 1 :, None]) ** 2).sum(axis=1) / (window - 1))
    typical = np.sqrt(np.maximum(trailing_mean(np.nan_to_num(spread) ** 2, window, least=window), 0.0))
    known = trailing_mean(np.isfinite(spread).astype(np.float64), window, least=window) == 1
    with np.errstate(invalid="ignore"):
        fresh = 1.0 - noise(x, lag=window).rho
        out: NDArray[np.bool_] = known & (typical > 0) & (sd < fresh**2 * typical / np.sqrt(samples))
    # A trainer that logs its last value again at every row repeats it exactly; fresh means differ at least in the last digit.
    repeated = trailing_mean((equal_run(x) > 1).astype(np.float64), window, least=window)
    out &= repeated == 0
    return out


def ever_lively(x: NDArray[np.float64], lag: int) -> NDArray[np.bool_]:
    """Whether the values changed from row to row at some time up to `lag` before each one. Shape ``(n,)``."""
    changing = trailing_mean((equal_run(x) == 1).astype(np.float64), 20, least=LIVELY) >= 0.7
    seen = np.logical_or.accumulate(changing)
    out = np.zeros(len(x), bool)
    if lag < len(x):
        out[lag:] = seen[: len(x) - lag]
    return out
