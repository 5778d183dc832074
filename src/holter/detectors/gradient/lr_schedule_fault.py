"""The learning rate jumps in the middle of the run, or its warm-up starts again.

## Why it matters
Adam's moments were built for steps of the old size. A jump by several times is one large step in an old direction,
and the commonest cause of a run that breaks in one row: a resume without the scheduler's state, a schedule in the
wrong unit, an edited setting.

## When it fires
When the learning rate rises in one row to more than `jump` times everything it was in the last 50 values, with
`settled` values before it that were no warm-up. Or when it falls to less than a fifth of its level in one row and
climbs back above half of that level within 50 values.

## What to do
- Look at what happened at that step: a resume, a new phase, a changed setting.
- Restore the scheduler's state together with the optimiser's.
- Go back to the checkpoint before, and lower the rate.

## When it is wrong
Cosine schedules with warm restarts, and cyclic schedules, do this on purpose. Some trainers log the rate of the step
before, so the row of the jump is one late.

## References
Loshchilov and Hutter, ["SGDR: Stochastic Gradient Descent with Warm Restarts"](https://arxiv.org/abs/1608.03983)
(2017), for the schedule that is meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

BACK = 50


@dataclass(frozen=True, kw_only=True)
class LRScheduleFault(Detector):
    """HLT705."""

    name: ClassVar = "lr-schedule-fault"
    code: ClassVar = "HLT705"
    since: ClassVar = "0.1"
    says: ClassVar = "the learning rate jumps"
    explains: ClassVar = (
        "kl-runaway",
        "policy-divergence",
        "policy-update-too-large",
        "gradient-spikes",
        "reward-collapse",
        "entropy-collapse",
        "not-finite",
    )
    needs: ClassVar = (Need(concepts=("lr",), points=7, log="the learning rate"),)

    jump: float = limit(5.0, unit="x", help="needs a larger jump", low=1.5)
    settled: int = limit(5, unit="values", help="needs more calm values before the jump", low=2)

    def check(self, run: Run) -> Iterator[Finding]:
        """Jumps first, then restarts of the warm-up."""
        series = run.get("lr")
        assert series is not None
        lr = series.finite()
        for i in self._jumps(lr.values):
            yield self._say(run, lr, i, i, "{metric} jumps from {before} to {after} in one row")
        for i, k in self._restarts(lr.values):
            yield self._say(run, lr, i, k, "{metric} falls from {before} to {after} and climbs again")

    def _jumps(self, x: NDArray[np.float64]) -> list[int]:
        out = []
        rises = np.flatnonzero((x[1:] > self.jump * x[:-1]) & (x[:-1] > 0)) + 1
        for i in rises.tolist():
            calm = x[max(0, i - self.settled) : i]
            warming = bool(np.all(np.diff(calm) > 0))
            if i >= self.settled and not warming and x[i] > self.jump * float(np.max(x[max(0, i - BACK) : i])):
                out.append(i)
        return out

    def _restarts(self, x: NDArray[np.float64]) -> list[tuple[int, int]]:
        out: list[tuple[int, int]] = []
        falls = np.flatnonzero((x[1:] < x[:-1] / 5) & (x[:-1] > 0)) + 1
        until = -1  # a fall on the way back from another is part of it
        for i in falls.tolist():
            if i < self.settled or i <= until:
                continue
            later = np.flatnonzero(x[i + 1 : i + 1 + BACK] > x[i - 1] / 2)
            until = i + 1 + int(later[0]) if len(later) else i + BACK
            if len(later):
                out.append((i, until))
        return out

    def _say(self, run: Run, lr: Series, first: int, raised: int, template: str) -> Finding:
        before, after = (number(float(lr.values[i])) for i in (first - 1, first))
        title = said(template, metric=lr.metric, before=before, after=after)
        if any(abs(int(lr.at[first]) - r) <= 1 for r in run.resumes):
            title = said("{title}, where the run was resumed", title=title)
        return self.finding(
            Severity.WARNING,
            Confidence.CERTAIN,
            title,
            run=run,
            first=int(lr.at[first]),
            last=int(lr.at[raised]),
            raised=int(lr.at[raised]),
            active=len(lr) - 1 - raised < BACK,
            evidence=[quote(lr, sorted({max(0, first - 2), first - 1, first, raised}), "before and after")],
            advice=(
                "Look at what happened at this step: a resume, a new phase, a changed setting.",
                "Restore the scheduler's state together with the optimiser's.",
                "Go back to the last checkpoint at or before {before}, and lower the rate.",
            ),
            alternatives=(
                Alternative(
                    says="a schedule with warm restarts", check="the type of the schedule in the configuration"
                ),
            ),
        )
