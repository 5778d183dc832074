"""Groups are so small that most of them agree by chance.

## Why it matters
With independent samples of success rate p, a group of G agrees with probability p^G + (1-p)^G and then has no gradient.
With G = 2 that is at least half of all groups, whatever the prompts. The remedy is a larger group, not other prompts.

## When it fires
Rewards are right-or-wrong, the group size is known, success rates lie between `easy` and its complement, and the median
of 10 shares of agreeing groups is above `share`, where chance alone would give `share` or more.

## What to do
- Double the group size until p^G + (1-p)^G is below 0.2, and halve the number of prompts a batch instead.
- Give partial credit: rewards with more than two values seldom agree exactly.

## When it is wrong
Prompts of very unequal difficulty agree more often than the mean success rate says: a larger group helps less then.

## References
Yu et al., "DAPO: An Open-Source LLM Reinforcement Learning System at Scale" (2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.group.agreement import binary_success, chance, group_size
from holter.detectors.statistics.episodes import episodes
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Alternative, Confidence, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding, Unchecked
    from holter.runs.run import Run


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
        size = group_size(run)
        if size is None:
            yield self.unchecked(
                "the group size is not known; give the configuration with num_generations.", ["num_generations"]
            )
            return
        series = run.get("zero_std_groups")
        assert series is not None
        groups = series.finite()
        p = binary_success(run, groups.at)
        usual = np.where((p >= self.easy) & (p <= 1 - self.easy), chance(p, size), 0.0)
        observed = trailing_median(groups.values, 10, least=10)
        by_chance = trailing_median(usual, 10, least=10)
        with np.errstate(all="ignore"):
            flags = (observed > self.share) & (by_chance > self.share - 1e-9)
        for episode in episodes(flags):
            i = episode.raised
            wanted = _enough(float(np.nanmedian(p[i - 9 : i + 1])))
            yield self.finding(
                Severity.WARNING if episode.active or episode.last - i >= 20 else Severity.INFO,
                Confidence.STRONG,
                f"{groups.metric} is {number(observed[i])}; groups of {number(size)} agree by chance in "
                f"{number(100 * by_chance[i])} % of cases",
                run=run,
                first=int(groups.at[i - 9]),
                last=int(groups.at[episode.last]),
                raised=int(groups.at[i]),
                active=episode.active,
                evidence=[quote(groups, sorted({i - 9, i, episode.last}), "share of groups with equal rewards")],
                advice=(
                    f"Raise the group size to {wanted}: then fewer than 20 % of groups agree by chance.",
                    "Give partial credit: rewards with more than two values seldom agree exactly.",
                ),
                alternatives=(
                    Alternative(
                        says="prompts that are always or never solved", check="look at the success rate of each prompt"
                    ),
                ),
            )


def _enough(p: float) -> int:
    """Smallest power of two for which fewer than a fifth of groups agree by chance."""
    size = 2
    while size < 1024 and p**size + (1 - p) ** size >= 0.2:
        size *= 2
    return size
