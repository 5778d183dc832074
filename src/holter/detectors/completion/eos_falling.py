"""Fewer and fewer completions end by themselves.

## Why it matters
A policy that learned to end loses it when the update, a length reward or a runaway policy makes EOS improbable. From
then on completions run to the limit and rewards are given to half answers. Where no truncation is logged (TRL's PPO),
the EOS count is the only sign of it.

## When it fires
The median of the last 5 EOS counts (or of the fraction of completions that ended) is below `share` of the highest such
median before, by more than the noise. Counts above the number of completions are not judged: they contain padding and
fall when completions get longer. It is critical when the median is 0 after it was not.

## What to do
- Read completions from the onset on: do they ramble, repeat, or is the limit too short by now?
- Look at the KL to the reference and at the entropy at the same steps; when they left their course first, treat that.
- Set `missing_eos_penalty`, or take length out of the reward.
- Go back to the last checkpoint with the old count.

## When it is wrong
A batch size that was lowered in mid-run, and tasks that were made harder so that answers no longer fit the limit.

## References
TRL's PPO documentation, `val/num_eos_tokens`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.completion.batch_episodes import episodes_per_row
from holter.detectors.statistics.episodes import episodes, onset
from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.rolling import running_max, trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.detectors.statistics.episodes import Episode
    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

ADVICE = (
    "Read completions from {onset} on: do they ramble or repeat, or is the limit too short by now?",
    "Set missing_eos_penalty, or take length out of the reward.",
    "Go back to the last checkpoint at or before {before}.",
)


@dataclass(frozen=True, kw_only=True)
class EosFalling(Detector):
    """HLT803."""

    name: ClassVar = "eos-falling"
    code: ClassVar = "HLT803"
    since: ClassVar = "0.1"
    says: ClassVar = "completions stop ending by themselves"
    needs: ClassVar = (
        Need(
            concepts=("eos_count", "eos_fraction"),
            points=8,
            log="the number of EOS tokens of the batch (val/num_eos_tokens)",
        ),
    )
    uses: ClassVar = ("truncation",)
    explains: ClassVar = ("reward-collapse", "no-learning")
    explained_by: ClassVar = ("kl-runaway", "policy-divergence", "value-loss-diverges", "entropy-collapse")

    share: float = limit(0.7, unit="fraction", help="fires earlier", low=0.0, high=1.0)
    z: float = limit(4.0, unit="sd of the median", help="needs to be clearer of the noise", low=0.0)
    brief: int = limit(
        20, unit="logged points", help="calls longer stretches a passing matter once they are over", low=1
    )

    def check(self, run: Run) -> Iterator[Finding]:
        """The newest counts against the highest before."""
        series = run.get("eos_count") or run.get("eos_fraction")
        assert series is not None
        ends = series.finite()
        if series.concept == "eos_count":
            batch = episodes_per_row(run, ends)
            with np.errstate(all="ignore"):
                ends = ends.where(~(ends.values > 1.2 * batch))
        level = trailing_median(ends.values, 5, least=5)
        best = running_max(level, lag=1)
        with np.errstate(all="ignore"):
            clear = best - level > self.z * 1.25 * np.nan_to_num(noise(ends.values, lag=5).sd) / np.sqrt(5)
            flags = (level < self.share * best) & (best > 0) & clear
        for episode in episodes(flags):
            yield self._say(run, ends, episode, best[episode.raised])

    def _say(self, run: Run, ends: Series, episode: Episode, best: float) -> Finding:
        first, low, late = onset(ends.values, episode.raised)
        newest = float(np.median(ends.values[max(0, episode.last - 4) : episode.last + 1]))
        severity = Severity.CRITICAL if newest == 0 and episode.active else Severity.WARNING
        if episode.brief(self.brief):
            severity = Severity.INFO
        shown = sorted({max(first - 1, 0), episode.raised, episode.last})
        return self.finding(
            severity,
            Confidence.CERTAIN if newest == 0 else Confidence.MODERATE,
            said(
                "{metric} falls from {best} to {newest}: fewer completions end by themselves",
                metric=ends.metric,
                best=number(best),
                newest=number(newest),
            ),
            run=run,
            first=int(ends.at[first]),
            last=int(ends.at[episode.last]),
            raised=int(ends.at[episode.raised]),
            onset=(int(ends.at[low]), int(ends.at[late])),
            active=episode.active,
            evidence=[quote(ends, shown, said("the median of 5 was {best} at its best", best=number(best)))],
            advice=ADVICE,
            alternatives=(
                Alternative(
                    says="the batch got smaller, or the tasks longer",
                    check="compare the episode counter and the lengths",
                ),
            ),
        )
