"""The reward has reached its highest level and no longer tells completions apart.

## Why it matters
Groups whose rewards are all equal give no gradient. The run is finished as far as this reward can say; more steps cost compute
and let the policy drift.

## When it fires
The newest values stand at the best level so far, and either nearly all groups have equal rewards (`groups`) or the spread of
rewards has fallen below `spread` of what it was in the first rows, for `rows` rows. It is information, never an alarm: whether
reaching the ceiling is success or hacking is for a held-out score to say.

## What to do
- Stop, or go on with harder prompts, or with a finer reward.
- Look at a held-out score: a reward at its ceiling proves nothing about quality.

## When it is wrong
A batch of easy prompts by chance; a spread that is logged per group and is zero because groups are small.

## References
Yu et al., ["DAPO"](https://arxiv.org/abs/2503.14476) (2025): dynamic sampling of prompts that still tell completions
apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.episodes import episodes, persist
from holter.detectors.statistics.rolling import running_max, trailing_mean, trailing_median
from holter.findings.finding import Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run

SETTLED = 20
"""Values of the spread that say what it was in the first rows."""


@dataclass(frozen=True, kw_only=True)
class RewardSaturated(Detector):
    """HLT305."""

    name: ClassVar = "reward-saturated"
    code: ClassVar = "HLT305"
    since: ClassVar = "0.1"
    says: ClassVar = "the reward is at its ceiling"
    explains: ClassVar = ("zero-variance-groups", "gradient-zero", "no-learning", "reward-frozen")
    needs: ClassVar = (
        Need(concepts=("reward",), points=10, log="the mean reward of every step"),
        Need(
            concepts=("reward_spread", "reward_group_spread", "zero_std_groups"),
            points=10,
            log="the spread of rewards, or the share of groups whose rewards are equal",
        ),
    )

    groups: float = limit(0.9, unit="fraction", help="needs more groups without a difference", low=0.0, high=1.0)
    spread: float = limit(0.05, unit="of the first spread", help="calls more runs saturated", low=0.0, high=1.0)
    rows: int = limit(5, unit="rows", help="waits longer", low=2)

    def check(self, run: Run) -> Iterator[Finding]:
        """The reward's level beside what is left of its spread."""
        reward = run.get("reward")
        assert reward is not None
        reward = reward.finite()
        if not len(reward):
            return
        level = trailing_mean(reward.values, 3)
        for concept in ("zero_std_groups", "reward_spread", "reward_group_spread"):
            series = run.get(concept)
            series = series.finite() if series is not None else None
            if series is None or len(series) < 10:
                continue
            usual = trailing_median(series.values, 5, least=3)
            if concept == "zero_std_groups":
                mute = usual >= self.groups
            else:
                first = float(np.median(series.values[:SETTLED]))
                mute = (usual <= self.spread * first) & (np.arange(len(series)) >= SETTLED) & (first > 0)
            i = series.upto(reward.at)
            quiet = np.where(i >= 0, mute[np.maximum(i, 0)], False)
            low, high = float(reward.values[:5].min()), running_max(level)
            at_best = level >= high - 0.05 * np.maximum(high - low, 0.0)
            risen = high > low + 0.02 * np.maximum(np.abs(high), abs(low))
            for episode in episodes(persist(quiet & at_best & risen, self.rows, self.rows)):
                k, j = episode.raised, int(i[episode.raised])
                yield self.finding(
                    Severity.INFO,
                    Confidence.STRONG,
                    said(
                        "{metric} stands at its highest level, {level}, and completions are no longer told apart",
                        metric=reward.metric,
                        level=number(float(level[k])),
                    ),
                    run=run,
                    first=int(reward.at[max(0, k - self.rows + 1)]),
                    last=int(reward.at[episode.last]),
                    raised=int(reward.at[k]),
                    active=episode.active,
                    evidence=[
                        quote(reward, [max(0, k - self.rows + 1), k], "the highest level so far"),
                        quote(series, [j], said("median of five rows: {median}", median=number(float(usual[j])))),
                    ],
                    advice=(
                        "Stop here, or go on with harder prompts or a finer reward.",
                        "Look at a held-out score before calling it a success.",
                    ),
                )
            return
