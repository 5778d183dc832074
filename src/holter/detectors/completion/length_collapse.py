"""Completions shrink to a stub.

## Why it matters
A policy that answers in two tokens has found something that pays better than answering: a length penalty with the wrong
weight, an EOS bonus, a verifier that takes an empty answer, or the wrong direction of a KL term. From there it does not
come back, because nothing else is sampled any more.

## When it fires
The median of the newest lengths is below a `factor`-th of the median before, a new low, and the reward does not rise;
or it is below a `stub`-th, whatever the reward does. In the first rows too: five rows in a row are below a `stub`-th of
the longest mean; or the longest completion is now shorter than the shortest was, the mean below two `stub`-ths, for
`rows` rows.

## What to do
- Read the completions. Empty, a fixed phrase, a bare number?
- Check the sign and weight of length rewards and penalties, the EOS bonus, and what the reward says to an empty answer.
- Go back to a checkpoint before the onset; what is not sampled is not learned back.

## When it is wrong
Answers that were too long at the start and get to the point: then the reward rises, and the fall is slow. Another task mix.

## References
Shao et al., ["DeepSeekMath"](https://arxiv.org/abs/2402.03300) (2024), on the answer length of GRPO policies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, limit, number, quote
from holter.detectors.completion import mean_length
from holter.detectors.statistics.alignment import on_rows
from holter.detectors.statistics.breaks import leaves_level
from holter.detectors.statistics.episodes import episodes, onset, persist
from holter.detectors.statistics.hold import hold
from holter.detectors.statistics.rolling import running_max, running_min
from holter.findings.finding import Alternative, Confidence
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.detectors.statistics.episodes import Episode
    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

ADVICE = (
    "Read the completions: empty, a fixed phrase, a bare number?",
    "Check sign and weight of length rewards and penalties, and what the reward says to an empty answer.",
    "Go back to a checkpoint at or before {before}: what is not sampled is not learned back.",
)


@dataclass(frozen=True, kw_only=True)
class LengthCollapse(Detector):
    """HLT805."""

    name: ClassVar = "length-collapse"
    code: ClassVar = "HLT805"
    since: ClassVar = "0.1"
    says: ClassVar = "completions shrink to a stub"
    needs: ClassVar = (mean_length.need(points=2),)
    uses: ClassVar = ("reward", "length_min", "length_max")
    explains: ClassVar = ("entropy-collapse", "reward-collapse", "zero-variance-groups", "duplicate-completions")
    explained_by: ClassVar = ("policy-divergence", "kl-runaway", "reward-hacking")

    factor: float = limit(2.5, unit="x", help="needs a deeper fall", low=1.0)
    stub: float = limit(10.0, unit="x", help="whatever the reward does: needs a deeper fall", low=1.0)
    rows: int = limit(2, unit="logged points", help="first rows: needs the fall to last longer", low=1)
    brief: int = limit(
        20, unit="logged points", help="calls longer stretches a passing matter once they are over", low=1
    )

    def check(self, run: Run) -> Iterator[Finding]:
        """Falls that the reward does not explain, or that leave next to nothing."""
        length = mean_length.mean_length(run)
        x, paid = length.values, mean_length.paid(run, length.at)
        falls = leaves_level(x, factor=self.factor, up=False, extreme=1.2) & ~paid
        falls |= leaves_level(x, factor=self.stub, up=False, extreme=1.2)
        falls |= persist(self._all_shorter(run, length), self.rows, self.rows)
        falls |= persist(x < running_max(x) / self.stub, 5, 5)
        falls &= x < running_max(x) / self.factor
        for episode in episodes(hold(falls, x, up=False)):
            yield self._say(run, length, episode, paid=bool(paid[episode.raised]))

    def _all_shorter(self, run: Run, length: Series) -> NDArray[np.bool_]:
        """Where the longest completion of a row is shorter than the shortest of every row before the fall."""
        shortest, longest = (on_rows(run.get(c), length.at) for c in ("length_min", "length_max"))
        best = running_max(length.values, lag=1)
        deep = length.values < 2 * best / self.stub
        before = running_min(np.where(deep, np.nan, shortest), lag=1)
        with np.errstate(all="ignore"):
            return np.asarray(deep & (longest < before) & np.isfinite(before))

    def _say(self, run: Run, length: Series, episode: Episode, *, paid: bool) -> Finding:
        x, i = length.values, episode.raised
        first, low, late = onset(np.log(x), i) if i >= 8 else (max(i - self.rows + 1, 0),) * 3
        before = float(np.max(x[max(0, first - 5) : max(first, 1)]))
        newest = float(np.median(x[max(i, episode.last - 4) : episode.last + 1]))
        shown = sorted({max(first - 1, 0), i, episode.last})
        evidence = [quote(length, shown, said("{before} tokens before", before=number(before)))]
        longest = run.get("length_max")
        if longest is not None and (j := int(longest.upto(length.at[[episode.last]])[0])) >= 0:
            evidence.append(quote(longest, [j], "the longest completion of that row"))
        return self.finding(
            mean_length.severity(episode, self.brief),
            Confidence.MODERATE if len(length) >= 20 else Confidence.PATTERN,
            said(
                "{metric} falls from {before} to {newest} tokens"
                if paid or run.get("reward") is None
                else "{metric} falls from {before} to {newest} tokens and the reward does not rise",
                metric=length.metric,
                before=number(before),
                newest=number(newest),
            ),
            run=run,
            first=int(length.at[first]),
            last=int(length.at[episode.last]),
            raised=int(length.at[i]),
            onset=(int(length.at[low]), int(length.at[late])),
            active=episode.active,
            evidence=evidence,
            advice=ADVICE,
            alternatives=(
                Alternative(says="the policy gets to the point", check="read answers: are they complete and right?"),
                Alternative(says="other tasks with shorter answers", check="compare the prompts across the onset"),
            ),
            against=("the reward rises with it",) if paid else (),
        )
