"""The diagnosis: findings joined into one story.

Phases of the run, one root with its consequences, the metric that moved first, what cannot be told apart, ordered advice, the
last good step, and what was not checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.chosen import choose
from holter.detectors.registry import run_detectors
from holter.findings.diagnosis.causes import attribute
from holter.findings.diagnosis.phases import Phase, phases
from holter.findings.diagnosis.verdict import Verdict, verdict
from holter.findings.finding import Finding, Severity, Unchecked, step_text
from holter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holter.runs.run import Run

__all__ = ["Diagnosis", "Phase", "Verdict", "diagnose"]


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """What can be said of one run.

    Attributes:
        run: The run.
        verdict: What it comes to.
        phases: The run cut into stretches.
        findings: All findings, the most urgent first, each with its cause.
        unchecked: Detectors that could not look, and why.
        ignored: Detectors left out by the settings, with the reason.
        advice: What to try, most likely to help first, for the whole run.
        last_good_step: Last step before the trouble that still lasts began; None when there is none or no step before.
    """

    run: Run
    verdict: Verdict
    phases: tuple[Phase, ...]
    findings: tuple[Finding, ...]
    unchecked: tuple[Unchecked, ...]
    ignored: Mapping[str, str]
    advice: tuple[str, ...]
    last_good_step: float | None

    @property
    def roots(self) -> tuple[Finding, ...]:
        """Findings that no other finding explains."""
        return tuple(f for f in self.findings if f.caused_by is None)

    def consequences(self, root: Finding) -> tuple[Finding, ...]:
        """Findings that `root` explains, directly or through another, in the order in which they began."""
        names, out = {root.detector}, []
        for finding in sorted(self.findings, key=lambda f: (f.first_step, f.code)):
            if finding.caused_by in names and finding is not root:
                names.add(finding.detector)
                out.append(finding)
        return tuple(out)


def diagnose(run: Run, settings: Settings | None = None) -> Diagnosis:
    """Run the detectors that `settings` choose (all, by default) over a run and join what they say."""
    chosen = choose(settings or Settings())
    said = list(run_detectors(run, chosen.detectors))
    unchecked = tuple(s for s in said if isinstance(s, Unchecked))
    found = attribute(run, [s for s in said if isinstance(s, Finding)])
    found.sort(
        key=lambda f: (-f.severity, not f.active, f.caused_by is not None, f.confidence.rank, f.first_step, f.code)
    )
    good = _last_good(run, found)
    found = [_concrete(run, f) for f in found]
    return Diagnosis(
        run=run,
        verdict=verdict(run, found, unchecked),
        phases=tuple(phases(run, [f for f in found if f.caused_by is None])),
        findings=tuple(found),
        unchecked=unchecked,
        ignored=chosen.ignored,
        advice=_advice(found),
        last_good_step=good,
    )


def _last_good(run: Run, findings: Sequence[Finding]) -> float | None:
    """The step of the row before the trouble that still lasts began, by the best estimate of its beginning."""
    onsets = [f.first_step for f in findings if f.severity >= Severity.WARNING and f.active]
    if not onsets:
        return None
    row = int(np.searchsorted(run.steps, min(onsets), side="left"))
    return float(run.steps[row - 1]) if row > 0 else None


def _concrete(run: Run, finding: Finding) -> Finding:
    """The finding with the steps of this run in its advice."""
    row = int(np.searchsorted(run.steps, finding.first_step, side="left"))
    before = f"step {step_text(float(run.steps[row - 1]))}" if row > 0 else "the start"
    filled = tuple(
        a.replace("{onset}", f"step {step_text(finding.first_step)}").replace("{before}", before)
        for a in finding.advice
    )
    return replace(finding, advice=filled)


def _advice(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Advice of the findings that matter, causes first, each piece once."""
    hot = [f for f in findings if f.severity >= Severity.WARNING]
    ordered = [f for f in hot if f.caused_by is None] + [f for f in hot if f.caused_by is not None]
    return tuple(dict.fromkeys(a for f in ordered for a in f.advice))[:8]
