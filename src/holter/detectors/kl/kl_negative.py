"""KL to the reference is negative, and stays so.

## Why it matters
A KL divergence is never negative. The k1 estimate, the mean of log p - log p_ref over sampled tokens, can be by
chance, while the policy has hardly moved. When it stays negative the samples do not come from the policy that is
evaluated, and every penalty computed from it is a bonus: the policy is paid for leaving the reference.

## When it fires
On estimates that may be negative (k1, or an estimator the log does not tell); a negative k2 or k3 is impossible and
impossible-value says so. Warning: the median of ten values lies below `-mild_sequence` nats a sequence or
`-mild_token` nats a token; or a single value is `single` times as far below zero as a grave one, which no chance
explains: if the samples come from the policy, the mean of log p_ref - log p over a sequence exceeds c with a
probability of at most e^-c, whatever the two policies are, because p_ref / p has mean 1. Critical: the median of five
values is at or below `-grave_sequence` or `-grave_token`. A few values just below zero at the start are chance;
kl-small-negative explains them.

## What to do
- Sample with temperature 1, top_p 1, top_k 0, no minimum length, no repetition penalty: every filter biases k1.
- Check that log-probabilities are taken at the temperature of sampling, and that padding and EOS are masked the same
  way.
- Check the sign: log p of the policy minus log p of the reference.

## When it is wrong
A few values just below zero at the start, where policy and reference are still the same.

## References
[huggingface/trl issues 615](https://github.com/huggingface/trl/issues/615),
[242](https://github.com/huggingface/trl/issues/242) and [417](https://github.com/huggingface/trl/issues/417);
[hiyouga/LLaMA-Factory issue 664](https://github.com/hiyouga/LLaMA-Factory/issues/664). Schulman, ["Approximating KL
Divergence"](http://joschu.net/blog/kl-approx.html) (2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.episodes import episodes
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Confidence, Severity
from holter.language import said
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series


@dataclass(frozen=True, kw_only=True)
class KLNegative(Detector):
    """HLT203."""

    name: ClassVar = "kl-negative"
    code: ClassVar = "HLT203"
    since: ClassVar = "0.1"
    says: ClassVar = "the KL estimate is negative"
    explains: ClassVar = ("kl-bought-nothing", "kl-nonzero-at-start")
    needs: ClassVar = (Need(concepts=("ref_kl",), log="the KL to the reference (beta or kl_coef above 0)"),)

    mild_sequence: float = limit(0.1, unit="nats/sequence", help="ignores estimates nearer to zero", low=0.0)
    mild_token: float = limit(0.005, unit="nats/token", help="ignores estimates nearer to zero", low=0.0)
    grave_sequence: float = limit(1.0, unit="nats/sequence", help="needs a more negative estimate", low=0.0)
    grave_token: float = limit(0.05, unit="nats/token", help="needs a more negative estimate", low=0.0)
    single: float = limit(5, unit="x", help="needs a lower value where only one is low", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Medians below zero, as far as the estimator allows a negative value."""
        for series in run.all("ref_kl"):
            if series.estimator is None or not series.estimator.never_negative:
                yield from self._one(run, series.finite())
                return

    def _one(self, run: Run, kl: Series) -> Iterator[Finding]:
        per_sequence = kl.unit == Unit.NATS_PER_SEQUENCE
        mild = self.mild_sequence if per_sequence else self.mild_token
        grave = self.grave_sequence if per_sequence else self.grave_token
        with np.errstate(invalid="ignore"):
            far = trailing_median(kl.values, 5, least=3) <= -grave
            impossible = kl.values <= -self.single * grave
            low = (trailing_median(kl.values, 10, least=10) < -mild) | far | impossible
        for episode in episodes(low):
            first = episode.raised
            while first > 0 and kl.values[first - 1] < 0 and episode.raised - first < 20:
                first -= 1
            is_far = bool(far[episode.raised : episode.last + 1].any())
            worst = float(np.min(kl.values[first : episode.last + 1]))
            yield self.finding(
                Severity.CRITICAL if is_far else Severity.WARNING,
                Confidence.CERTAIN if is_far else Confidence.STRONG,
                self._title(kl, episode.raised, worst, single=bool(impossible[episode.raised])),
                run=run,
                first=int(kl.at[first]),
                last=int(kl.at[episode.last]),
                raised=int(kl.at[episode.raised]),
                active=episode.active,
                evidence=[
                    quote(
                        kl,
                        sorted({first, episode.raised, episode.last}),
                        "a KL is never negative; an estimate that stays so was not made from samples of this policy",
                    )
                ],
                advice=(
                    "Sample with temperature 1, top_p 1, top_k 0, and without a minimum length or a repetition penalty.",
                    "Take log-probabilities at the temperature of sampling, with the same mask for padding and EOS.",
                    "Check the sign: log p of the policy minus log p of the reference.",
                ),
            )

    def _title(self, kl: Series, at: int, worst: float, *, single: bool) -> str:
        value = number(float(kl.values[at]))
        if single:
            return said("{metric} is {value}, further below zero than chance goes", metric=kl.metric, value=value)
        return said(
            "{metric} stays negative: {value}, down to {worst}", metric=kl.metric, value=value, worst=number(worst)
        )
