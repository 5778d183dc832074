"""The run cut into phases: healthy to step 3000, then this, then that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.findings.diagnosis.movement import Movement, movements
from holter.findings.finding import Severity, step_text
from holter.language import Said, listed, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.findings.diagnosis.story import Story
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


def phases(run: Run, stories: Sequence[Story]) -> list[Phase]:
    """Phases between the beginnings and the ends of the stories that matter (those with a warning or worse in them)."""
    if not len(run):
        return []
    matter = sorted((s for s in stories if s.severity >= Severity.WARNING), key=lambda s: (-s.severity, s.first_step))
    spans = [(_row(run, s.first_step), len(run) - 1 if s.active else _row(run, s.last_step), s) for s in matter[:MOST]]
    cuts = sorted({0, *(a for a, _, _ in spans), *(b + 1 for _, b, _ in spans if b + 1 < len(run))})
    out: list[Phase] = []
    for first, following in zip(cuts, [*cuts[1:], len(run)], strict=True):
        last = following - 1
        here = [s for a, b, s in spans if a <= last and b >= first]
        phase = _phase(run, first, last, here)
        if out and (out[-1].status, out[-1].title) == (phase.status, phase.title):
            phase = Phase(out.pop().first_step, phase.last_step, phase.status, phase.title)
        out.append(phase)
    return out


def _row(run: Run, step: float) -> int:
    return min(int(np.searchsorted(run.steps, step, side="left")), len(run) - 1)


def _phase(run: Run, first: int, last: int, here: Sequence[Story]) -> Phase:
    start, end = float(run.steps[first]), float(run.steps[last])
    if here:
        worst = max(s.severity for s in here)
        return Phase(start, end, str(worst), listed(_once([s.clause for s in here]), "; "))
    moved = describe(list(movements(run, first, last)))
    return Phase(start, end, "healthy", moved or said("nothing alarming in what was checked"))


def _once(clauses: Sequence[Said]) -> list[Said]:
    """Clauses of which none is said by another: "the KL runs away" is, by "the KL runs away and the reward collapses"."""
    return [c for c in dict.fromkeys(clauses) if not any(c != other and c in other for other in clauses)]


def describe(moved: Sequence[Movement]) -> str:
    """Movements in one line: what rises, what falls."""
    rising = [m.metric for m in moved if m.direction > 0]
    falling = [m.metric for m in moved if m.direction < 0]
    parts = []
    if rising:
        parts.append(
            said("{metric} rises", metric=rising[0])
            if len(rising) == 1
            else said("{metrics} rise", metrics=_all(rising))
        )
    if falling:
        parts.append(
            said("{metric} falls", metric=falling[0])
            if len(falling) == 1
            else said("{metrics} fall", metrics=_all(falling))
        )
    return said("{rise}, {fall}", rise=parts[0], fall=parts[1]) if len(parts) == 2 else listed(parts)


def span_text(first: float, last: float) -> Said:
    """``steps 1000-3000``, or ``step 7``."""
    if first == last:
        return said("step {step}", step=step_text(first))
    return said("steps {first}-{last}", first=step_text(first), last=step_text(last))


def _all(names: Sequence[str]) -> Said:
    """Two names or more."""
    return said("{names} and {last}", names=listed(names[:-1]), last=names[-1])
