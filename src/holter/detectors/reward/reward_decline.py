"""Reward drifts below where it began.

## Why it matters
The policy is getting worse at what it is trained for. It is no sudden failure, so no single row looks wrong, and the run can
go on like this for days.

## When it fires
Means of the newest 10, 20 or 40 values against the first as many: `z` standard errors lower (noise and autocorrelation
allowed for), by at least `least` times the spread of single rewards or `part` of the starting level, and still falling or flat.
A reward that first rose and then fell is `reward-collapse`'s business.


## What to do
- Check the sign of the advantage and of the loss; check that rewards and completions are matched to each other.
- Look at completion length and truncation: completions that are cut lose their reward.
- Lower the learning rate; look whether the KL penalty or another term outweighs the reward.

## When it is wrong
Prompts that get harder by plan. A penalty that grows by plan, such as one for length. A distillation whose "reward" is a
negative divergence.

## References
Measured on public runs: slow declines follow length collapse and entropy explosion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.reward.reward_collapse import RewardCollapse
from holter.detectors.statistics.corroboration import MOVES, corroboration
from holter.detectors.statistics.episodes import episodes, onset, persist
from holter.detectors.statistics.progress import Progress
from holter.detectors.statistics.rolling import trailing_mean
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run

BLOCKS = (10, 20, 40)
"""Lengths of the blocks that are compared, in logged points."""

ADVICE = (
    "Check the sign of advantage and loss, and that rewards belong to the completions they are given to.",
    "Look at completion length and truncation: what is cut off loses its reward.",
    "Lower the learning rate; see whether a penalty outweighs the reward.",
)

ALTERNATIVES = (
    Alternative(says="prompts or penalties become harder by plan", check="compare data and coefficients over the run"),
)


@dataclass(frozen=True, kw_only=True)
class RewardDecline(Detector):
    """HLT302."""

    name: ClassVar = "reward-decline"
    code: ClassVar = "HLT302"
    since: ClassVar = "0.1"
    says: ClassVar = "the reward declines"
    explains: ClassVar = ("no-learning",)
    needs: ClassVar = (Need(concepts=("reward",), points=20, log="the mean reward of every step"),)
    uses: ClassVar = ("reward_spread", "reward_group_spread", *(m.concept for m in MOVES))

    z: float = limit(5.0, unit="standard errors", help="needs a clearer decline", low=2.0)
    least: float = limit(0.35, unit="reward spreads", help="ignores larger declines", low=0.0)
    part: float = limit(0.2, unit="of the starting level", help="without a spread: ignores larger declines", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """The newest values against the first ones."""
        progress = Progress.of(run)
        if progress is None:
            return
        reward = progress.series
        found = list(episodes(persist(self._below_start(run, progress), 3, 5)))
        if not found:
            return
        collapsed = min((c.episode.raised for c in RewardCollapse().collapses(run, progress)), default=len(reward))
        for episode in found:
            k = episode.raised
            if k >= collapsed:
                return
            began, low, late = onset(reward.values, k, window=120)
            start, now = float(reward.values[:10].mean()), float(reward.values[max(0, k - 9) : k + 1].mean())
            raised = int(reward.at[k])
            others = corroboration(run, int(reward.at[min(10, k - 1)]), raised)
            yield self.finding(
                Severity.WARNING if episode.active else Severity.INFO,
                Confidence.STRONG if others else Confidence.MODERATE,
                said(
                    "{metric} drifts below where it began: {start} over the first ten values, {now} now"
                    if episode.active
                    else "{metric} drifts below where it began: {start} over the first ten values, {now} now; it recovered",
                    metric=reward.metric,
                    start=number(start),
                    now=number(now),
                ),
                run=run,
                first=int(reward.at[began]),
                last=int(reward.at[episode.last]),
                raised=raised,
                onset=(int(reward.at[low]), int(reward.at[late])),
                active=episode.active,
                evidence=[
                    quote(reward, [0, k], said("{drop} lower, in means of ten values", drop=number(start - now))),
                    *others,
                ],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )

    def _below_start(self, run: Run, progress: Progress) -> NDArray[np.bool_]:
        x = progress.series.values
        n = len(x)
        unit = progress.unit(run)
        out = np.zeros(n, bool)
        inflated = (1 + progress.rho) / (1 - progress.rho)
        for r in BLOCKS:
            if n < 2 * r:
                break
            start = float(x[:r].mean())
            fall = start - trailing_mean(x, r, least=r)
            least = np.where(np.isfinite(unit), self.least * unit, self.part * abs(start))
            with np.errstate(invalid="ignore"):
                se = progress.sd * np.sqrt(inflated * 2 / r)
                hit = (fall > self.z * se) & (fall > least)
            hit[: 2 * r - 1] = False
            out |= hit
        return out
