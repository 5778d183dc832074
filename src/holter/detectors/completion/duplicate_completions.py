"""The completions of a batch or of a group look like copies of each other.

## Why it matters
A group is compared with itself: if all its members are the same text there is nothing to compare and nothing to learn.
Copies come from greedy decoding, from a seed that is set again for each sample, from a cache in front of the sampler,
or from a policy that has collapsed to one answer.

## When it fires
The shortest and the longest completion of a batch are equally long on `rows` rows in a row, the batch is not simply cut
at the limit, and nearly all groups have equal rewards. Or: rewards are right-or-wrong, the group size is known, and the
share of groups with equal rewards is at `share` or more where independent samples would give `expected` or less.

## What to do
- Print the completions of one group. Are they equal?
- Temperature above 0, `do_sample` on, no fixed seed per request, no prefix cache that returns whole answers.
- If they differ but agree in reward, the prompts are too easy or too hard: see zero-variance-groups.

## When it is wrong
Tasks with one-word answers: equal lengths are natural there. Prompts of which half are always solved and half never give
equal rewards without any copy; the log cannot tell the two apart, the samples can.

## References
With independent samples of success rate p, a group of G agrees with probability p^G + (1-p)^G.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.agreement import agreement, binary_success, chance, group_size
from holter.detectors.statistics.alignment import on_rows
from holter.detectors.statistics.episodes import episodes, persist
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run

ADVICE = (
    "Print all completions of one prompt: are they equal?",
    "Check that sampling is on: temperature above 0, no seed fixed per request, no cache of whole answers.",
    "If they differ and only agree in reward, choose prompts that are sometimes solved.",
)
SAME_PROMPTS = Alternative(
    says="prompts that are always or never solved", check="look at the success rate of each prompt over several steps"
)
ONE_WORD = Alternative(says="answers of one fixed form", check="read a few completions of one row")


@dataclass(frozen=True, kw_only=True)
class DuplicateCompletions(Detector):
    """HLT806."""

    name: ClassVar = "duplicate-completions"
    code: ClassVar = "HLT806"
    since: ClassVar = "0.1"
    says: ClassVar = "the completions of a group are copies of each other"
    needs: ClassVar = (
        Need(concepts=("length_min", "zero_std_groups"), points=5, log="the shortest and longest length of a batch"),
    )
    uses: ClassVar = ("length_max", "truncation", "zero_std_groups", "reward", "accuracy", "reward_spread")
    explains: ClassVar = ("zero-variance-groups", "gradient-zero")
    explained_by: ClassVar = ("entropy-collapse", "length-collapse")

    rows: int = limit(5, unit="logged points", help="equal lengths: needs them for longer", low=2)
    agree: float = limit(
        0.9, unit="fraction", help="equal lengths: needs more groups with equal rewards", low=0.0, high=1.0
    )
    share: float = limit(0.95, unit="fraction", help="equal rewards: needs more such groups", low=0.0, high=1.0)
    expected: float = limit(0.2, unit="fraction", help="equal rewards: allows more by chance", low=0.0, high=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Equal lengths, then equal rewards beyond chance."""
        yield from self._equal_lengths(run)
        yield from self._beyond_chance(run)

    def _equal_lengths(self, run: Run) -> Iterator[Finding]:
        shortest, longest, groups = run.get("length_min"), run.get("length_max"), agreement(run)
        if shortest is None or longest is None or groups is None:
            return
        high, cut = on_rows(longest, shortest.at), on_rows(run.get("truncation"), shortest.at)
        agree = np.full(len(shortest), np.nan)
        i = np.searchsorted(groups.at, shortest.at)
        there = (i < len(groups.at)) & (groups.at[np.minimum(i, len(groups.at) - 1)] == shortest.at)
        agree[there] = groups.share[i[there]]
        with np.errstate(all="ignore"):
            equal = (shortest.values == high) & (high > 0) & (agree >= self.agree) & ~(cut >= 0.5)
        for episode in episodes(persist(equal, self.rows, self.rows)):
            first = episode.raised - self.rows + 1
            shown = sorted({first, episode.last})
            pairs = [int(longest.upto(shortest.at[[i]])[0]) for i in shown]
            quoted = [int(np.searchsorted(groups.at, shortest.at[i])) for i in shown]
            yield self.finding(
                Severity.WARNING if episode.active or episode.last - first >= 20 else Severity.INFO,
                Confidence.STRONG,
                said(
                    "all completions are {length} tokens long and groups agree in reward: they look like copies",
                    length=number(shortest.values[episode.last]),
                ),
                run=run,
                first=int(shortest.at[first]),
                last=int(shortest.at[episode.last]),
                raised=int(shortest.at[episode.raised]),
                active=episode.active,
                evidence=[
                    quote(shortest, shown, "the shortest completion"),
                    quote(longest, pairs, "the longest completion"),
                    *groups.quotes(quoted),
                ],
                advice=ADVICE,
                alternatives=[ONE_WORD],
            )

    def _beyond_chance(self, run: Run) -> Iterator[Finding]:
        share, size = run.get("zero_std_groups"), group_size(run)
        if share is None or size is None:
            return
        share = share.finite()
        observed = trailing_median(share.values, 10, least=10)
        by_chance = chance(binary_success(run, share.at), size)
        usual = trailing_median(np.nan_to_num(by_chance, nan=1.0), 10, least=10)
        with np.errstate(all="ignore"):
            flags = (observed >= self.share) & (usual <= self.expected)
        for episode in episodes(flags):
            i = episode.raised
            yield self.finding(
                Severity.WARNING if episode.active or episode.last - i >= 20 else Severity.INFO,
                Confidence.PATTERN,
                said(
                    "{metric} is {share}, independent samples would give {chance}: copies, or prompts that are always or "
                    "never solved",
                    metric=share.metric,
                    share=number(observed[i]),
                    chance=number(usual[i]),
                ),
                run=run,
                first=int(share.at[i - 9]),
                last=int(share.at[episode.last]),
                raised=int(share.at[i]),
                active=episode.active,
                evidence=[
                    quote(share, sorted({i - 9, i, episode.last}), said("by chance {chance}", chance=number(usual[i])))
                ],
                advice=ADVICE,
                alternatives=[SAME_PROMPTS],
            )
