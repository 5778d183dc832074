"""Advantages beyond what their normalisation allows.

## Why it matters
One such completion outweighs all others of its batch; the update that follows is a lottery ticket.

## When it fires
With group normalisation no advantage can exceed (G - 1) / sqrt(G) for G completions a prompt: the bound is reached when one
completion differs and all others are equal. It fires above the bound times `slack` where the configuration gives G and the run
has no critic, and above `large` otherwise. A *mean* advantage above `large` is impossible for any normalised advantage.

## What to do
- Look at the variance: a tiny, rounded or one-pass variance in the denominator makes such numbers.
- Give groups whose spread is below an epsilon advantage zero.
- Without normalisation: scale the rewards.

## When it is wrong
Advantages that are not normalised by design, with rewards of that size.

## References
Samuelson, "How Deviant Can You Be?" (1968), for the bound. [NVIDIA-NeMo/RL pull request
4158](https://github.com/NVIDIA-NeMo/RL/pull/4158): -2075 for eight completions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.episodes import QUIET, episodes
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.hyperparameters import hyperparameter
from holter.runs.structure import Algorithm, algorithm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.detectors.statistics.episodes import Episode
    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run, Series

CONCEPTS = ("advantage_max", "advantage_abs_max", "advantage_min", "advantage_mean", "advantage_abs")


@dataclass(frozen=True, kw_only=True)
class AdvantageTooLarge(Detector):
    """HLT311."""

    name: ClassVar = "advantage-too-large"
    code: ClassVar = "HLT311"
    since: ClassVar = "0.1"
    says: ClassVar = "advantages are larger than they can be"
    explains: ClassVar = ("policy-loss-diverges", "gradient-spikes")
    needs: ClassVar = (Need(concepts=CONCEPTS, log="the largest and smallest advantage of a batch"),)
    uses: ClassVar = ("reward", "reward_spread", "value_loss")

    slack: float = limit(1.05, unit="x", help="allows more above the bound", low=1.0)
    large: float = limit(100.0, unit="1", help="without a bound: allows more", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """The first of the advantage's statistics that breaks its bound."""
        size = hyperparameter(run, "group_size")
        normalised = (
            size is not None and algorithm(run) is Algorithm.GRPO and run.config.get("scale_rewards") in (None, True)
        )
        bound = (size - 1) / np.sqrt(size) * self.slack if size is not None and normalised else self.large
        found = [
            (int(series.at[episode.raised]), series, episode)
            for series in (s.finite() for concept in CONCEPTS for s in run.all(concept))
            for episode in episodes(np.abs(series.values) > bound)
        ]
        found.sort(key=lambda item: item[0])
        until = -1
        for raised, series, episode in found:
            if raised > until:
                most = float(bound) / self.slack if normalised else float(bound)
                yield self._beyond(run, series, episode, most, certain=normalised)
                until = len(run) if episode.active else int(series.at[episode.last + QUIET])

    def _beyond(self, run: Run, series: Series, episode: Episode, bound: float, *, certain: bool) -> Finding:
        k = episode.raised
        value = float(series.values[k])
        explained = self._reward_scale(run, int(series.at[k])) * 10 > abs(value) and not certain
        small = self._small_reward(run, series, k) if not explained else []
        grave = episode.active and (certain or small)
        return self.finding(
            Severity.CRITICAL if grave else Severity.WARNING,
            Confidence.CERTAIN if certain else Confidence.MODERATE if explained else Confidence.STRONG,
            said(
                "{metric} is {value}, groups allow {bound} at most"
                if certain
                else "{metric} is {value}, beyond {bound} nothing is plausible",
                metric=series.metric,
                value=number(value),
                bound=number(bound),
            ),
            run=run,
            first=int(series.at[k]),
            last=int(series.at[episode.last]),
            active=episode.active,
            evidence=[quote(series, [k], said("{times} times the bound", times=number(abs(value) / bound))), *small],
            advice=(
                "Look at the variance in the denominator: tiny, rounded, or computed in one pass.",
                "Give groups without spread advantage zero.",
                "Without normalisation: scale the rewards.",
            ),
            alternatives=(
                Alternative(says="advantages are not normalised by design", check="look at the size of the rewards"),
            ),
        )

    def _small_reward(self, run: Run, series: Series, k: int) -> list[Evidence]:
        """The reward beside it, which is far too small to explain it."""
        reward = run.get("reward")
        reward = reward.where(reward.at <= series.at[k]).finite() if reward is not None else None
        if reward is None or not len(reward):
            return []
        return [quote(reward, [len(reward) - 1], "rewards are far smaller")]

    def _reward_scale(self, run: Run, row: int) -> float:
        sizes = [0.0]
        for concept in ("reward", "reward_spread"):
            series = run.get(concept)
            if series is not None:
                upto = series.where(series.at <= row).finite()
                sizes += [float(np.abs(upto.values).max())] if len(upto) else []
        return max(sizes)
