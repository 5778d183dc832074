"""The log is too short for statistics.

## Why it matters
A trend needs points. Below `rows` of them only statements that are true by arithmetic can be made (not a number, everything
truncated, no variance), and "nothing found" means "not enough seen". This is a statement about the log as it stands; it is
withdrawn when rows are added.

## When it fires
The run has fewer than `rows` rows. The finding says how many detectors wait for more points of signals that the log has.

## What to do
- Let the run go on, or log more often (`logging_steps=1`).
- Give the whole log and not its tail.

## When it is wrong
Never: it is arithmetic.

## References
Mann-Kendall and robust line fits have little power below 20 to 30 points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from holter.detectors.base import Detector, limit, quote
from holter.detectors.log.witness import fullest
from holter.findings.finding import Confidence, Severity
from holter.language import said
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class TooFewRows(Detector):
    """HLT903."""

    name: ClassVar = "too-few-rows"
    code: ClassVar = "HLT903"
    since: ClassVar = "0.1"
    says: ClassVar = "the log is too short for statistics"

    rows: int = limit(20, unit="rows", help="asks for longer logs", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """One sentence about the length of the log."""
        series = fullest(run)
        if len(run) >= self.rows or series is None:
            return
        waiting = _waiting(run)
        yield self.finding(
            Severity.INFO,
            Confidence.CERTAIN,
            said(
                "1 logged row: below {least} no trend can be judged, and silence is not health"
                if len(run) == 1
                else "{n} logged rows: below {least} no trend can be judged, and silence is not health",
                n=len(run),
                least=self.rows,
            ),
            run=run,
            first=0,
            last=len(run) - 1,
            evidence=[
                quote(
                    series,
                    sorted({0, len(series) - 1}),
                    said("has {n} values", n=len(series)),
                )
            ],
            advice=(
                "Log every step (logging_steps=1), and give the whole log.",
                *(
                    said(
                        "{detector} waits for {points} points of {metric}.", detector=name, points=points, metric=metric
                    )
                    for name, points, metric in waiting
                ),
            ),
        )


def _waiting(run: Run) -> list[tuple[str, int, str]]:
    """Detectors whose signals are there, with too few points: name, points, signal."""
    from holter.detectors.registry import all_detectors  # the registry imports every detector, this one included

    out = []
    for cls in all_detectors().values():
        for need in cls.needs:
            splits = [Split.TRAIN, Split.EVAL] if need.split == "any" else [Split(need.split)]
            held = [s for split in splits for c in need.concepts for s in run.all(c, split)]
            if held and all(len(s) < need.points for s in held):
                out.append((cls.name, need.points, held[0].metric))
    return out
