"""Rewards are so large that the rest of the objective no longer counts.

## Why it matters
Advantages, value loss and gradients are scaled for rewards of order one. With rewards in the hundreds a KL penalty is rounding
error, a critic's loss is in the ten thousands, and only normalisation or gradient clipping keep the run alive, if they do.

## When it fires
The median magnitude of the mean reward, or of the spread of rewards, over `rows` values is above `large`: a warning. Above
`notable` it is information: reward models with raw logits live there, and group-normalised advantages do not mind.

## What to do
- Normalise or whiten rewards, or divide them by a constant; centre reward-model scores on the reference policy.
- Without group normalisation look at the value loss and the gradient norm before anything else.

## When it is wrong
Advantages that are normalised by group or by batch: then only KL coefficient and critic feel the scale.

## References
Andy Jones, "Debugging Reinforcement Learning Systems" (2021): returns within 10, better within 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.episodes import episodes
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.detectors.statistics.episodes import Episode
    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series


@dataclass(frozen=True, kw_only=True)
class RewardScaleLarge(Detector):
    """HLT308."""

    name: ClassVar = "reward-scale-large"
    code: ClassVar = "HLT308"
    since: ClassVar = "0.1"
    says: ClassVar = "the rewards are very large"
    explains: ClassVar = ("value-loss-diverges", "advantage-too-large", "gradient-spikes")
    needs: ClassVar = (Need(concepts=("reward", "reward_spread"), log="the mean reward of every step"),)
    uses: ClassVar = ("reward_spread", "reward_group_spread")

    notable: float = limit(10.0, unit="reward", help="mentions fewer runs", low=0.0)
    large: float = limit(100.0, unit="reward", help="warns of fewer runs", low=0.0)
    rows: int = limit(5, unit="rows", help="waits longer", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """The largest of level and spread."""
        series = [s.finite() for c in ("reward", "reward_spread", "reward_group_spread") for s in run.all(c)[:1]]
        for bound, severity in ((self.large, Severity.WARNING), (self.notable, Severity.INFO)):
            found = [item for s in series for item in self._beyond(s, bound)]
            if found:
                yield self._finding(run, *min(found, key=lambda item: item[0]), bound=bound, severity=severity)
                return

    def _beyond(self, series: Series, bound: float) -> list[tuple[int, Series, list[Episode]]]:
        """Row where it was first above the bound, and all episodes; empty when it never was."""
        size = np.abs(series.values)
        usual = trailing_median(size, self.rows, least=min(self.rows, 3))
        with np.errstate(invalid="ignore"):
            found = list(episodes(usual > bound))
        return [(int(series.at[found[0].raised]), series, found)] if found else []

    def _finding(
        self, run: Run, _: int, series: Series, found: list[Episode], *, bound: float, severity: Severity
    ) -> Finding:
        size = np.abs(series.values)
        k = found[0].raised
        past = np.flatnonzero(size[: k + 1] > bound)
        first = int(past[0])
        usual = float(np.median(size[max(0, k - self.rows + 1) : k + 1]))
        active = found[-1].active
        return self.finding(
            severity if active else Severity.INFO,
            Confidence.CERTAIN,
            said(
                "{metric} is of size {size}, rewards of order 1 are expected",
                metric=series.metric,
                size=number(usual),
            ),
            run=run,
            first=int(series.at[first]),
            last=int(series.at[found[-1].last]),
            raised=int(series.at[k]),
            active=active,
            evidence=[quote(series, sorted({first, k}), said("median magnitude over {n} rows", n=self.rows))],
            advice=(
                "Normalise or whiten rewards, or divide them by a constant.",
                "Look at value loss and gradient norm: they grow with the square and with the scale.",
            ),
            alternatives=(
                Alternative(
                    says="advantages are normalised, and only the KL coefficient and the critic feel the scale",
                    check="look at scale_rewards or whiten_rewards in the configuration",
                ),
            ),
        )
