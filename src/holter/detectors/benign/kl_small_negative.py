"""A few small negative KL values: sampling noise of the k1 estimator.

## Why it matters
A divergence cannot be negative, its k1 estimate can: it is a mean of log-probability differences over a sample. Around
0, where a run begins, about half of the estimates are negative.

## When it fires
Negative values of a k1 estimate, none below `token` (nats/token) or `sequence` (nats/sequence), in the first `rows`
rows only.

## What to do
- Nothing. A KL that stays negative, or falls below -1 a sequence, is a finding of its own: samples do not come from the
  policy.

## When it is wrong
Sampling with top-p, top-k or a minimum length gives a small negative KL that does not go away.

## References
Schulman, ["Approximating KL Divergence"](http://joschu.net/blog/kl-approx.html) (2020). [huggingface/trl issues
351](https://github.com/huggingface/trl/issues/351) and [329](https://github.com/huggingface/trl/issues/329).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.signals.base import Estimator, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class KLSmallNegative(Detector):
    """HLT953."""

    name: ClassVar = "kl-small-negative"
    code: ClassVar = "HLT953"
    since: ClassVar = "0.1"
    says: ClassVar = "a KL a little below 0 is sampling noise"
    needs: ClassVar = (Need(concepts=("ref_kl",), log="the KL to the reference"),)

    rows: int = limit(10, unit="rows", help="excuses negative values for longer", low=1)
    token: float = limit(0.01, unit="nats/token", help="excuses more negative values", low=0.0)
    sequence: float = limit(0.5, unit="nats/sequence", help="excuses more negative values", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Negative, small, and only at the beginning."""
        series = run.get("ref_kl")
        assert series is not None
        kl = series.finite()
        if series.estimator not in (None, Estimator.K1):
            return
        least = self.sequence if series.unit == Unit.NATS_PER_SEQUENCE else self.token
        negative = np.flatnonzero(kl.values < 0)
        if not len(negative) or negative[-1] >= self.rows or kl.values.min() < -least:
            return
        # values of the size of a rounding error alarm nobody
        if kl.values.min() > -1e-4 * least:
            return
        last = int(negative[-1])
        yield self.finding(
            Severity.INFO,
            Confidence.STRONG,
            said(
                "{metric} is a little below 0 at the start ({least}): noise of the k1 estimate",
                metric=kl.metric,
                least=number(float(kl.values.min())),
            ),
            run=run,
            first=int(kl.at[negative[0]]),
            last=int(kl.at[last]),
            active=False,
            evidence=[quote(kl, sorted({int(negative[0]), last}), said("{n} values below 0", n=len(negative)))],
            alternatives=(
                Alternative(
                    says="samples do not come from the policy (top-p, top-k, minimum length)",
                    check="does it stay negative? Then yes",
                ),
            ),
        )
