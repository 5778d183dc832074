"""One update moves the policy too far: the approximate KL between old and new policy is large, or jumps.

## Why it matters
PPO and GRPO trust the samples of the old policy. That holds for a small step only; after a large one the surrogate
says nothing about the new policy, and the next samples may come from a broken one.

## When it fires
On a level: the median of five values exceeds `level` nats a token in `held` of ten values, and it is `growth` times
its early level, or above `alone`, or clip fraction exceeds 0.1 with it. On a jump: the median of the newest values is
`jump` times that of the values before, a new extreme and above a tenth of `level`, while the clip fraction exceeds
0.1 or the reward falls. Isolated spikes never fire: the mean of a squared log-ratio has a heavy tail, and healthy
runs reach 0.7.

## What to do
- Lower the learning rate 3 to 10 times; fewer epochs or updates per batch of samples.
- Larger mini-batches; gradient clipping at 0.1 to 1.0.
- Stop the epochs of a batch early once the approximate KL exceeds a target.

## When it is wrong
Runs on stale or cached samples sit at 0.5 from their first row on without harm; only a change speaks there.

## References
OpenAI Spinning Up stops at 1.5 times 0.01. Huang et al., ["The N Implementation Details of RLHF with
PPO"](https://huggingface.co/blog/the_n_implementation_details_of_rlhf_with_ppo): 4e-4 to 2e-3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.breaks import leaves_level
from holter.detectors.statistics.corroboration import LOG_RATIOS, agreeing
from holter.detectors.statistics.episodes import episodes, persist
from holter.detectors.statistics.rolling import trailing_median
from holter.detectors.statistics.trend import trend_z
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series


@dataclass(frozen=True, kw_only=True)
class PolicyUpdateTooLarge(Detector):
    """HLT504."""

    name: ClassVar = "policy-update-too-large"
    code: ClassVar = "HLT504"
    since: ClassVar = "0.1"
    says: ClassVar = "single updates are too large"
    explains: ClassVar = (
        "kl-runaway",
        "kl-above-budget",
        "reward-collapse",
        "entropy-collapse",
        "entropy-explosion",
        "clip-fraction-high",
        "ratio-off-one",
        "policy-loss-diverges",
        "value-loss-diverges",
        "eval-declines",
    )
    needs: ClassVar = (
        Need(concepts=("policy_kl",), points=5, log="the approximate KL of an update (policy/approxkl_avg, ppo_kl)"),
    )
    uses: ClassVar = ("clip_fraction", "reward", "reward_spread")

    level: float = limit(0.1, unit="nats/token", help="lets updates be larger", low=0.0)
    alone: float = limit(1.0, unit="nats/token", help="needs a larger level where nothing else speaks", low=0.0)
    held: int = limit(8, unit="of 10 values", help="needs the level to hold longer", low=1, high=10)
    growth: float = limit(10.0, unit="x", help="needs a larger rise over the early level", low=1.0)
    jump: float = limit(4.0, unit="x", help="needs a larger jump", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Level and jump of the approximate KL, whatever its sign."""
        series = run.get("policy_kl")
        assert series is not None
        kl = series.finite()
        if len(kl) < 5:
            return
        size = np.abs(kl.values)
        clips = self._clips(run, kl)
        flags = self._high(size, clips) | self._jumps(run, kl, size, clips)
        for episode in episodes(flags):
            i = episode.raised
            first = i
            floor = self.level / 10
            usual = float(np.median(size[: max(1, min(10, i - 9))]))
            while first > max(0, i - 15) and size[first - 1] > max(floor, 4 * usual):
                first -= 1
            agree = agreeing(run, max(int(kl.at[first]) - 1, 0), int(kl.at[episode.last]), LOG_RATIOS)[:2]
            top = first + int(np.argmax(size[first : episode.last + 1]))
            yield self.finding(
                Severity.CRITICAL if agree and episode.active else Severity.WARNING,
                Confidence.STRONG if agree else Confidence.MODERATE,
                said(
                    "{metric} stays large: {value} nats/token, up to {top}",
                    metric=kl.metric,
                    value=number(float(kl.values[i])),
                    top=number(float(kl.values[top])),
                ),
                run=run,
                first=int(kl.at[first]),
                last=int(kl.at[episode.last]),
                raised=int(kl.at[i]),
                active=episode.active,
                evidence=[
                    quote(
                        kl,
                        sorted({max(0, first - 1), first, i, top}),
                        said("healthy updates stay below {level}", level=number(self.level)),
                    ),
                    *agree,
                ],
                advice=(
                    "Lower the learning rate 3 to 10 times.",
                    "Fewer epochs or updates per batch of samples; stop a batch's epochs at a target for this KL.",
                    "Larger mini-batches; gradient clipping at 0.1 to 1.0.",
                ),
                alternatives=(
                    Alternative(
                        says="the samples are stale by design", check="policy versions between sampling and update"
                    ),
                    Alternative(says="a few tokens carry the mean", check="the largest ratio of the same rows"),
                ),
            )

    def _clips(self, run: Run, kl: Series) -> NDArray[np.bool_]:
        """Whether the newest clip fractions exceed 0.1. Shape ``(n,)``."""
        series = run.get("clip_fraction")
        clip = series.finite() if series is not None else None
        if clip is None or not len(clip):
            return np.zeros(len(kl), bool)
        newest = clip.upto(kl.at)
        middle = trailing_median(clip.values, 5, least=1)
        high: NDArray[np.bool_] = (newest >= 0) & (middle[np.maximum(newest, 0)] > 0.1)
        return high

    def _high(self, size: NDArray[np.float64], clips: NDArray[np.bool_]) -> NDArray[np.bool_]:
        middle = trailing_median(size, 5, least=3)
        early = float(np.median(size[:5]))
        with np.errstate(invalid="ignore"):
            high = middle > self.level
            known = high & ((middle > self.growth * early) | (middle > self.alone) | clips)
        held = persist(known, self.held, 10)
        held[:10] |= persist(known & (middle > self.alone), 3, 3)[:10]
        return held

    def _jumps(self, run: Run, kl: Series, size: NDArray[np.float64], clips: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if len(size) < 40:
            return np.zeros(len(size), bool)
        jump = leaves_level(size + 1e-4, factor=self.jump, extreme=2.0, scales=(40, 80, 160, 320))
        jump &= trailing_median(size, 5, least=3) > self.level / 10
        falls = np.zeros(len(size), bool)
        series = run.get("reward")
        if series is not None:
            reward = series.finite()
            if len(reward) >= 12:
                newest = reward.upto(kl.at)
                falls = (newest >= 0) & (trend_z(reward.values, 20)[np.maximum(newest, 0)] < -2.5)
        return jump & (clips | falls)
