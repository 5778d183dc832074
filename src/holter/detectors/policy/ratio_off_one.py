"""The importance ratio, new policy over old, leaves 1 and stays away from it.

## Why it matters
The mean of p_new / p_old over samples of the old policy is 1 by arithmetic, whatever the update did. A mean that
stays off 1 means that the samples do not come from the policy whose log-probabilities are the denominator, or that a
few ratios are so large that the mean is theirs alone. Clipping then throws most of the signal away, and what is left
is biased.

## When it fires
When the median of five values differs from 1 by more than `warn`; in the first two values, where there is no median
yet, by more than `grave`. It is critical, and certain by arithmetic, when the difference exceeds `grave`. Logs whose
ratio sits exactly on 1/4, 1/2 or 3/4 with a large ratio variance are left out: there, a table of statistics stays
partly zero and the policy is fine.

## What to do
- Go back to the last checkpoint before the first flagged step.
- Lower the learning rate, the number of epochs and of mini-batches per batch of samples.
- Check that old log-probabilities are computed with the same precision, temperature and masks as the new ones.
- If rollouts are asynchronous, bound their staleness and correct by importance weights with a cap.

## When it is wrong
A ratio of whole sequences is a product over tokens, and far from 1 for long completions at a harmless ratio per
token.

## References
[huggingface/trl issues 1031](https://github.com/huggingface/trl/issues/1031) and
[1857](https://github.com/huggingface/trl/issues/1857): means of 10 to 168. Huang et al., ["The N Implementation
Details of RLHF with PPO"](https://huggingface.co/blog/the_n_implementation_details_of_rlhf_with_ppo).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.corroboration import LOG_RATIOS, agreeing
from holter.detectors.statistics.episodes import episodes
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

QUARTERS = (0.25, 0.5, 0.75)


@dataclass(frozen=True, kw_only=True)
class RatioOffOne(Detector):
    """HLT501."""

    name: ClassVar = "ratio-off-one"
    code: ClassVar = "HLT501"
    since: ClassVar = "0.1"
    says: ClassVar = "the importance ratio leaves 1"
    explains: ClassVar = ("kl-runaway", "reward-collapse", "clip-fraction-high", "policy-loss-diverges")
    needs: ClassVar = (Need(concepts=("ratio",), log="the mean importance ratio (val/ratio)"),)
    uses: ClassVar = ("ratio_variance", "reward", "policy_kl", "clip_fraction")

    warn: float = limit(0.1, unit="ratio", help="lets the ratio differ more from 1", low=0.0)
    grave: float = limit(0.5, unit="ratio", help="needs a larger difference to be critical", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Medians of the mean ratio against 1."""
        series = run.get("ratio")
        assert series is not None
        ratio = series.finite()
        off = np.abs(trailing_median(ratio.values, 5, least=3) - 1)
        with np.errstate(invalid="ignore"):
            flags = off > self.warn
            far = off > self.grave
        far[:2] = np.abs(ratio.values[:2] - 1) > self.grave
        flags |= far
        flags &= ~self._table_artefact(run, ratio)
        for episode in episodes(flags):
            i = episode.raised
            first = i
            while first > max(0, i - 4) and abs(ratio.values[first - 1] - 1) > self.warn:
                first -= 1
            grave = bool(far[i : episode.last + 1].any())
            worst = i + int(np.argmax(np.abs(ratio.values[i : episode.last + 1] - 1)))
            agree = agreeing(run, max(int(ratio.at[first]) - 1, 0), int(ratio.at[episode.last]), LOG_RATIOS)[:2]
            yield self.finding(
                Severity.CRITICAL if grave else Severity.WARNING,
                Confidence.CERTAIN if grave else Confidence.STRONG if agree else Confidence.MODERATE,
                said(
                    "{metric} leaves 1: {value}, farthest {worst}",
                    metric=ratio.metric,
                    value=number(float(ratio.values[i])),
                    worst=number(float(ratio.values[worst])),
                ),
                run=run,
                first=int(ratio.at[first]),
                last=int(ratio.at[episode.last]),
                raised=int(ratio.at[i]),
                active=episode.active,
                evidence=[
                    quote(
                        ratio,
                        sorted({max(0, first - 1), first, i, worst}),
                        "its mean is 1 by arithmetic in a sound update",
                    ),
                    *agree,
                ],
                advice=(
                    "Go back to the last checkpoint at or before {before}.",
                    "Lower the learning rate, and the number of epochs and mini-batches per batch of samples.",
                    "Compute old and new log-probabilities with the same precision, temperature and masks.",
                ),
                alternatives=(
                    Alternative(says="a few tokens carry the mean", check="the largest ratio, and the median"),
                    Alternative(says="it is the ratio of whole sequences", check="the ratio per token"),
                ),
            )

    def _table_artefact(self, run: Run, ratio: Series) -> NDArray[np.bool_]:
        """Where the ratio sits on a quarter while its variance is that of a table filled with ones and zeros."""
        out = np.zeros(len(ratio), bool)
        variance = run.get("ratio_variance")
        if variance is None:
            return out
        newest = variance.upto(ratio.at)
        there = newest >= 0
        spread = np.where(there, variance.values[np.maximum(newest, 0)], np.nan)
        for share in QUARTERS:
            with np.errstate(invalid="ignore"):
                out |= (np.abs(ratio.values - share) < 0.02 * share) & (spread > 0.8 * share * (1 - share))
        return out
