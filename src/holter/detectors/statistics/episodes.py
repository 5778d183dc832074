"""From flags on points to episodes: when it began, when it could be said, when it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


QUIET = 10
"""Clear points in a row after which an episode is over."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A stretch of points that show something. All are positions in the tested series.

    Attributes:
        raised: First flagged point: the earliest at which it could be said.
        last: Last flagged point.
        active: Whether it still holds at the end of the series.
    """

    raised: int
    last: int
    active: bool

    def brief(self, points: int) -> bool:
        """Whether it is over and lasted fewer than `points`: a passing matter."""
        return not self.active and self.last - self.raised < points


def unexcused(episode: Episode, excused: NDArray[np.bool_]) -> int | None:
    """First point of an episode at which nothing excuses it: where a warning can be said. None while there is none.

    An excuse that holds at the alarm, such as a rising reward, may end later; then the warning is that late, and stands.

    Args:
        episode: The episode.
        excused: Where something explains it as harmless, from what was known at each point. Shape ``(n,)``.
    """
    bare = np.flatnonzero(~excused[episode.raised : episode.last + 1])
    return episode.raised + int(bare[0]) if len(bare) else None


def unexcused_since(episode: Episode, excused: NDArray[np.bool_]) -> int:
    """Point of an episode since which nothing has excused it; its last point where something still does."""
    last = np.flatnonzero(excused[episode.raised : episode.last + 1])
    return min(episode.raised + int(last[-1]) + 1, episode.last) if len(last) else episode.raised


def persist(flags: NDArray[np.bool_], k: int, of: int) -> NDArray[np.bool_]:
    """Where at least `k` of the last `of` flags are up. Shape ``(n,)``."""
    total = np.concatenate(([0], np.cumsum(flags)))
    ends = np.arange(1, len(flags) + 1)
    out: NDArray[np.bool_] = (total[ends] - total[np.maximum(ends - of, 0)]) >= k
    return out


def episodes(flags: NDArray[np.bool_], quiet: int = QUIET) -> Iterator[Episode]:
    """Stretches of flags; one ends when `quiet` points in a row are clear.

    A single stretch may have gaps shorter than `quiet`, so that a flickering test is one episode and not twenty.
    """
    up = np.flatnonzero(flags)
    if not len(up):
        return
    cuts = np.flatnonzero(np.diff(up) > quiet)
    firsts = np.concatenate(([up[0]], up[cuts + 1]))
    lasts = np.concatenate((up[cuts], [up[-1]]))
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        yield Episode(first, last, len(flags) - 1 - last < quiet)


def onset(x: NDArray[np.float64], raised: int, window: int = 60) -> tuple[int, int, int]:
    """When a departure that was noticed at `raised` began: best guess, earliest, latest.

    A robust line stands for what went before, trend and all. It is followed either by another level (a jump) or by another
    slope (a ramp); every position is tried, and the one with the least Bayesian information criterion named. All positions
    that do nearly as well make the interval. No point after `raised` is used, so that live and afterwards agree.

    Args:
        x: Finite values in step order, transformed so that an ordinary ramp is straight: the logarithm of what grows
            exponentially. Shape ``(n,)``.
        raised: Position at which it was noticed.
        window: How many points before to look at first. Twice and four times as many are looked at when no break is found
            among them, or one that lies too near to the beginning of the window to have a past.

    Returns:
        Positions ``(best, low, high)`` with ``low <= best <= high <= raised``.
    """
    best = low = high = raised
    for length in (window, 2 * window, 4 * window):
        start = max(0, raised - length + 1)
        y = _without_outliers(x[start : raised + 1])
        if len(y) < 6:
            return raised, start, raised
        positions, cost, clear = _kinks(y)
        least = int(np.argmin(cost))
        near = positions[cost <= cost[least] + NEARLY]
        best, low, high = start + int(positions[least]), start + int(near[0]), start + int(near[-1])
        if start == 0 or (clear and best - start >= max(8, len(y) // 4)):
            break
    return best, low, high


def leap(x: NDArray[np.float64], raised: int, *, past: int = 10, recent: int = 5, z: float = 4.0) -> int | None:
    """Position of a jump that was noticed at once: the one step that makes most of the way from a level to another.

    `onset` weighs all that came before, and a series that had climbed to its level from nothing has a larger break there than
    two values after a jump make.

    Args:
        x: Finite values in step order. Shape ``(n,)``.
        raised: Position at which it was noticed.
        past: Values before the step that make the level.
        recent: How many of the newest values may be the step.
        z: Standard deviations of those values that the step must exceed.

    Returns:
        None where no step is most of the way.
    """
    for i in range(max(raised - recent + 1, past), raised + 1):
        before = x[i - past : i]
        level = float(np.median(before))
        way = float(np.median(x[i : raised + 1])) - level
        spread = 1.4826 * float(np.median(np.abs(before - level)))
        if abs(way) > z * spread and (x[i] - x[i - 1]) / way > 0.6:
            return i
    return None


NEARLY = 4.0
"""Difference of the criterion up to which a position counts as nearly as good: positive, but not strong evidence."""


def _without_outliers(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median of each inner point and its two neighbours. Shape ``(n,)``."""
    out = x.astype(np.float64, copy=True)
    if len(x) >= 3:
        low, high = np.minimum(x[:-2], x[1:-1]), np.maximum(x[:-2], x[1:-1])
        out[1:-1] = np.maximum(low, np.minimum(high, x[2:]))
    return out


def _kinks(y: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64], bool]:
    """Where a line through the points may break.

    Returns:
        Every position, the better criterion of jump and ramp there (each of shape ``(k,)``), and whether the best of them is
        clearly better than a line that does not break.
    """
    m = len(y)
    z = (y - float(y[0])) / (float(np.std(y)) or 1.0)
    positions = np.arange(min(4, m // 3), m)
    whole, ramp = _ramps(z, positions)
    errors = np.minimum(_jumps(z, positions), ramp)
    cost: NDArray[np.float64] = m * np.log(np.maximum(errors / m, 1e-12))
    unbroken = m * float(np.log(max(whole / m, 1e-12)))
    return positions, cost, unbroken - float(cost.min()) > 4 * float(np.log(m))


def _jumps(z: NDArray[np.float64], positions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Squared errors of a line before each position, at least 2, and a level from there on. Shape of `positions`."""
    m = len(z)
    n = positions.astype(np.float64)
    i = np.arange(m, dtype=np.float64)
    total, square, moment = (np.concatenate(([0.0], np.cumsum(v))) for v in (z, z**2, i * z))
    before, rest = total[positions], total[m] - total[positions]
    xy = moment[positions] - before * (n - 1) / 2
    line = square[positions] - before**2 / n - xy**2 / (n * (n**2 - 1) / 12)
    level = square[m] - square[positions] - rest**2 / (m - n)
    out: NDArray[np.float64] = np.maximum(line, 0.0) + np.maximum(level, 0.0)
    return out


def _ramps(z: NDArray[np.float64], positions: NDArray[np.int64]) -> tuple[float, NDArray[np.float64]]:
    """Squared errors of a line, and of one whose slope changes right before each position, at least 2.

    A change of slope is a column that is 0 before and counts up from 1; what it takes away is told by what a line leaves of it.
    """
    m = len(z)
    i = np.arange(m) - (m - 1) / 2
    width = m * (m**2 - 1) / 12
    left = z - z.mean() - i * (float(i @ z) / width)
    shared = np.cumsum(np.cumsum(left[::-1]))[::-1][positions]
    k = (m - positions).astype(np.float64)
    count = k * (k + 1) / 2
    square = k * (k + 1) * (2 * k + 1) / 6
    along = square + count * (positions - 1 - (m - 1) / 2)
    own = square - count**2 / m - along**2 / width
    whole = float(left @ left)
    return whole, np.maximum(whole - shared**2 / own, 0.0)
