"""The run cut into phases: healthy to step 3000, then this, then that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.registry import all_detectors
from holter.findings.diagnosis.movement import Movement, movements
from holter.findings.finding import Severity, step_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.findings.finding import Finding
    from holter.runs.run import Run

MOST = 6
"""Phases shown; a run with more turning points is told by its worst ones."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of the run in which one thing can be said.

    Attributes:
        first_step: First step.
        last_step: Last step.
        status: ``healthy``, ``warning`` or ``critical``.
        title: What happens in it, in one line.
    """

    first_step: float
    last_step: float
    status: str
    title: str


def phases(run: Run, roots: Sequence[Finding]) -> list[Phase]:
    """Phases between the onsets and the ends of the findings that matter (warnings and above, causes not consequences)."""
    if not len(run):
        return []
    matter = sorted((f for f in roots if f.severity >= Severity.WARNING), key=lambda f: (-f.severity, f.first_step))[
        :MOST
    ]
    spans = [(_row(run, f.first_step), len(run) - 1 if f.active else _row(run, f.last_step), f) for f in matter]
    cuts = sorted({0, *(a for a, _, _ in spans), *(b + 1 for _, b, _ in spans if b + 1 < len(run))})
    out: list[Phase] = []
    for first, following in zip(cuts, [*cuts[1:], len(run)], strict=True):
        last = following - 1
        here = [f for a, b, f in spans if a <= last and b >= first]
        phase = _phase(run, first, last, here)
        if out and (out[-1].status, out[-1].title) == (phase.status, phase.title):
            phase = Phase(out.pop().first_step, phase.last_step, phase.status, phase.title)
        out.append(phase)
    return out


def _row(run: Run, step: float) -> int:
    return min(int(np.searchsorted(run.steps, step, side="left")), len(run) - 1)


def _phase(run: Run, first: int, last: int, here: Sequence[Finding]) -> Phase:
    start, end = float(run.steps[first]), float(run.steps[last])
    if here:
        worst = max(f.severity for f in here)
        title = "; ".join(dict.fromkeys(plain(f) for f in sorted(here, key=lambda f: (-f.severity, f.first_step))))
        return Phase(start, end, str(worst), title)
    return Phase(
        start, end, "healthy", describe(list(movements(run, first, last))) or "nothing alarming in what was checked"
    )


def plain(finding: Finding) -> str:
    """What a finding says in a plain clause."""
    known = all_detectors().get(finding.detector)
    return known.says if known is not None and known.says else finding.title


def describe(moved: Sequence[Movement]) -> str:
    """Movements in one line: what rises, what falls."""
    rising = [m.metric for m in moved if m.direction > 0]
    falling = [m.metric for m in moved if m.direction < 0]
    parts = []
    if rising:
        parts.append(f"{_listed(rising)} rise{'s' * (len(rising) == 1)}")
    if falling:
        parts.append(f"{_listed(falling)} fall{'s' * (len(falling) == 1)}")
    return ", ".join(parts)


def span_text(first: float, last: float) -> str:
    """``steps 1000-3000``, or ``step 7``."""
    return f"step {step_text(first)}" if first == last else f"steps {step_text(first)}-{step_text(last)}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
