"""The signs that a diverging policy gives, each a series and the rows at which it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.breaks import breaks_trend, leaves_level
from holter.detectors.statistics.drawdown import falls_from_best
from holter.detectors.statistics.episodes import onset
from holter.detectors.statistics.rolling import running_min, trailing_median
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from holter.runs.run import Run, Series

FLOOR = {Unit.NATS_PER_TOKEN: 3e-3, Unit.NATS_PER_SEQUENCE: 0.15}
"""Added before the logarithm, so that what is next to nothing does not look like a trend."""
EARLY = 25
"""Values without enough past for statistics."""


@dataclass(frozen=True, slots=True, eq=False)
class Sign:
    """One family's series and where it breaks.

    Attributes:
        family: Which origin it speaks for; several series of one family count once.
        series: Finite values.
        broken: Which of them break. Shape ``(n,)``.
        straight: The values, transformed so that an ordinary ramp is straight. Shape ``(n,)``.
        says: The fact in words.
    """

    family: str
    series: Series
    broken: NDArray[np.bool_]
    straight: NDArray[np.float64]
    says: str

    def rows(self, n: int) -> NDArray[np.bool_]:
        """The same over the `n` rows of the run."""
        out = np.zeros(n, bool)
        out[self.series.at[self.broken]] = True
        return out

    def first(self, row: int) -> int:
        """First row from `row` on at which it breaks."""
        at = self.series.at[self.broken]
        return int(at[min(int(np.searchsorted(at, row)), len(at) - 1)])

    def began(self, row: int) -> int:
        """Row at which what breaks first from `row` on began; the row itself among the first values."""
        i = int(np.searchsorted(self.series.at, self.first(row)))
        return int(self.series.at[i if i < EARLY else onset(self.straight, i)[0]])


def signs(run: Run, factor: float) -> list[Sign]:
    """Every series that breaks somewhere, with its family."""
    found: list[Sign] = []
    for family, concept, test in (
        ("kl", "ref_kl", _kl),
        ("update", "policy_kl", _update(0.3)),
        ("update", "clip_fraction", _update(0.2)),
        ("update", "ratio", _ratio),
        ("gradient", "grad_norm", _grows(factor)),
        ("reward", "reward", _reward(run)),
        ("text", "entropy", _entropy),
        ("text", "truncation", _truncation),
        ("critic", "value_loss", _grows(factor)),
    ):
        for series in run.all(concept):
            s = series.finite()
            with np.errstate(all="ignore"):
                broken = test(s)
            if broken.any():
                positive = concept not in ("reward", "ratio")
                straight = np.log(np.abs(s.values) + FLOOR.get(s.unit, 1e-3)) if positive else s.values
                found.append(Sign(family, s, broken, straight, "breaks"))
    return found


def early_base(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median of the first half of what is there, at each of the first values; inf from `EARLY` on. Shape ``(n,)``."""
    out = np.full(len(x), np.inf)
    for i in range(1, min(len(x), EARLY)):
        out[i] = float(np.median(x[: (i + 1) // 2]))
    return out


def _kl(s: Series) -> NDArray[np.bool_]:
    per_sequence = s.unit == Unit.NATS_PER_SEQUENCE
    level, grave = (10.0, 60.0) if per_sequence else (0.2, 1.0)
    x = s.values
    d = np.sqrt(np.maximum(x, 0.0) + 1e-8)
    out = (breaks_trend(d, z=6.0, ratio=1.3) | leaves_level(d, factor=3.0, extreme=1.4)) & (
        trailing_median(x, 5, least=3) > level
    )
    return out | ((x > grave) & (x > 10 * np.maximum(early_base(x), 0.0)))


def _update(level: float) -> Callable[[Series], NDArray[np.bool_]]:
    def test(s: Series) -> NDArray[np.bool_]:
        x = np.abs(s.values)
        middle = trailing_median(x, 5, least=3)
        out: NDArray[np.bool_] = middle > level
        return out | ((np.arange(len(x)) < 2) & (x > 1.2 * level))

    return test


def _ratio(s: Series) -> NDArray[np.bool_]:
    middle = trailing_median(s.values, 5, least=3)
    out: NDArray[np.bool_] = (np.abs(middle - 1) > 0.2) & (np.abs(middle * 4 - np.round(middle * 4)) > 0.05)
    return out


def _grows(factor: float) -> Callable[[Series], NDArray[np.bool_]]:
    def test(s: Series) -> NDArray[np.bool_]:
        x = np.maximum(s.values, 1e-12)
        out = leaves_level(x, factor=factor, extreme=1.3)
        return out | ((x > 4 * factor * early_base(x)) & (np.arange(len(x)) < EARLY))

    return test


def _reward(run: Run) -> Callable[[Series], NDArray[np.bool_]]:
    def test(s: Series) -> NDArray[np.bool_]:
        spread = run.get("reward_spread")
        known = spread.finite() if spread is not None else None
        if known is not None and len(known):
            newest = known.upto(s.at)
            unit = np.where(newest >= 0, trailing_median(known.values, 40)[np.maximum(newest, 0)], np.inf)
        else:
            unit = np.maximum(np.abs(trailing_median(s.values, 40)), 1e-12)
        out = falls_from_best(s.values, z=5.0, share=0.4, least=0.25 * unit)
        base = early_base(s.values)
        fallen = np.isfinite(base) & (base - trailing_median(s.values, 3) > np.maximum(unit, 1e-12))
        return out | (fallen & (np.arange(len(s)) < EARLY))

    return test


def _entropy(s: Series) -> NDArray[np.bool_]:
    if s.unit == Unit.NATS_PER_SEQUENCE:  # moves with the length of the completions
        return np.zeros(len(s), bool)
    x = np.maximum(s.values, 1e-6)
    out = leaves_level(x, factor=2.5, up=False, extreme=1.2) | leaves_level(x, factor=1.5, extreme=1.1)
    base = early_base(x)
    early = np.isfinite(base) & (np.arange(len(x)) < EARLY)
    middle = trailing_median(x, 3)
    return out | (early & ((middle < base / 4) | (middle > 1.3 * base + 0.2)))


def _truncation(s: Series) -> NDArray[np.bool_]:
    x = trailing_median(s.values, 3)
    out: NDArray[np.bool_] = x > running_min(x) + 0.3
    return out
