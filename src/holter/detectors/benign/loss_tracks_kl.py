"""The GRPO loss rises because it is beta * KL, not because the run gets worse.

## Why it matters
A rising loss alarms everyone who comes from supervised training. In GRPO with one update per batch the policy term is
zero in value, so that the logged loss is the KL term, and the KL of a learning policy rises.

## When it fires
Over `rows` rows and more the loss rises while loss / KL stays the same within `spread` (relative median deviation). The
ratio is beta.

## What to do
- Nothing. Judge the run by reward and evaluation, and the KL by its own limits.

## When it is wrong
A KL that rises too fast is a finding of its own.

## References
[huggingface/open-r1 issue 239](https://github.com/huggingface/open-r1/issues/239): "loss/kl is about 0.04, the
default beta".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.alignment import on_rows
from holter.findings.finding import Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class LossTracksKL(Detector):
    """HLT955."""

    name: ClassVar = "loss-tracks-kl"
    code: ClassVar = "HLT955"
    since: ClassVar = "0.1"
    says: ClassVar = "the loss rises with the KL, of which it is a multiple"
    needs: ClassVar = (
        Need(concepts=("total_loss",), points=5, log="the loss"),
        Need(concepts=("ref_kl",), points=5, log="the KL to the reference"),
    )

    rows: int = limit(5, unit="rows", help="needs more rows", low=3)
    spread: float = limit(0.15, unit="fraction", help="tolerates a less constant ratio", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """A constant ratio of loss and KL, with both rising."""
        series, kl = run.get("total_loss"), run.get("ref_kl")
        assert series is not None
        assert kl is not None
        beside = on_rows(kl, series.at)
        with np.errstate(all="ignore"):
            keep = np.isfinite(series.values) & np.isfinite(beside) & (beside > 0) & (series.values > 0)
            loss, beside = series.where(keep), beside[keep]
            if len(loss) < self.rows or len(loss) < 0.5 * len(series):
                return
            beta = loss.values / beside
            middle = float(np.median(beta))
            constant = float(np.median(np.abs(beta - middle))) < self.spread * middle
            newest, oldest = float(np.median(loss.values[-3:])), float(np.median(loss.values[:3]))
        if not constant or not newest > 1.5 * oldest:
            return
        pair = [int(i) for i in kl.upto(loss.at[[0, len(loss) - 1]])]
        yield self.finding(
            Severity.INFO,
            Confidence.STRONG,
            said(
                "{loss} rises because it is {beta} * {kl}: a multiple of the KL, not a sign of failure",
                loss=loss.metric,
                beta=number(middle),
                kl=kl.metric,
            ),
            run=run,
            first=int(loss.at[0]),
            last=int(loss.at[-1]),
            evidence=[
                quote(loss, [0, len(loss) - 1], "first and last"),
                quote(kl, pair, "the ratio of the two stays the same"),
            ],
        )
