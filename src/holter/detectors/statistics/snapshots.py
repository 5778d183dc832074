"""What a handful of rows shows: people paste two to eleven rows, each a snapshot of the run.

No test has power there, and little below twenty. What is left: every later value lies beyond every earlier one, by an amount
that matters, and is held by more than one row, by the noise a mean can have at most, or by a signal of another origin. That is a
pattern and never more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.base import quote
from holter.findings.finding import Confidence, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from holter.detectors.base import Detector
    from holter.findings.finding import Alternative, Evidence, Finding
    from holter.runs.run import Run, Series

FEW = 12
"""Values of a series among which such a pattern begins."""

TESTED = 20
"""Values from which on the tests have power: a pattern that held until then is theirs to confirm."""

SCATTER = 8
"""Values whose scatter on both sides of a shift is an estimate of the noise: six degrees of freedom."""

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
    """Size of a shift in standard errors; NaN where the values do not tell their own noise.

    The error is that of shares of `items` completions a row, than which no mean of numbers between 0 and 1 has more noise; or
    what the values scatter on either side of the shift, which shows where a row rests on fewer. Other values have only their
    scatter, which says nothing from fewer than `SCATTER` of them.
    """
    x = values[: shift.raised + 1]
    shares = bool(((x >= 0) & (x <= 1)).all())
    if not shares and len(x) < SCATTER:
        return float("nan")
    sides = (x[: shift.began], shift.before), (x[shift.began :], shift.after)
    of_shares = sum(level * (1 - level) / len(side) for side, level in sides) / items if shares else 0.0
    freedom = len(x) - len(sides)
    scatter = sum(float(((side - side.mean()) ** 2).sum()) for side, _ in sides) / max(freedom, 1)
    own = scatter * sum(1 / len(side) for side, _ in sides)
    least = 1.0 / items if shares else 1e-12
    return abs(shift.after - shift.before) / max(float(np.sqrt(max(of_shares, own))), least)


def comes_back(values: NDArray[np.float64], shift: Shift) -> int | None:
    """First position after a shift at which more than half of it is made good; None where it holds to the end."""
    half = (shift.before + shift.after) / 2
    rest = values[shift.raised + 1 :]
    back = np.flatnonzero(rest > half if shift.after < shift.before else rest < half)
    return shift.raised + 1 + int(back[0]) if len(back) else None


def reward_rose(run: Run, first: int, now: int) -> bool:
    """Whether the newest reward up to row `now` is above all that came before row `first`."""
    reward = run.get("reward")
    if reward is None:
        return False
    reward = reward.finite()
    split, end = np.searchsorted(reward.at, [first, now + 1]).tolist()
    return 0 < split < end and float(reward.values[end - 1]) > float(reward.values[:split].max())


def pattern(
    detector: Detector,
    run: Run,
    series: Series,
    values: NDArray[np.float64],
    shift: Shift,
    *,
    title: str,
    others: Sequence[Evidence],
    advice: Sequence[str],
    alternatives: Sequence[Alternative],
    proven: bool = False,
) -> Finding:
    """The finding of a shift: a warning while it holds and the rows are few, and never more than a pattern.

    Args:
        detector: Whose finding it is.
        run: The run.
        series: The series that is quoted, finite values only. Length n.
        values: Values the shift was found in, those of `series` or what was computed from them. Shape ``(n,)``.
        shift: The shift.
        title: What happened.
        others: Other signals that moved with it.
        advice: What to do.
        alternatives: What else it could be.
        proven: Whether a test has found it as well, whose finding then stands for both.
    """
    first, back = int(series.at[shift.began]), comes_back(values, shift)
    active = back is None and len(values) < TESTED and not proven  # with more values the tests decide
    return detector.finding(
        Severity.WARNING if active else Severity.INFO,
        Confidence.PATTERN,
        title,
        run=run,
        first=first,
        last=int(series.at[-1 if back is None else back]),
        raised=int(series.at[shift.raised]),
        onset=(int(series.at[shift.began - 1]), first),
        active=active,
        evidence=[
            quote(
                series,
                sorted({0, shift.began - 1, shift.began, shift.raised}),
                "every value since is above every value before; too few rows for more than a pattern"
                if shift.after > shift.before
                else "every value since is below every value before; too few rows for more than a pattern",
            ),
            *others,
        ],
        advice=advice,
        alternatives=alternatives,
    )
