"""KL to the reference jumps for a row or two and comes back.

## Why it matters
The k3 estimate, exp(-d) - 1 + d, is carried by its largest token: one token whose probability fell by a factor of a
thousand adds a thousand. A single spike is arithmetic, not a policy that moved. Spikes that keep coming back mean
tokens that the policy and the reference disagree about for good, and a loss that contains them gets their gradient.

## When it fires
On a value more than `factor` times the median of the `window` values before it, and above `level_token` or
`level_sequence`, when the median is back below half of the spike within three values. A single one is an info;
`recurring` or more within 50 values are a warning, two within the first twelve. Among the first eight values, where
little is known of what is usual, a spike is `single` times that level.

## What to do
- Log the median, the 99th percentile and the maximum of the per-token KL.
- Clamp the log-ratio before the exponential, or use k1 or k2 in the reward.
- Look for the tokens: rare tokens, tokens after EOS, tokens that the sampler filtered.

## When it is wrong
A step that really moved the policy and was undone by the next.

## References
[torchforge issue 664](https://github.com/meta-pytorch/torchforge/issues/664) (mean 1.6e6, maximum 6.8e9).
open-r1-multimodal issue 16: isolated spikes did no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.rolling import trailing_median
from holter.detectors.statistics.snapshots import FEW
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

BACK = 3
NEAR = 50
EARLY = 8
"""Values before which hardly anything is known of what is usual."""


@dataclass(frozen=True, kw_only=True)
class KLSpike(Detector):
    """HLT205."""

    name: ClassVar = "kl-spike"
    code: ClassVar = "HLT205"
    since: ClassVar = "0.1"
    says: ClassVar = "the KL spikes again and again"
    needs: ClassVar = (Need(concepts=("ref_kl",), points=5, log="the KL to the reference (beta or kl_coef above 0)"),)

    factor: float = limit(5.0, unit="x", help="needs a higher spike", low=1.5)
    window: int = limit(20, unit="values", help="compares with more values before", low=5)
    level_token: float = limit(0.2, unit="nats/token", help="ignores spikes below it", low=0.0)
    level_sequence: float = limit(10.0, unit="nats/sequence", help="ignores spikes below it", low=0.0)
    single: float = limit(10.0, unit="x", help="first eight values: needs a larger multiple of the level", low=1.0)
    recurring: int = limit(3, unit="spikes", help="needs more spikes in 50 values for a warning", low=2)

    def check(self, run: Run) -> Iterator[Finding]:
        """Spikes that are over, alone or in company."""
        series = run.get("ref_kl")
        assert series is not None
        kl = series.finite()
        level = self.level_sequence if kl.unit == Unit.NATS_PER_SEQUENCE else self.level_token
        spikes = self._spikes(kl.values, level)
        groups = np.split(spikes, np.flatnonzero(np.diff(spikes) > NEAR) + 1) if len(spikes) else []
        for group in groups:
            yield self._say(run, kl, group)

    def _spikes(self, values: NDArray[np.float64], level: float) -> NDArray[np.int64]:
        """Positions of values far above those before, after which the next three fall back; known three values later."""
        n = len(values)
        usual = trailing_median(values, self.window, lag=1, least=1)
        least = np.where(np.arange(n) < EARLY, self.single * level, level)
        with np.errstate(invalid="ignore"):
            high = (values > self.factor * usual) & (values > least)
        out: list[int] = []
        for i in np.flatnonzero(high).tolist():
            after = values[i + 1 : i + 1 + BACK]
            if i + BACK < n and float(np.median(after)) < max(values[i] / 2, 0) and (not out or i - out[-1] > BACK):
                out.append(i)
        return np.asarray(out, np.int64)

    def _say(self, run: Run, kl: Series, group: NDArray[np.int64]) -> Finding:
        few = len(group) > 1 and int(group[-1]) < FEW
        recurring = 2 if few else self.recurring
        many = len(group) >= recurring
        top = float(np.max(kl.values[group]))
        title = said(
            "{metric} jumps to {top} and comes back, {n} times"
            if len(group) > 1
            else "{metric} jumps to {top} for a moment and comes back",
            metric=kl.metric,
            top=number(top),
            n=len(group),
        )
        first = int(group[0])
        return self.finding(
            Severity.WARNING if many else Severity.INFO,
            Confidence.MODERATE,
            title,
            run=run,
            first=int(kl.at[first]),
            last=int(kl.at[group[-1]]),
            raised=int(kl.at[int(group[recurring - 1] if many else first) + BACK]),
            active=many and len(kl) - 1 - int(group[-1]) < NEAR,
            evidence=[
                quote(
                    kl, [max(0, first - 1), first, min(first + 1, len(kl) - 1)], "before, at and after the first spike"
                ),
                *([quote(kl, group[1:6], "further spikes")] if len(group) > 1 else []),
            ],
            advice=(
                "Log the median and the maximum of the per-token KL beside its mean.",
                "Clamp the log-ratio before the exponential, or use the k1 or k2 estimate.",
            ),
            alternatives=(
                Alternative(
                    says="an update moved the policy and the next one undid it", check="approximate KL of that row"
                ),
            ),
        )
