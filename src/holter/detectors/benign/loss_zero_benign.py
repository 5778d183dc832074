"""A GRPO loss of 0 (or nearly 0) while the policy is learning: it is what the formula gives.

## Why it matters
Many take a loss of 0.0 for a dead run and stop it. With one update per batch the ratio is 1 and the advantages of a
group sum to zero, so the value of the loss is beta * KL, which begins at 0. Its gradient is not zero: that is what
learns.

## When it fires
On `share` of the rows so far the loss is below `zero` in size, while the gradient norm is finite and above 0 (where it
is not logged: while the KL to the reference has left 0). It says nothing when a row has a loss of exactly 0 and a
gradient that is not a number: that is a masked NaN.

## What to do
- Nothing. Watch the reward, the KL and the gradient norm.

## When it is wrong
If rewards within groups are all equal, the loss is 0 as well and nothing is learned; the gradient norm is then 0 too.

## References
[huggingface/trl issue 3452](https://github.com/huggingface/trl/issues/3452), [huggingface/open-r1 issue
239](https://github.com/huggingface/open-r1/issues/239).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, quote
from holter.detectors.statistics.alignment import newest_on_rows, on_rows
from holter.findings.finding import Confidence, Severity
from holter.language import said
from holter.runs.structure import algorithm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class LossZeroBenign(Detector):
    """HLT951."""

    name: ClassVar = "loss-zero-benign"
    code: ClassVar = "HLT951"
    since: ClassVar = "0.1"
    says: ClassVar = "a loss near 0 is what the formula gives"
    needs: ClassVar = (
        Need(concepts=("total_loss",), log="the loss"),
        Need(concepts=("grad_norm", "ref_kl"), log="the gradient norm or the KL"),
    )

    zero: float = limit(1e-4, unit="loss", help="calls larger losses zero", low=0.0)
    share: float = limit(0.8, unit="fraction of rows", help="needs it on more rows", low=0.0, high=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Loss near 0, gradient or KL not."""
        if algorithm(run) != "grpo":
            return
        series = run.get("total_loss")
        assert series is not None
        loss = series.finite()
        if not len(loss):
            return
        gradient = run.get("grad_norm")
        witness = gradient if gradient is not None else run.get("ref_kl")
        assert witness is not None
        beside = (on_rows if gradient is not None else newest_on_rows)(witness, loss.at)
        with np.errstate(all="ignore"):
            near = (np.abs(loss.values) < self.zero) & np.isfinite(beside) & (beside > 0)
        masked = (loss.values == 0) & np.isnan(on_rows(gradient, loss.at)) & np.isin(loss.at, witness.at)
        if masked.any() or not near.any() or near.mean() < self.share:
            return
        first, last = int(np.flatnonzero(near)[0]), int(np.flatnonzero(near)[-1])
        pair = [int(i) for i in witness.upto(loss.at[[first, last]])]
        yield self.finding(
            Severity.INFO,
            Confidence.CERTAIN,
            said(
                "{loss} is 0 and that is right: with ratio 1 and centred advantages it is beta * KL, and its gradient is not 0 "
                "({witness})",
                loss=loss.metric,
                witness=witness.metric,
            ),
            run=run,
            first=int(loss.at[first]),
            last=int(loss.at[last]),
            evidence=[
                quote(loss, sorted({first, last}), "near 0"),
                quote(witness, sorted(set(pair)), "not 0: the policy is being updated"),
            ],
        )
