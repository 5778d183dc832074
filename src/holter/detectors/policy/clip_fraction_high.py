"""A large share of the tokens is clipped.

## Why it matters
A clipped token has no gradient. When a third of them is clipped the batch is used far beyond the region in which its
samples say anything, and the update runs on what is left.

## When it fires
When the median of the last `window` values exceeds `share` three values running, over rows in which clipping can act:
with several updates per batch of samples the first of them has a ratio of exactly 1 and a clip fraction of exactly 0,
so zeros are left out unless most of the last 20 rows are zero. It is critical when another signal (reward, held-out
score, the text) changes for the worse with it.

## What to do
- Fewer epochs or updates per batch of samples, a lower learning rate, larger mini-batches.
- If rollouts are asynchronous, bound their staleness.
- Adam's epsilon at 1e-5, as PPO implementations have it.

## When it is wrong
Classic control tasks run well at 0.05 to 0.25. On language models 0.001 to 0.02 is usual, and 0.05 with several
epochs.

## References
Huang et al., ["The N Implementation Details of RLHF with
PPO"](https://huggingface.co/blog/the_n_implementation_details_of_rlhf_with_ppo) (0.005 to 0.02). huggingface/trl, PPO
guide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.corroboration import LOG_RATIOS, agreeing
from holter.detectors.statistics.episodes import episodes, persist
from holter.detectors.statistics.rolling import trailing_mean, trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class ClipFractionHigh(Detector):
    """HLT503."""

    name: ClassVar = "clip-fraction-high"
    code: ClassVar = "HLT503"
    since: ClassVar = "0.1"
    says: ClassVar = "most of an update is clipped away"
    explains: ClassVar = ("no-learning",)
    needs: ClassVar = (Need(concepts=("clip_fraction",), points=3, log="the clip fraction"),)
    uses: ClassVar = ("reward", "truncation", "entropy")

    share: float = limit(0.3, unit="fraction", help="lets more tokens be clipped", low=0.0, high=1.0)
    window: int = limit(5, unit="values", help="needs more values above the limit", low=3)

    def check(self, run: Run) -> Iterator[Finding]:
        """Medians over the rows in which clipping acts."""
        series = run.get("clip_fraction")
        assert series is not None
        every = series.finite()
        acts = every.values > 0
        clip = every.where(acts & (trailing_mean(acts.astype(np.float64), 20) >= 0.3))
        with np.errstate(invalid="ignore"):
            flags = persist(trailing_median(clip.values, self.window, least=3) > self.share, 3, 3)
        for episode in episodes(flags):
            i = episode.raised
            first = i
            while first > max(0, i - 2 * self.window) and clip.values[first - 1] > self.share:
                first -= 1
            agree = agreeing(run, max(int(clip.at[first]) - 1, 0), int(clip.at[episode.last]), LOG_RATIOS)[:2]
            top = first + int(np.argmax(clip.values[first : episode.last + 1]))
            yield self.finding(
                Severity.CRITICAL if agree and episode.active else Severity.WARNING,
                Confidence.STRONG if agree else Confidence.MODERATE,
                said(
                    "{metric} stays above {limit}: {value}, up to {top}",
                    metric=clip.metric,
                    limit=number(self.share),
                    value=number(float(clip.values[i])),
                    top=number(float(clip.values[top])),
                ),
                run=run,
                first=int(clip.at[first]),
                last=int(clip.at[episode.last]),
                raised=int(clip.at[i]),
                active=episode.active,
                evidence=[
                    quote(clip, sorted({max(0, first - 1), first, i, top}), "a clipped token gives no gradient"),
                    *agree,
                ],
                advice=(
                    "Fewer epochs or updates per batch of samples.",
                    "A lower learning rate, larger mini-batches.",
                    "Bound the staleness of rollouts.",
                ),
                alternatives=(
                    Alternative(
                        says="the sampler and the trainer disagree before any update",
                        check="the clip fraction of the first update of a batch: it must be 0",
                    ),
                ),
            )
