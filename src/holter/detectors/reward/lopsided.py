"""A reward whose gain comes from one part alone: too few rows for a test of the fall, or a part that never moves at all.

Both speak of parts that are shares of completions (every value within 0 to 1), because only there is it known how much noise a
mean can have and what "hardly ever paid" means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.alignment import on_rows
from holter.detectors.statistics.rolling import running_max, trailing_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.runs.run import Run, Series

COMPLETIONS = 64
"""Completions that a logged mean is taken to rest on at least, where the log does not tell."""

HALF = 0.5
"""Share of its first level by which a part must change for it to matter: lost in few rows, gained over many."""

OTHER = 0.3
"""Relative change of completion length that counts as a third signal of another origin."""

FEW = 12
"""Rows from which on the test of the fall has power."""

LEVEL = 10
"""Values that make a level of a part."""

LEAST = 25
"""Rows without which nothing is said of a part that does not move: the cheap part is always learnt first."""

GAP = 0.1
"""Rise of the paid part that opens a gap; published studies of gamed judges set the onset at a gap of 0.08 to 0.12."""

UNPAID = 0.02
"""Level up to which a part counts as hardly ever paid."""

PAID = 0.1
"""Level from which on a part counts as paid: once it was, a level next to nothing is a fall."""

FIRST = 3
"""Values that show whether a part was ever paid."""

FOLLOWS = 0.05
"""Share of the other part's gain from which on a part follows it."""


@dataclass(frozen=True, slots=True, eq=False)
class Lopsided:
    """One part that carries the gain and one that does not. Positions are rows of the run.

    Attributes:
        low: The part that falls or stays.
        high: The part that rises.
        first: Row from which on it is so.
        raised: Row at which it could first be said.
        last: Last row that shows it.
        active: Whether it still holds in the last row.
    """

    low: Series
    high: Series
    first: int
    raised: int
    last: int
    active: bool


def falls_in_few_rows(run: Run, parts: list[Series], total: Series) -> Lopsided | None:
    """A part that loses half of its level or more while another and the total rise, in fewer rows than a test needs.

    Each change is held against the binomial noise of a batch of `COMPLETIONS`, and the fall must be steady over four rows or
    more, or come with a change of completion length.
    """
    found = [case for low in parts for high in parts if high is not low for case in _falls(run, low, high, total)]
    return min(found, key=_order, default=None)


def _falls(run: Run, low: Series, high: Series, total: Series) -> Iterator[Lopsided]:
    x, rows = low.values, low.at[:FEW]
    y, t = on_rows(high, rows), on_rows(total, rows)
    shares = _shares(x[:FEW]) & _shares(y)
    for k in range(1, len(rows)):
        if not (shares[k] and y[k] > y[0] and t[k] > t[0] and x[k] <= (1 - HALF) * x[0]):
            continue
        steady = k >= 3 and bool((np.diff(x[: k + 1]) < 0).all() and (np.diff(y[: k + 1]) > 0).all())
        if _z(x[0], x[k]) < 1.5 or _z(y[k], y[0]) < 3:
            continue
        if steady or _length_moved(run, int(low.at[0]), int(low.at[k])):
            back = np.flatnonzero(x[k + 1 :] > (x[0] + x[k]) / 2)
            last = k + 1 + int(back[0]) if len(back) else len(x) - 1
            yield Lopsided(low, high, int(low.at[1]), int(low.at[k]), int(low.at[last]), active=not len(back))
            return


def never_follows(parts: list[Series], paid: list[Series], total: Series) -> Lopsided | None:
    """A part that stays next to nothing while a paid one carries the whole gain of the reward, for `LEAST` rows and more."""
    best: Lopsided | None = None
    carrying: dict[bytes, list[tuple[Series, NDArray[np.float64], NDArray[np.bool_]]]] = {}
    for low in parts:
        idle = _hardly_paid(low.values)
        idle[: LEAST - 1] = False
        if not idle.any():
            continue
        rows = low.at.tobytes()
        if rows not in carrying:
            carrying[rows] = [(high, *_carries(high, low.at, total)) for high in paid]
        level = trailing_mean(low.values, LEVEL, least=LEVEL)
        for high, gain, carries in carrying[rows]:
            if high is low:
                continue
            # What could be said later than the best so far need not be looked at.
            end = len(low) if best is None else int(np.searchsorted(low.at, best.raised, side="right"))
            both = np.flatnonzero(idle[:end] & carries[:end])
            both = both[level[both] - level[LEVEL - 1] < FOLLOWS * gain[both]]
            if len(both):
                case = _stays(low, high, int(both[0]), idle & carries & (level - level[LEVEL - 1] < FOLLOWS * gain))
                best = min((c for c in (best, case) if c is not None), key=_order)
    return best


def _hardly_paid(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where a share of completions has always stood next to 0.

    A part that is exactly 0 throughout is dead-component's; one that was paid and fell has fallen, and did not stay.
    """
    with np.errstate(invalid="ignore"):
        level: NDArray[np.bool_] = trailing_mean(x, LEVEL, least=LEVEL) < UNPAID
        level &= running_max(trailing_mean(x, FIRST)) < PAID
    return level & _shares(x) & np.logical_or.accumulate(x > 0)


def _carries(high: Series, rows: NDArray[np.int64], total: Series) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """How much a part has gained since the first rows, and where that is `GAP` and more and all that the total has."""
    values = on_rows(high, rows)
    level = trailing_mean(values, LEVEL, least=LEVEL)
    paid = trailing_mean(on_rows(total, rows), LEVEL, least=LEVEL)
    start = LEVEL - 1
    with np.errstate(invalid="ignore"):
        gain = level - level[start]
        carries: NDArray[np.bool_] = (
            (gain > GAP) & (gain > HALF * level[start]) & (paid - paid[start] > 0.5 * gain) & _shares(values)
        )
    return gain, carries


def _stays(low: Series, high: Series, raised: int, flags: NDArray[np.bool_]) -> Lopsided:
    last = int(np.flatnonzero(flags)[-1])
    level = trailing_mean(on_rows(high, low.at), LEVEL, least=LEVEL)
    first = int(low.at[_opens(level, raised)])
    return Lopsided(low, high, first, int(low.at[raised]), int(low.at[last]), active=last == len(low) - 1)


def _order(case: Lopsided) -> tuple[int, str, str]:
    """The earliest first, so that later rows change nothing."""
    return case.raised, case.low.key, case.high.key


def _opens(other: NDArray[np.float64], raised: int) -> int:
    """The value from which on the gap opened: the last one at which a tenth of the gain so far was not made yet."""
    start = LEVEL - 1
    made = other[start : raised + 1] - other[start]
    under = np.flatnonzero(made < 0.1 * made[-1])
    return start + int(under[-1]) if len(under) else start


def _shares(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where every value so far can be a share of completions. Shape ``(n,)``."""
    with np.errstate(invalid="ignore"):
        return np.logical_and.accumulate((x >= 0) & (x <= 1))


def _z(a: float, b: float) -> float:
    """Difference of two shares in standard errors of a batch."""
    variance = (a * (1 - a) + b * (1 - b)) / COMPLETIONS
    return float((a - b) / np.sqrt(max(variance, 1e-12)))


def _length_moved(run: Run, early: int, late: int) -> bool:
    length = run.get("length")
    if length is None:
        return False
    before, after = on_rows(length, np.asarray([early, late]))
    return bool(before > 0 and abs(after / before - 1) > OTHER)
