"""An entropy that no language model in working order has.

## Why it matters
Either the number is not what it is called, and every judgement on it is void, or the sampler is broken and the policy is
trained on noise.

## When it fires
- Below 0: impossible for the entropy of a distribution over tokens.
- Above ln V for a vocabulary of V tokens, where the configuration gives V, or above `impossible` nats a token, which is ln of a
  million tokens: a sum was logged as a mean, or the other way round.
- Above `broken` nats a token, in the median of the first `rows` values: a pretrained model chooses among a few tokens, about 0.3
  to 1.5 nats; 3.5 nats are 33 equally likely tokens at every position.

## What to do
- Negative: look for a sign, or an "entropy loss" logged as an entropy.
- High at the start: check temperature, top-p, data type, chat template, and that the right weights were loaded.
- Compare the same checkpoint under greedy decoding: if its score is fine, sampling is at fault.

## When it is wrong
Small models on small vocabularies trained from scratch; differential entropies of continuous actions, which may be negative.

## References
[verl issue 316](https://github.com/verl-project/verl/issues/316): entropy 5.68 at step 5, training score .008, greedy
validation .171.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.entropy.per_token import Entropy
from holter.detectors.statistics.episodes import episodes
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.hyperparameters import hyperparameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run

ADVICE = (
    "Check temperature, top-p, data type, chat template, and that the right weights were loaded.",
    "Check how the number is reduced: mean or sum, over tokens or sequences, with which sign.",
    "Score the same checkpoint under greedy decoding.",
)


@dataclass(frozen=True, kw_only=True)
class EntropyImplausible(Detector):
    """HLT403."""

    name: ClassVar = "entropy-implausible"
    code: ClassVar = "HLT403"
    since: ClassVar = "0.1"
    says: ClassVar = "the entropy is not that of a trained language model"
    explains: ClassVar = ("truncation", "no-learning", "zero-reward")
    needs: ClassVar = (Need(concepts=("entropy",), log="the entropy of the policy"),)

    impossible: float = limit(13.8, unit="nats/token", help="allows larger vocabularies", low=1.0)
    broken: float = limit(3.5, unit="nats/token", help="allows wider sampling at the start", low=0.5)
    rows: int = limit(5, unit="rows", help="looks at more of the first rows", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """The entropy per token against what can be."""
        entropy = Entropy.of(run)
        if entropy is None or not entropy.per_token:
            return
        x = entropy.values
        vocabulary = hyperparameter(run, "vocabulary_size")
        bound = float(np.log(vocabulary)) * 1.001 if vocabulary is not None and vocabulary > 1 else self.impossible
        series = entropy.series
        for flags, why in (
            (x < -1e-6, said("below zero, which no distribution over tokens has")),
            (x > bound, said("above {bound}, the largest a vocabulary allows", bound=number(bound))),
        ):
            for episode in list(episodes(flags))[:1]:
                k = episode.raised
                yield self.finding(
                    Severity.WARNING,
                    Confidence.CERTAIN,
                    said(
                        "{metric} is {value} {unit}, {why}",
                        metric=series.metric,
                        value=number(float(x[k])),
                        unit=entropy.unit,
                        why=why,
                    ),
                    run=run,
                    first=int(series.at[k]),
                    last=int(series.at[np.flatnonzero(flags)[-1]]),
                    active=bool(flags[-1]),
                    evidence=[quote(series, [k], why)],
                    advice=ADVICE,
                    alternatives=(
                        Alternative(says="the number is something else", check="look at how it is computed"),
                    ),
                )
        first = trailing_median(x[: self.rows], self.rows)
        high = np.flatnonzero((first > self.broken) & (x[: self.rows] <= bound))
        if len(high):
            k = int(high[0])
            calm = np.flatnonzero(trailing_median(x, self.rows) <= self.broken)
            calm = calm[calm > k]
            last = int(calm[0]) - 1 if len(calm) else len(x) - 1
            yield self.finding(
                Severity.INFO if len(calm) else Severity.WARNING,
                Confidence.MODERATE,
                said(
                    "{metric} is {value} {unit} at the start: the policy samples nearly at random",
                    metric=series.metric,
                    value=number(float(x[k])),
                    unit=entropy.unit,
                ),
                run=run,
                first=int(series.at[k]),
                last=int(series.at[last]),
                active=not len(calm),
                evidence=[
                    quote(series, [k], said("as wide as {n} equally likely tokens", n=number(float(np.exp(x[k])))))
                ],
                advice=ADVICE,
                alternatives=(
                    Alternative(
                        says="a small model trained from scratch", check="compare with the same model before training"
                    ),
                ),
            )
