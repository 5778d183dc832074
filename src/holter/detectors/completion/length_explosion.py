"""Completions grow out of proportion, without reward to show for it or into the length limit.

## Why it matters
Length is the cheapest way to please many rewards: much of what reinforcement learning from human feedback gains is
length. Every step gets slower, memory runs out, and at the limit the answers are cut. With GRPO's per-sequence loss, wrong
answers get longer for no other reason than that their gradient is divided by their length.

## When it fires
The median of the newest lengths is `factor` times that of the points before and a new extreme, or lies far beyond the
line through them (`z` robust standard deviations and `ratio` times), and at the same time one of these holds: the
reward does not rise, or `at_limit` of the completions are cut. Growth with a rising reward and room to spare is what
reasoning looks like, and is not reported, unless it is sudden and hardly paid: a median of five to ten lengths that is
`ratio` times that of the 20 to 80 before, while the same rewards gained less than `price` of the spread of single ones.
In either case the newest lengths are the longest so far: what a collapse in the first rows left is no level to grow
from.

## What to do
- Read the longest completions: reasoning, padding, or repetition?
- Use a loss without length bias (`dapo`, `dr_grpo`), or penalise length beyond what the task needs.
- Check whether the reward pays for length: correlate the two over the samples of one step.
- Where the entropy rises with it, treat that first.

## When it is wrong
A curriculum that moves to longer tasks; a limit raised in mid-run; a reward that is logged too sparsely to be seen rising.

## References
Singhal et al., ["A Long Way to Go: Investigating Length Correlations in RLHF"](https://arxiv.org/abs/2310.03716)
(2023). Liu et al., ["Understanding R1-Zero-Like Training"](https://arxiv.org/abs/2503.20783) (2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, limit, number, quote
from holter.detectors.completion import mean_length
from holter.detectors.statistics.alignment import newest_on_rows
from holter.detectors.statistics.breaks import SCALES, breaks_trend, leaves_level, recent
from holter.detectors.statistics.episodes import episodes, onset
from holter.detectors.statistics.hold import hold
from holter.detectors.statistics.progress import Progress
from holter.detectors.statistics.rolling import running_max, trailing_median
from holter.findings.finding import Alternative, Confidence
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.detectors.statistics.episodes import Episode
    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

ADVICE = (
    "Read the longest completions: reasoning, padding, or repetition?",
    "Use a loss without length bias (dapo, dr_grpo), or penalise length beyond what the task needs.",
    "Correlate reward and length over the samples of one step: does the reward pay for length?",
)


@dataclass(frozen=True, kw_only=True)
class LengthExplosion(Detector):
    """HLT804."""

    name: ClassVar = "length-explosion"
    code: ClassVar = "HLT804"
    since: ClassVar = "0.1"
    says: ClassVar = "completions grow out of proportion"
    needs: ClassVar = (mean_length.need(points=13),)
    uses: ClassVar = ("reward", "truncation")
    explains: ClassVar = ("truncation", "throughput-rot")
    explained_by: ClassVar = ("entropy-explosion", "reward-hacking", "kl-runaway", "policy-divergence")

    factor: float = limit(2.0, unit="x", help="needs more growth over the median before", low=1.0)
    z: float = limit(6.0, unit="robust sd", help="needs a clearer break of the trend", low=2.0)
    ratio: float = limit(1.5, unit="x", help="needs a larger break of the trend", low=1.0)
    price: float = limit(
        0.25, unit="of the reward's spread", help="calls more sudden growth unpaid while the reward rises", low=0.0
    )
    at_limit: float = limit(0.1, unit="fraction", help="needs more truncation to call it a run into the limit", low=0.0)
    brief: int = limit(
        20, unit="logged points", help="calls longer stretches a passing matter once they are over", low=1
    )

    def check(self, run: Run) -> Iterator[Finding]:
        """Growth that the reward does not explain, or that hits the limit."""
        length = mean_length.mean_length(run)
        grows = leaves_level(length.values, factor=self.factor, extreme=1.1) | breaks_trend(
            length.values, z=self.z, ratio=self.ratio, log=True
        )
        paid = mean_length.paid(run, length.at)
        with np.errstate(all="ignore"):
            cut = newest_on_rows(run.get("truncation"), length.at) > self.at_limit
        sudden = self._sudden(run, length)
        # What a collapse in the first rows left is no level to grow from.
        longest = trailing_median(length.values, 5) > running_max(trailing_median(length.values, 3), lag=5)
        for episode in episodes(hold(((grows & (~paid | cut)) | sudden) & longest, length.values)):
            i = episode.raised
            dear = bool(sudden[i] and paid[i])
            yield self._say(run, length, episode, paid=bool(paid[i]), dear=dear, cut=bool(cut[episode.last]))

    def _sudden(self, run: Run, length: Series) -> NDArray[np.bool_]:
        """Where completions grew within a few rows and the reward did not gain much over the same rows. Shape ``(n,)``."""
        progress = Progress.of(run)
        out = np.zeros(len(length), bool)
        if progress is None:
            return out
        for scale in SCALES[:3]:
            up = leaves_level(length.values, factor=self.ratio, extreme=1.1, scales=(scale,))
            if up.any():
                out |= up & ~progress.soars(run, length.at, self.price, newest=recent(scale), before=scale)
        return out

    def _say(self, run: Run, length: Series, episode: Episode, *, paid: bool, dear: bool, cut: bool) -> Finding:
        x, i = length.values, episode.raised
        first, low, late = onset(np.log(x), i, window=200)
        before = float(np.median(x[max(0, first - 5) : max(first, 1)]))
        shown = sorted({max(first - 1, 0), i, episode.last})
        evidence = [
            quote(length, shown, said("{signal}: {before} before", signal=length.signal.phrase, before=number(before)))
        ]
        title = said(
            "{metric} grows suddenly, from {before} to {newest} tokens, and the reward hardly gains by it"
            if dear
            else "{metric} grows from {before} to {newest} tokens while the reward does not rise",
            metric=length.metric,
            before=number(before),
            newest=number(x[episode.last]),
        )
        if cut and (truncated := run.get("truncation")) is not None:
            j = int(truncated.upto(length.at[[episode.last]])[0])
            evidence.append(quote(truncated, [j], "completions reach the limit"))
            title = said(
                "{metric} grows from {before} to {newest} tokens into the limit ({truncation} {share})",
                metric=length.metric,
                before=number(before),
                newest=number(x[episode.last]),
                truncation=truncated.metric,
                share=number(truncated.values[j]),
            )
        return self.finding(
            mean_length.severity(episode, self.brief),
            Confidence.STRONG if cut and not paid else Confidence.MODERATE,
            title,
            run=run,
            first=int(length.at[first]),
            last=int(length.at[episode.last]),
            raised=int(length.at[i]),
            onset=(int(length.at[low]), int(length.at[late])),
            active=episode.active,
            evidence=evidence,
            advice=ADVICE,
            alternatives=(
                Alternative(
                    says="the tasks got longer", check="compare prompts and reference answers across the onset"
                ),
                Alternative(
                    says="reasoning that will pay later",
                    check="hold a sample against one from before: is it still on topic?",
                ),
            ),
            against=("the reward rises with it",) if paid else (),
        )
