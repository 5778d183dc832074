"""The run stood still between two rows, or still does.

## Why it matters
A hanging reward service, a dead worker in a collective, or a queue that starves leaves no row behind: the log simply
pauses. The wall clock shows it.

## When it fires
The time between two logged rows is `factor` times the median of the `window` gaps before and longer than `least`. Gaps
in which an evaluation was logged, or the run was resumed, are left out. It is a warning when it is the newest gap, an
info when rows came regularly again.

## What to do
- Look at the process at that time: waiting for a reward service, a sampler, a collective, a disk?
- Give remote rewards and environments a timeout, and collectives theirs.

## When it is wrong
Checkpoints of large models, and logging that is not regular, make long gaps too.

## References
PyTorch documentation, "Flight Recorder for debugging stuck jobs".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run

MOST = 3
"""Gaps that are told one by one; a log with more of them is logged irregularly, and only the first are of use."""


@dataclass(frozen=True, kw_only=True)
class StalledRun(Detector):
    """HLT852."""

    name: ClassVar = "stalled-run"
    code: ClassVar = "HLT852"
    since: ClassVar = "0.1"
    says: ClassVar = "the run stood still"
    needs: ClassVar = (Need(concepts=("time_total",), points=8, log="the time since the start, once a row"),)

    factor: float = limit(20.0, unit="x", help="needs a longer gap", low=2.0)
    least: float = limit(600.0, unit="s", help="ignores shorter gaps", low=0.0)
    window: int = limit(20, unit="logged points", help="compares with an older past", low=3)

    def check(self, run: Run) -> Iterator[Finding]:
        """Every gap against the gaps before it."""
        series = run.get("time_total")
        assert series is not None
        time = series.finite()
        gaps = np.diff(time.values)
        if len(gaps) < 6:
            return
        usual = trailing_median(gaps, self.window, lag=1, least=5)
        with np.errstate(all="ignore"):
            long = (gaps > self.factor * usual) & (gaps > self.least) & (usual > 0)
        named = 0
        for i in np.flatnonzero(long).tolist():
            rows = (int(time.at[i]), int(time.at[i + 1]))
            if named == MOST or self._explained(run, *rows):
                continue
            named += 1
            newest = i == len(gaps) - 1
            yield self.finding(
                Severity.WARNING if newest else Severity.INFO,
                Confidence.MODERATE,
                said(
                    "{gap} minutes between two rows, {usual} before ({metric})",
                    gap=number(gaps[i] / 60),
                    usual=number(usual[i] / 60),
                    metric=time.metric,
                ),
                run=run,
                first=rows[0],
                last=rows[1],
                raised=rows[1],
                active=newest,
                evidence=[quote(time, [i, i + 1], "the clock before and after")],
                advice=(
                    "Look at what the process waited for: a reward service, a sampler, a collective, a disk.",
                    "Give remote rewards, environments and collectives a timeout.",
                ),
                alternatives=(
                    Alternative(says="a checkpoint or an evaluation", check="see whether one was written then"),
                ),
            )

    def _explained(self, run: Run, before: int, after: int) -> bool:
        """Whether an evaluation or a resume lies in the gap."""
        resumed = any(before < r <= after for r in run.resumes)
        evaluated = any(
            bool(((s.at >= before) & (s.at <= after)).any()) for s in run.series.values() if s.split is Split.EVAL
        )
        return resumed or evaluated
