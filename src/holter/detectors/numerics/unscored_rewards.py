"""Completions go unscored: part of the rewards are NaN, infinite or None.

## Why it matters
A reward that is no number is left out of means and groups, so nothing else in the log shows it. The completions it belongs to are
not learned from, and if it is the long, odd or broken ones that fail to be scored, the policy learns that they cost nothing.

## When it fires
When the share of rewards that are no number lies at least `rise` above its median over the first five rows, in three of five
rows running: a warning, critical from one half on. A share of `rise` or more from the first row on is an info, because
functions may abstain on purpose.

## What to do
- Log the raw rewards of the first flagged step with their completions; find the timeout, division or parser that fails.
- Return the lowest reward, not None, for a completion that cannot be judged because of what it says.
- Return None only for prompts that a function does not concern.

## When it is wrong
In a mixture of tasks, functions that concern one task abstain on the others, and the share moves with the mixture.

## References
[huggingface/trl issue 4501](https://github.com/huggingface/trl/issues/4501): rewards of None become NaN and are left
out of the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, quote
from holter.detectors.statistics.episodes import episodes, persist
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run

FIRST = 5


@dataclass(frozen=True, kw_only=True)
class UnscoredRewards(Detector):
    """HLT107."""

    name: ClassVar = "unscored-rewards"
    code: ClassVar = "HLT107"
    since: ClassVar = "0.1"
    says: ClassVar = "completions go unscored"
    explains: ClassVar = ("no-learning", "reward-collapse", "zero-variance-groups")
    needs: ClassVar = (
        Need(
            concepts=("reward_nan_fraction",),
            points=FIRST,
            log="the fraction of rewards that are no number (reward/nan_fraction)",
        ),
    )

    rise: float = limit(0.05, unit="fraction", help="lets more rewards be no number", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """A share from the start, and every later rise."""
        series = run.get("reward_nan_fraction")
        assert series is not None
        share = series.finite()
        if len(share) < FIRST:
            return
        usual = float(np.median(share.values[:FIRST]))
        if usual >= self.rise:
            yield self.finding(
                Severity.INFO,
                Confidence.PATTERN,
                said(
                    "{usual:.0%} of rewards are no number, from the first row on ({metric})",
                    usual=usual,
                    metric=share.metric,
                ),
                run=run,
                first=int(share.at[0]),
                last=int(share.at[FIRST - 1]),
                raised=int(share.at[FIRST - 1]),
                active=False,
                evidence=[quote(share, range(FIRST), "the first rows")],
                advice=("Look whether the functions abstain on purpose; if not, mend the one that does not answer.",),
                alternatives=(_ABSTAINS,),
            )
        high = share.values >= usual + self.rise
        high[:FIRST] = False
        for episode in episodes(persist(high, 3, 5)):
            first = int(np.flatnonzero(high[: episode.raised + 1])[-3])
            worst = float(np.max(share.values[first : episode.last + 1]))
            most = bool(share.values[episode.raised] >= 0.5)
            yield self.finding(
                Severity.CRITICAL if most else Severity.WARNING,
                Confidence.CERTAIN if most else Confidence.MODERATE,
                said(
                    "up to {worst:.0%} of rewards are no number, {usual:.0%} at the start ({metric})",
                    worst=worst,
                    usual=usual,
                    metric=share.metric,
                ),
                run=run,
                first=int(share.at[first]),
                last=int(share.at[episode.last]),
                raised=int(share.at[episode.raised]),
                active=episode.active,
                evidence=[
                    quote(share, sorted({0, first - 1, first, episode.last}), "left out of every mean and group")
                ],
                advice=(
                    "Read completions of this step whose reward is missing, and find what the function cannot judge.",
                    "Return the lowest reward for a completion that cannot be judged because of what it says.",
                ),
                alternatives=(_ABSTAINS,),
            )


_ABSTAINS = Alternative(
    says="functions that concern one task abstain on the prompts of others",
    check="compare the share with the mixture of tasks in the batch",
)
