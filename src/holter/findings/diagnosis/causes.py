"""Which finding is the root and which are its consequences.

A cascade is one trouble: truncation brings zero reward, zero reward brings groups without variance, and those bring a zero
gradient. Detectors declare what they can explain; among the candidates the one that began first is the cause.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.registry import all_detectors
from holter.findings.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.findings.finding import Finding
    from holter.runs.run import Run

SLACK = 3
"""Logged rows by which a cause may seem to begin after its consequence: onsets are estimates."""


def can_explain(cause: str, consequence: str) -> bool:
    """Whether a detector's findings can be the cause of another's, by either's declaration."""
    known = all_detectors()
    one, other = known.get(cause), known.get(consequence)
    return (one is not None and consequence in one.explains) or (other is not None and cause in other.explained_by)


def attribute(run: Run, findings: Sequence[Finding]) -> list[Finding]:
    """The findings with `caused_by` filled in.

    A cause is at least a warning, may explain the consequence, and began no later than it (give or take the estimate). When
    two findings could explain each other, the earlier onset decides, then the severity.
    """
    out = []
    by_detector: dict[str, list[Finding]] = {}
    for finding in findings:
        by_detector.setdefault(finding.detector, []).append(finding)
    for finding in findings:
        able = (some for name, some in by_detector.items() if can_explain(name, finding.detector))
        causes = [g for some in able for g in some if _explains(run, g, finding)]
        chosen = min(causes, key=lambda g: (g.onset[0], -g.severity, g.code), default=None)
        out.append(replace(finding, caused_by=chosen.detector if chosen is not None else None))
    return _without_circles(out)


def _explains(run: Run, cause: Finding, consequence: Finding) -> bool:
    if cause.severity < Severity.WARNING or cause.detector == consequence.detector:
        return False
    if can_explain(consequence.detector, cause.detector) and _order(consequence) < _order(cause):
        return False
    row = int(np.searchsorted(run.steps, consequence.onset[1], side="right")) - 1
    latest = run.steps[min(row + SLACK, len(run) - 1)]
    return cause.onset[0] <= latest and cause.last_step >= consequence.onset[0]


def _order(f: Finding) -> tuple[float, int, str]:
    return (f.onset[0], -f.severity, f.code)


def _without_circles(findings: list[Finding]) -> list[Finding]:
    """Cut a chain where it would return to itself, at its earliest member."""
    by = {f.detector: f for f in sorted(findings, key=_order, reverse=True)}
    out = []
    for finding in findings:
        seen, name = {finding.detector}, finding.caused_by
        while name is not None and name not in seen:
            seen.add(name)
            name = by[name].caused_by if name in by else None
        circular = name is not None and name == finding.detector
        first = min((by[n] for n in seen if n in by), key=_order, default=finding)
        out.append(replace(finding, caused_by=None) if circular and first.detector == finding.detector else finding)
    return out
