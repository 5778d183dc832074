"""The learning rate is exactly zero: no step changes a weight.

## Why it matters
Rollouts, rewards and gradients are computed and paid for, and the optimiser multiplies them by 0.

## When it fires
When the learning rate is exactly 0 in every one of `rows` values or more (critical, certain), or falls to 0 in one
row from more than a tenth of its largest value and stays there for `rows` values (warning). The first row of a
warm-up, and a schedule that ends at 0, are not faults; a run that goes on for more than a tenth of its rows after its
schedule ended is an info.

## What to do
- Check the learning rate that reaches the optimiser, and the parameter group that is logged.
- Check the number of steps the schedule was built for.
- With NaN gradients: the scheduler stands still while the loss scaler skips every step.

## When it is wrong
A console that prints three decimals writes 1e-6 as 0.000; such logs are left out.

## References
[unslothai/unsloth issue 2824](https://github.com/unslothai/unsloth/issues/2824). [rllm-org/rllm issue
54](https://github.com/rllm-org/rllm/issues/54) (rounding).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.structure import print_resolution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series


@dataclass(frozen=True, kw_only=True)
class LRZero(Detector):
    """HLT704."""

    name: ClassVar = "lr-zero"
    code: ClassVar = "HLT704"
    since: ClassVar = "0.1"
    says: ClassVar = "the learning rate is 0"
    explains: ClassVar = ("policy-not-updating", "no-learning")
    needs: ClassVar = (Need(concepts=("lr",), points=3, log="the learning rate"),)

    rows: int = limit(5, unit="values", help="needs more zeros running", low=3)

    def check(self, run: Run) -> Iterator[Finding]:
        """Stretches of exact zeros."""
        series = run.get("lr")
        assert series is not None
        lr = series.finite()
        zero = lr.values == 0.0
        if not zero.any() or (zero.all() and print_resolution(run) > 0):
            return
        edges = np.flatnonzero(np.diff(np.concatenate(([False], zero, [False])).astype(np.int8)))
        for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if end - first >= self.rows:
                yield self._say(run, lr, first, end - 1)

    def _say(self, run: Run, lr: Series, first: int, last: int) -> Finding:
        top = float(np.max(lr.values[: first + 1]))
        fell = first > 0 and lr.values[first - 1] > 0.1 * top
        active = last == len(lr) - 1
        if first == 0:
            severity = Severity.CRITICAL if active else Severity.INFO
            title = said(
                "{metric} is exactly 0 in all {n} values"
                if active
                else "{metric} is exactly 0 in the first {n} values",
                metric=lr.metric,
                n=last + 1,
            )
        elif fell:
            severity = Severity.WARNING
            title = said(
                "{metric} falls from {before} to exactly 0 in one row",
                metric=lr.metric,
                before=number(float(lr.values[first - 1])),
            )
        else:
            severity = Severity.INFO
            title = said(
                "{metric} has reached 0, the end of its schedule; the {n} rows since teach nothing",
                metric=lr.metric,
                n=last - first + 1,
            )
        return self.finding(
            severity,
            Confidence.CERTAIN,
            title,
            run=run,
            first=int(lr.at[first]),
            last=int(lr.at[last]),
            raised=int(lr.at[self._raised(run, lr, first, last)]),
            active=active,
            evidence=[quote(lr, sorted({max(0, first - 1), first, last}), "no step changes a weight at 0")],
            advice=(
                "Check the learning rate that reaches the optimiser, and the number of steps its schedule was built for.",
                "With NaN gradients the schedule may stand still, because every step is skipped.",
            ),
            alternatives=(
                Alternative(says="another parameter group is logged", check="the learning rate of every group"),
            ),
        )

    def _raised(self, run: Run, lr: Series, first: int, last: int) -> int:
        """Position of enough zeros; of a rate that never was anything else, where the log shows that it is not rounded."""
        raised = first + int(self.rows) - 1
        if first > 0 or last < len(lr) - 1:
            return raised
        rows = lr.at[raised : last + 1].tolist()
        return raised + bisect_left(rows, True, key=lambda row: not print_resolution(run.until(float(run.steps[row]))))
