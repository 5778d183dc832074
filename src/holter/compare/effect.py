"""How far two settings end apart, and whether their seeds could have done that by themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from holter.compare.student import critical, two_sided
from holter.detectors.statistics.noise import noise
from holter.language import Said, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.compare.curves import Curve

LAST = 0.25
"""Share of the common range, at its end, over which a run's level is taken."""

CONFIDENCE = 0.95


class Basis(StrEnum):
    """What the noise was taken from."""

    SEEDS = "seeds"
    """Seeds on both sides."""
    OTHER_SEEDS = "seeds of other settings"
    """One run on a side; the spread of the settings that have seeds is taken for it."""
    WITHIN = "noise within the runs"
    """No setting has seeds: it shows that these runs differ, not that their settings do."""
    NONE = "nothing"
    """Too few rows for any yardstick."""

    @property
    def phrase(self) -> Said:
        """As it stands after "beyond"."""
        return {
            Basis.SEEDS: said("the noise between seeds"),
            Basis.OTHER_SEEDS: said("the noise between seeds of the other settings"),
            Basis.WITHIN: said("the noise within the two runs"),
            Basis.NONE: said("nothing"),
        }[self]


class Verdict(StrEnum):
    """What can be said of one signal."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "not distinguishable"
    UNKNOWN = "cannot tell"


@dataclass(frozen=True, slots=True)
class Level:
    """Where a setting ends, over its seeds.

    Attributes:
        mean: Mean over the seeds of each one's level at the end; NaN when none logs a number there.
        sd: Standard deviation between seeds; NaN for one run.
        runs: Number of seeds that log a number there.
        within: Standard error of a run's own level by the noise within it, averaged over the seeds; NaN where unknown.
        not_finite: Values that are no number, in all seeds.
    """

    mean: float
    sd: float
    runs: int
    within: float
    not_finite: int = 0

    @property
    def half_width(self) -> float:
        """Half the 95 % interval of the mean over seeds; NaN for one run."""
        if self.runs < 2:
            return math.nan
        return critical(1 - CONFIDENCE, self.runs - 1) * self.sd / math.sqrt(self.runs)


@dataclass(frozen=True, slots=True)
class Effect:
    """One signal in two settings.

    Attributes:
        difference: The second setting's mean less the first one's.
        low: Lower end of its 95 % interval; NaN where there is no yardstick.
        high: Upper end.
        size: The difference in standard deviations between seeds (Hedges' g); NaN without seeds.
        p: Probability of at least such a difference when the settings are the same; NaN without a yardstick.
        basis: What the noise was taken from.
        verdict: What it comes to, many signals tested at once considered.
    """

    difference: float
    low: float
    high: float
    size: float
    p: float
    basis: Basis
    verdict: Verdict = Verdict.UNKNOWN

    def judged(self, *, stands: bool) -> Effect:
        """With its verdict, once it is known whether the test stands beside all others."""
        if math.isnan(self.p):
            return self
        if not stands:
            return replace(self, verdict=Verdict.SAME)
        return replace(self, verdict=Verdict.HIGHER if self.difference > 0 else Verdict.LOWER)


def level(seeds: Sequence[Curve], low: float, high: float) -> Level:
    """Where a setting ends.

    Args:
        seeds: The signal in each run of the setting.
        low: Begin of the range that all compared runs cover.
        high: Its end.
    """
    start = high - LAST * (high - low)
    means, errors = [], []
    for curve in seeds:
        reached = curve.x <= high
        kept = curve.finite & reached
        values = curve.values[kept]
        late = reached & (curve.x >= start)
        last = curve.values[late & curve.finite] if late.any() else values[-1:]
        if not len(last):
            continue
        means.append(float(last.mean()))
        estimate = noise(values).of_mean(len(last))[-1] if len(values) > 2 else math.nan
        errors.append(float(estimate))
    known = [e for e in errors if math.isfinite(e)]
    return Level(
        mean=float(np.mean(means)) if means else math.nan,
        sd=float(np.std(means, ddof=1)) if len(means) > 1 else math.nan,
        runs=len(means),
        within=float(np.mean(known)) if known else math.nan,
        not_finite=sum(int((~c.finite & (c.x <= high)).sum()) for c in seeds),
    )


def effect(a: Level, b: Level, others: Sequence[Level] = ()) -> Effect:
    """The difference between two settings, with its interval.

    Args:
        a: The first setting.
        b: The second setting.
        others: All settings of the comparison, whose seeds lend their spread to a setting of one run.

    Returns:
        With seeds on both sides Welch's interval, so that a setting may be noisier than the other. Seeds that happen to
        agree do not make the noise within each run smaller, so it bounds the error from below. The verdict is left open:
        it depends on how many signals are looked at.
    """
    difference = b.mean - a.mean
    spread = _pooled([level for level in (a, b, *others) if level.runs > 1])
    size = math.nan if spread is None or not spread[0] else difference / spread[0] * (1 - 3 / (4 * spread[1] + 3))
    if not math.isfinite(difference):
        return Effect(difference, math.nan, math.nan, math.nan, math.nan, Basis.NONE)
    if a.runs > 1 and b.runs > 1:
        va, vb = a.sd**2 / a.runs, b.sd**2 / b.runs
        error = math.sqrt(va + vb)
        df = (va + vb) ** 2 / (va**2 / (a.runs - 1) + vb**2 / (b.runs - 1)) if error else a.runs + b.runs - 2
        basis = Basis.SEEDS
    elif spread is not None:
        error, df = spread[0] * math.sqrt(1 / a.runs + 1 / b.runs), spread[1]
        basis = Basis.OTHER_SEEDS
    elif math.isfinite(a.within) and math.isfinite(b.within):
        error, df, basis = math.hypot(a.within, b.within), math.inf, Basis.WITHIN
    else:
        return Effect(difference, math.nan, math.nan, size, math.nan, Basis.NONE)
    error = max(error, _within(a, b)) if basis is not Basis.WITHIN else error
    reach = critical(1 - CONFIDENCE, df) * error
    t = difference / error if error else (math.inf if difference else 0.0)
    return Effect(difference, difference - reach, difference + reach, size, two_sided(t, df), basis)


def _within(a: Level, b: Level) -> float:
    """Standard error of the difference by the noise within the runs alone; 0 where it is not known."""
    known = [each.within**2 / each.runs for each in (a, b) if math.isfinite(each.within)]
    return math.sqrt(sum(known))


def _pooled(levels: Sequence[Level]) -> tuple[float, float] | None:
    """Standard deviation between seeds over settings, and its degrees of freedom."""
    df = sum(each.runs - 1 for each in levels)
    if not df:
        return None
    return math.sqrt(sum((each.runs - 1) * each.sd**2 for each in levels) / df), float(df)
