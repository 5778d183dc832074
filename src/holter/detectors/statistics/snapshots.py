"""What a handful of rows shows: people paste two to eleven rows, each a snapshot of the run.

No test has power there. What is left: every later value lies beyond every earlier one, by an amount that matters, and is held by
more than one row, by the noise a mean can have at most, or by a signal of another origin. That is a pattern and never more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FEW = 12
"""Values of a series below which its rows are snapshots; from then on the tests speak."""

COMPLETIONS = 64
"""Completions that a logged mean is taken to rest on at least, where the log does not tell."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A level that changed within the first rows. Positions are those of the series.

    Attributes:
        began: First value of the new level.
        raised: Value at which it is said.
        before: Median of all values before.
        after: Median from `began` to `raised`.
    """

    began: int
    raised: int
    before: float
    after: float

    @property
    def earlier(self) -> int:
        """Values before."""
        return self.began

    @property
    def later(self) -> int:
        """Values since."""
        return self.raised - self.began + 1


def shifts(values: NDArray[np.float64], *, up: bool) -> Iterator[Shift]:
    """Every way to cut the first `FEW` values in two so that all later ones lie above, or below, all earlier ones.

    In the order in which they could be said, the earliest beginning first.

    Args:
        values: Finite values of a series. Shape ``(n,)``.
        up: Whether a rise is looked for.
    """
    x = values[:FEW] if up else -values[:FEW]
    for k in range(1, len(x)):
        for c in range(1, k + 1):
            if x[c : k + 1].min() > x[:c].max():
                yield Shift(c, k, float(np.median(values[:c])), float(np.median(values[c : k + 1])))


def errors_apart(values: NDArray[np.float64], shift: Shift, items: int = COMPLETIONS) -> float:
    """Size of a shift in the standard errors of shares of `items` completions a row; NaN where a value lies outside 0 to 1.

    No mean of numbers between 0 and 1 has more noise than a share.
    """
    x = values[: shift.raised + 1]
    if not ((x >= 0) & (x <= 1)).all():
        return float("nan")
    spread = sum(
        level * (1 - level) / rows for level, rows in ((shift.before, shift.earlier), (shift.after, shift.later))
    )
    apart = abs(shift.after - shift.before)
    return apart / max(float(np.sqrt(spread / items)), 1.0 / items)


def comes_back(values: NDArray[np.float64], shift: Shift) -> int | None:
    """First position after a shift at which more than half of it is made good; None where it holds to the end."""
    half = (shift.before + shift.after) / 2
    rest = values[shift.raised + 1 :]
    back = np.flatnonzero(rest > half if shift.after < shift.before else rest < half)
    return shift.raised + 1 + int(back[0]) if len(back) else None
