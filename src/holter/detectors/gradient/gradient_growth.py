"""The gradient norm settles at several times its past level.

## Why it matters
A norm that stays high means a loss surface that became steep: an instability that precedes most collapses, or a scale
of rewards or advantages that changed. Clipping hides it; the direction of the step is then one token's.

## When it fires
When the median of the newest values is `factor` times that of the values before and 1.3 times beyond anything so far,
at any scale from 80 values up, after the first `start` values and not while the learning rate is warming up. It is an
info as long as the reward has risen since the norm began to grow, and a warning from the first row on at which it has
not; and an info once it is over after fewer than `brief` values in which nothing else changed, for that is no level.

## What to do
- See what moved with it: KL, update size, reward spread, length.
- Lower the learning rate; clip the gradient.
- If reward_std jumped in the same row, the scale of the reward changed.

## When it is wrong
Norms grow as groups with mixed outcomes become rare, and with longer completions, in runs that are fine.

## References
[huggingface/trl issue 2980](https://github.com/huggingface/trl/issues/2980).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.breaks import leaves_level
from holter.detectors.statistics.corroboration import agreeing, reward_rises
from holter.detectors.statistics.episodes import episodes, onset, unexcused
from holter.detectors.statistics.progress import RISES, Progress
from holter.detectors.statistics.rolling import running_max
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

SCALES = (80, 160, 320)
"""Shorter stretches compare so few values that a heavy tail looks like a level."""


@dataclass(frozen=True, kw_only=True)
class GradientGrowth(Detector):
    """HLT702."""

    name: ClassVar = "gradient-growth"
    code: ClassVar = "HLT702"
    since: ClassVar = "0.1"
    says: ClassVar = "the gradient grows"
    explains: ClassVar = ("not-finite", "kl-runaway", "policy-divergence", "gradient-spikes")
    needs: ClassVar = (Need(concepts=("grad_norm",), points=45, log="the gradient norm before clipping"),)
    uses: ClassVar = ("reward", "reward_spread", "lr")

    factor: float = limit(3.0, unit="x", help="needs a larger growth", low=1.5)
    start: int = limit(40, unit="values", help="ignores more of the beginning", low=20)
    brief: int = limit(20, unit="values", help="calls longer stretches a passing matter once they are over", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """Level of the norm at several scales."""
        series = run.get("grad_norm")
        assert series is not None
        norm = series.finite()
        if len(norm) < 45:
            return
        x = np.maximum(norm.values, 1e-8)
        flags = leaves_level(x, factor=self.factor, extreme=1.3, scales=SCALES)
        flags[: self.start] = False
        flags &= ~self._warming(run, norm)
        progress = Progress.of(run)
        for episode in episodes(flags):
            best, low, late = onset(np.log(x), episode.raised)
            first, last = int(norm.at[best]), int(norm.at[episode.last])
            before = max(best - 1, 0)
            since = int(norm.at[before])
            paid = np.zeros(len(x), bool)
            if progress is not None and best > 0:
                paid[best:] = progress.since(since, norm.at[best:]).z > RISES
            warned = unexcused(episode, paid)
            raised = int(norm.at[episode.raised if warned is None else warned])
            rises = reward_rises(run, since, raised)
            agree = [e for e in agreeing(run, since, last) if e.metric != norm.metric][:2]
            passed = episode.brief(self.brief) and not agree
            yield self.finding(
                Severity.INFO if warned is None or passed else Severity.WARNING,
                Confidence.STRONG if agree else Confidence.MODERATE,
                said(
                    "{metric} grows to {now}, {before} before",
                    metric=norm.metric,
                    now=number(float(norm.values[episode.raised])),
                    before=number(float(norm.values[before])),
                ),
                run=run,
                first=first,
                last=last,
                raised=raised,
                onset=(int(norm.at[low]), int(norm.at[late])),
                active=episode.active,
                evidence=[
                    quote(norm, sorted({before, best, episode.raised}), "before, at the onset, at the alarm"),
                    *agree,
                ],
                advice=(
                    "See what moved with it: KL, update size, reward spread, length.",
                    "Lower the learning rate; clip the gradient at 0.1 to 1.0.",
                ),
                alternatives=(
                    Alternative(says="the scale of the reward changed", check="reward_std in the same rows"),
                ),
                against=[said("{metric} {says}", metric=rises.metric, says=rises.says)]
                if rises is not None and warned is None
                else (),
            )

    def _warming(self, run: Run, norm: Series) -> NDArray[np.bool_]:
        """Rows at which the learning rate has just reached a new height."""
        series = run.get("lr")
        out = np.zeros(len(norm), bool)
        if series is None:
            return out
        lr = series.finite()
        if len(lr) < 2:
            return out
        higher = np.concatenate(([False], lr.values[1:] > running_max(lr.values)[:-1] * 1.001))
        newest = lr.upto(norm.at)
        return (newest >= 0) & higher[np.maximum(newest, 0)]
