"""Groups are so small that most of them agree by chance.

## Why it matters
With independent samples of success rate p, a group of G agrees with probability p^G + (1-p)^G and then has no gradient.
With G = 2 that is at least half of all groups, whatever the prompts. The remedy is a larger group, not other prompts.

## When it fires
Rewards are right-or-wrong, the group size is known, success rates lie between `easy` and its complement, and the median
of 10 shares of agreeing groups is above `share`, where chance alone would give `share` or more. In a log of fewer than ten rows,
each row speaks by itself, as a pattern; there a mean reward within 0 to 1 is taken for a success rate if no spread contradicts.

## What to do
- Double the group size until p^G + (1-p)^G is below 0.2, and halve the number of prompts a batch instead.
- Give partial credit: rewards with more than two values seldom agree exactly.

## When it is wrong
Prompts of very unequal difficulty agree more often than the mean success rate says: a larger group helps less then.

## References
Yu et al., ["DAPO: An Open-Source LLM Reinforcement Learning System at Scale"](https://arxiv.org/abs/2503.14476)
(2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.agreement import binary_success, chance, group_sizes
from holter.detectors.statistics.alignment import on_rows
from holter.detectors.statistics.episodes import Episode, episodes
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding, Unchecked
    from holter.runs.run import Run, Series

MANY = 10
"""Values whose median decides; with fewer, each speaks by itself."""

ALTERNATIVES = (
    Alternative(says="prompts that are always or never solved", check="look at the success rate of each prompt"),
)


@dataclass(frozen=True, kw_only=True)
class GroupTooSmall(Detector):
    """HLT822."""

    name: ClassVar = "group-too-small"
    code: ClassVar = "HLT822"
    since: ClassVar = "0.1"
    says: ClassVar = "groups are so small that they agree by chance"
    needs: ClassVar = (
        Need(concepts=("zero_std_groups",), log="the share of groups with equal rewards (frac_reward_zero_std)"),
        Need(concepts=("accuracy", "reward"), log="the reward or the accuracy"),
    )
    uses: ClassVar = ("reward_spread",)
    explains: ClassVar = ("zero-variance-groups",)

    share: float = limit(0.5, unit="fraction", help="tolerates more groups without a gradient", low=0.0, high=1.0)
    easy: float = limit(0.1, unit="success rate", help="looks at fewer success rates", low=0.0, high=0.5)

    def check(self, run: Run) -> Iterator[Finding | Unchecked]:
        """What is observed against what chance gives for this group size."""
        series = run.get("zero_std_groups")
        assert series is not None
        groups = series.finite()
        sizes = group_sizes(run, groups.at)
        if not np.isfinite(sizes).any():
            yield self.unchecked(
                "the group size is not known; give the configuration with num_generations.", ["num_generations"]
            )
            return
        p = binary_success(run, groups.at)
        usual = np.where((p >= self.easy) & (p <= 1 - self.easy), chance(p, sizes), 0.0)
        observed = trailing_median(groups.values, MANY, least=MANY)
        by_chance = trailing_median(usual, MANY, least=MANY)
        head = slice(0, MANY - 1)  # each of the first rows speaks by itself: of a pasted table nothing else is known
        p[head] = self._likely(run, groups, p)[head]
        observed[head] = groups.values[head]
        with np.errstate(all="ignore"):
            by_chance[head] = np.where((p >= self.easy) & (p <= 1 - self.easy), chance(p, sizes), 0.0)[head]
            flags = (observed > self.share) & (by_chance > self.share - 1e-9)
        for episode in episodes(flags):
            yield self._say(run, groups, episode, observed, by_chance, p, sizes)

    def _likely(self, run: Run, groups: Series, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Success rates, a mean reward within 0 to 1 taken for one where no spread has been logged that could contradict."""
        spread, mean = run.get("reward_spread"), on_rows(run.get("reward"), groups.at)
        silent = groups.at < (spread.at[0] if spread is not None else len(run))
        return np.where(silent & ~np.isfinite(p) & (mean >= 0) & (mean <= 1), mean, p)

    def _say(
        self,
        run: Run,
        groups: Series,
        episode: Episode,
        observed: NDArray[np.float64],
        by_chance: NDArray[np.float64],
        p: NDArray[np.float64],
        sizes: NDArray[np.float64],
    ) -> Finding:
        i = episode.raised
        few = episode.last < MANY - 1
        first = i if i < MANY - 1 else i - MANY + 1
        lasting = len(groups) < MANY and episode.last == len(groups) - 1 if few else episode.active
        return self.finding(
            Severity.WARNING if lasting or (not few and episode.last - i >= 20) else Severity.INFO,
            Confidence.PATTERN if few else Confidence.STRONG,
            said(
                "{metric} is {share}; groups of {size} agree by chance in {percent} % of cases, if a reward is right or wrong"
                if few
                else "{metric} is {share}; groups of {size} agree by chance in {percent} % of cases",
                metric=groups.metric,
                share=number(observed[i]),
                size=number(sizes[i]),
                percent=number(100 * by_chance[i]),
            ),
            run=run,
            first=int(groups.at[first]),
            last=int(groups.at[episode.last]),
            raised=int(groups.at[i]),
            active=lasting,
            evidence=[
                quote(
                    groups,
                    sorted({first, i, episode.last}),
                    said("share of groups with equal rewards, at a success rate of {rate}", rate=number(p[i])),
                )
            ],
            advice=_advice(float(np.nanmedian(p[first : i + 1]))),
            alternatives=ALTERNATIVES,
        )


def _advice(p: float) -> tuple[str, ...]:
    return (
        said("Raise the group size to {size}: then fewer than 20 % of groups agree by chance.", size=_enough(p)),
        "Give partial credit: rewards with more than two values seldom agree exactly.",
    )


def _enough(p: float) -> int:
    """Smallest power of two for which fewer than a fifth of groups agree by chance."""
    size = 2
    while size < 1024 and p**size + (1 - p) ** size >= 0.2:
        size *= 2
    return size
