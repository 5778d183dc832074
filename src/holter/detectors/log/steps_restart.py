"""The log goes back to an earlier step: the run was resumed, or started again into the same file.

## Why it matters
At the seam the model is another one than in the row before: the optimizer may have lost its moments, the sampler may
hold stale weights, the data may repeat. A jump of a metric there is the seam's and not the policy's. Rows after the
checkpoint that were logged by the first part did not happen in the model that went on.

## When it fires
A step is logged again that the log already had, and not from its beginning on (that would be another run).

## What to do
- Compare the rows on both sides of the seam: KL and ratio should continue, the ratio should be 1.
- Check that optimizer, scheduler, data order and random state were restored, and that the sampler loaded the new weights.

## When it is wrong
A logger that writes rows late and out of order looks the same when it repeats a metric for a step.

## References
The newest row of a step is used, here and in most trackers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from holter.detectors.base import Detector, quote
from holter.detectors.log.witness import witness
from holter.findings.finding import Alternative, Confidence, Severity, step_text
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class StepsRestart(Detector):
    """HLT902."""

    name: ClassVar = "steps-restart"
    code: ClassVar = "HLT902"
    since: ClassVar = "0.1"
    says: ClassVar = "the run was resumed"

    def check(self, run: Run) -> Iterator[Finding]:
        """One finding a seam."""
        for row in run.resumes:
            seen = witness(run, row)
            if seen is None:
                continue
            series, i = seen
            yield self.finding(
                Severity.INFO,
                Confidence.CERTAIN,
                said(
                    "the run was resumed at step {step}; rows that the first part had logged from there on are left out",
                    step=step_text(float(run.steps[row])),
                ),
                run=run,
                first=row,
                last=row,
                active=False,
                evidence=[quote(series, [i - 1, i] if i > 0 else [i], "the rows on both sides of the seam")],
                advice=(
                    "Check that optimizer, scheduler, data order and random state were restored with the weights.",
                ),
                alternatives=(
                    Alternative(says="a logger that writes rows out of order", check="compare the times of the rows"),
                ),
            )
