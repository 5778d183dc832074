"""From flags on points to episodes: when it began, when it could be said, when it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


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


def persist(flags: NDArray[np.bool_], k: int, of: int) -> NDArray[np.bool_]:
    """Where at least `k` of the last `of` flags are up. Shape ``(n,)``."""
    total = np.concatenate(([0], np.cumsum(flags)))
    ends = np.arange(1, len(flags) + 1)
    out: NDArray[np.bool_] = (total[ends] - total[np.maximum(ends - of, 0)]) >= k
    return out


def episodes(flags: NDArray[np.bool_], quiet: int = 10) -> Iterator[Episode]:
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

    A step and a hinge are fitted, by least absolute deviations, to the points up to `raised` (none after it, so that live and
    afterwards agree); the better of the two names the point, all positions that fit nearly as well the interval.

    Args:
        x: Finite values in step order, transformed as for the test that noticed it. Shape ``(n,)``.
        raised: Position at which it was noticed.
        window: How many points before to look at.

    Returns:
        Positions ``(best, low, high)`` with ``low <= best <= high <= raised``.
    """
    start = max(0, raised - window + 1)
    y = x[start : raised + 1]
    m = len(y)
    if m < 4:
        return raised, start, raised
    t = np.arange(m, dtype=np.float64)
    costs = np.full(m, np.inf)
    for c in range(1, m):
        before, after = y[:c], y[c:]
        level = float(np.median(before))
        step = np.abs(before - level).sum() + np.abs(after - np.median(after)).sum()
        ramp = t[c:] - (c - 1)
        slope = float(np.median((after - level) / ramp))
        hinge = np.abs(before - level).sum() + np.abs(after - level - slope * ramp).sum()
        costs[c] = min(step, hinge)
    best = int(np.argmin(costs))
    near = np.flatnonzero(costs <= costs[best] * 1.05 + 1e-12)
    return start + best, start + int(near.min()), start + int(near.max())
