"""Steps are logged more than once, with different rows.

## Why it matters
Two processes that write into one file, a launch script that appends to an old log, a tracker that logs a metric per
rank: the rows look like one run and are two. Every trend through them is a mixture.

## When it fires
Rows were replaced because a newer row held the same metric for the same step. It is a warning when they are more than
`share` of all rows, `least` at the least, and no resume explains them, otherwise an info.

## What to do
- One file a run; log from the main process only.
- Look at the file around a repeated step: are the repeated rows equal (written twice) or different (two runs)?

## When it is wrong
Frameworks that log one row a micro-batch under the step of the optimizer repeat steps on purpose.

## References
The newest row of a step is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, limit, quote
from holter.detectors.log.witness import fullest
from holter.detectors.numerics.bad_values import row_count
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class StepsRepeat(Detector):
    """HLT901."""

    name: ClassVar = "steps-repeat"
    code: ClassVar = "HLT901"
    since: ClassVar = "0.1"
    says: ClassVar = "steps are logged more than once"

    share: float = limit(0.25, unit="fraction of rows", help="warns only of more", low=0.0)
    least: int = limit(3, unit="rows", help="takes more repeated rows for corrections of single steps", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """What the reading of the log had to replace."""
        series = fullest(run)
        if not run.repeated or series is None:
            return
        rows = np.arange(len(run))
        so_far = np.searchsorted(run.replaced, rows, side="right")
        too_many = so_far >= np.maximum(self.least, self.share * (rows + 1))
        many = bool(too_many[-1]) and not run.resumes
        yield self.finding(
            Severity.WARNING if many else Severity.INFO,
            Confidence.CERTAIN,
            said(
                "{replaced} replaced by a newer row of the same step, {left} left",
                replaced=row_count(run.repeated),
                left=row_count(len(run)),
            ),
            run=run,
            first=run.replaced[0],
            last=len(run) - 1,
            raised=int(np.argmax(too_many)) if many else run.replaced[0],
            evidence=[quote(series, sorted({0, len(series) - 1}), "the metric with most rows, as it was read")],
            advice=(
                "Look at the file around a repeated step: equal rows were written twice, different rows are two runs.",
                "Write one file a run, from the main process only.",
            ),
            alternatives=(
                Alternative(
                    says="one row a micro-batch, logged under the optimizer's step", check="count rows per step"
                ),
            ),
        )
