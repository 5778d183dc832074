"""A GRPO loss that is negative or goes up and down carries no information.

## Why it matters
The loss is minus a mean of advantages times ratios. Advantages are centred within each group, so it hovers around 0, on
either side, with no trend that means anything. A negative loss is neither good nor bad.

## When it fires
At least `share` of the losses of a GRPO log are below -`least`, and the reward is logged (that is what to look at).

## What to do
- Nothing. Judge the run by the reward and by a held-out score.

## When it is wrong
A loss that grows without bound, or is not a number, is a finding of its own.

## References
[modelscope/ms-swift issue 3579](https://github.com/modelscope/ms-swift/issues/3579).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.findings.finding import Confidence, Severity
from holter.language import said
from holter.runs.structure import algorithm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class GRPOLossNegative(Detector):
    """HLT958."""

    name: ClassVar = "grpo-loss-negative"
    code: ClassVar = "HLT958"
    since: ClassVar = "0.1"
    says: ClassVar = "a negative loss means nothing here"
    needs: ClassVar = (
        Need(concepts=("total_loss",), log="the loss"),
        Need(concepts=("reward",), log="the reward"),
    )

    share: float = limit(0.2, unit="fraction of rows", help="needs more negative rows", low=0.0, high=1.0)
    least: float = limit(1e-3, unit="loss", help="ignores smaller losses", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Negative on many rows."""
        series = run.get("total_loss")
        assert series is not None
        loss = series.finite()
        negative = np.flatnonzero(loss.values < -self.least)
        if algorithm(run) != "grpo" or not len(negative) or len(negative) < self.share * len(loss):
            return
        yield self.finding(
            Severity.INFO,
            Confidence.CERTAIN,
            said(
                "{metric} is negative on {n} of {rows} rows, which means nothing: advantages are centred, so it hovers around 0",
                metric=loss.metric,
                n=len(negative),
                rows=len(loss),
            ),
            run=run,
            first=int(loss.at[negative[0]]),
            last=int(loss.at[negative[-1]]),
            evidence=[
                quote(
                    loss,
                    sorted({int(negative[0]), int(negative[-1])}),
                    said(
                        "between {low} and {high}",
                        low=number(float(loss.values.min())),
                        high=number(float(loss.values.max())),
                    ),
                )
            ],
        )
