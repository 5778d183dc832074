"""The gradient norm jumps far above its past, again and again.

## Why it matters
One batch in a few hundred steps has a gradient five to ten times the usual; clipping deals with it. Spikes that come
back mean batches or tokens that the loss cannot handle, and clipping then turns whole steps into noise.

## When it fires
On a value more than `factor` times the median of the 50 before it, more than the root of that factor times the largest such
median so far, and more than `z` robust standard deviations above them on a logarithmic scale, after the first 15. `hits` of
them within 50 values are a warning. A single one is an info. Rows right after a spike that only fall off from it are that
spike once more: a smoothed log draws one outlier out over many rows.

## What to do
- Look at the batches of the flagged steps: very long or empty completions, extreme rewards, ratios far from 1.
- Clip the gradient at 0.1 to 1.0; skip a step whose norm is ten times the usual.
- Check the mismatch between sampler and trainer, and fp16.

## When it is wrong
Gradient norms are heavy-tailed; the first steps of a run are larger. A step in which the data are switched.

## References
OLMo 2's spike score. [huggingface/trl issue 2980](https://github.com/huggingface/trl/issues/2980) (a growing norm
beside a rising reward).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.rolling import running_max, trailing_mad, trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

WINDOW = 50
CALM = 25
"""Values without a spike after which an episode counts as over."""
START = 15


@dataclass(frozen=True, kw_only=True)
class GradientSpikes(Detector):
    """HLT701."""

    name: ClassVar = "gradient-spikes"
    code: ClassVar = "HLT701"
    since: ClassVar = "0.1"
    says: ClassVar = "the gradient spikes"
    explains: ClassVar = ("kl-runaway", "policy-divergence", "reward-collapse", "value-loss-diverges", "not-finite")
    needs: ClassVar = (
        Need(concepts=("grad_norm", "critic_grad_norm"), points=START + 1, log="the gradient norm before clipping"),
    )

    factor: float = limit(10.0, unit="x", help="needs higher spikes", low=2.0)
    z: float = limit(8.0, unit="robust sd", help="needs clearer spikes", low=2.0)
    hits: int = limit(2, unit="spikes", help="needs more spikes in 50 values for a warning", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """The policy's gradient norm and the critic's."""
        for concept in ("grad_norm", "critic_grad_norm"):
            series = run.get(concept)
            if series is None:
                continue
            norm = series.finite()
            spikes = self._spikes(norm.values)
            groups = np.split(spikes, np.flatnonzero(np.diff(spikes) >= WINDOW) + 1) if len(spikes) else []
            for group in groups:
                yield self._say(run, norm, group)

    def _spikes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        y = np.log(np.maximum(values, 1e-8))
        usual = trailing_median(y, WINDOW, lag=1, least=10)
        with np.errstate(invalid="ignore"):
            high = (y > usual + np.log(self.factor)) & (usual > np.log(1e-6))
            # Where most groups agree there is hardly a gradient, and a step that has one is no spike.
            high &= y > running_max(usual) + np.log(self.factor) / 2
            high[:START] = False
            spread = trailing_mad(y, WINDOW, lag=1, least=10, where=high)
            high &= y - usual > self.z * np.maximum(spread, 0.15)
        echo = high[:-1] & (y[1:] <= y[:-1])
        high[1:] &= ~echo
        return np.flatnonzero(high)

    def _say(self, run: Run, norm: Series, group: NDArray[np.int64]) -> Finding:
        first = int(group[0])
        top = int(group[np.argmax(norm.values[group])])
        many = len(group) >= self.hits
        before = float(np.median(norm.values[max(0, first - WINDOW) : first]))
        return self.finding(
            Severity.WARNING if many else Severity.INFO,
            Confidence.STRONG if many else Confidence.MODERATE,
            said(
                "{metric} jumps {n} times, up to {top}, {before} before"
                if len(group) > 1
                else "{metric} jumps once, to {top}, {before} before",
                metric=norm.metric,
                n=len(group),
                top=number(float(norm.values[top])),
                before=number(before),
            ),
            run=run,
            first=int(norm.at[first]),
            last=int(norm.at[group[-1]]),
            raised=int(norm.at[group[min(self.hits, len(group)) - 1]]),
            active=many and len(norm) - 1 - int(group[-1]) < CALM,
            evidence=[
                quote(norm, sorted({max(0, first - 1), *group[:4].tolist(), top}), "against the 50 values before each")
            ],
            advice=(
                "Look at the batches of these steps: very long or empty completions, extreme rewards, ratios far from 1.",
                "Clip the gradient at 0.1 to 1.0, or skip a step whose norm is ten times the usual.",
                "Check the mismatch between sampler and trainer, and fp16.",
            ),
            alternatives=(Alternative(says="a heavy tail of the data", check="whether reward and KL took notice"),),
        )
