"""What the diagnosis says of a labelled run, and whether that is right."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.registry import all_detectors, run_detectors
from holter.findings.diagnosis import diagnose
from holter.findings.finding import Finding, Severity
from holter.readers.base import Source
from holter.runs.canonical import canonical
from holter.runs.load import logs_of

from .made import Recipe, written

if TYPE_CHECKING:
    from holter.findings.diagnosis import Diagnosis

    from .logs import Label


WATCHED = 5
"""Rows after which somebody who watches a run looks at it again."""


@dataclass(frozen=True)
class Said:
    """A finding, in rows instead of steps: how many logged rows lie at or before a step."""

    detector: str
    warns: bool
    active: bool
    first: int
    raised: int


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A labelled run and what was said of it.

    Attributes:
        label: The truth.
        recipe: How it was made, where it was.
        rows: Logged rows.
        onset: Rows at or before the planted onset; None where none was planted.
        said: The findings.
        blind: Detectors that could not look.
        ever: Detectors that warned somebody who watched the run while it went on, whether or not it was over at the end. Looked
            at in healthy runs only.
        seconds: CPU time of reading and diagnosing.
        error: What went wrong instead.
    """

    label: Label
    recipe: Recipe | None = None
    rows: int = 0
    onset: int | None = None
    said: tuple[Said, ...] = ()
    blind: frozenset[str] = field(default_factory=frozenset)
    ever: frozenset[str] = field(default_factory=frozenset)
    seconds: float = 0.0
    error: str = ""

    def warnings(self) -> list[Said]:
        """Findings at warning or above; of a log that is judged by its end, those that hold there."""
        return [s for s in self.said if s.warns and (s.active or not self.label.final)]

    def hits(self, names: frozenset[str] | None = None) -> list[Said]:
        """Warnings that name the trouble rightly. One that was raised before the onset is luck and does not count."""
        wanted = self.label.names if names is None else names
        since = self.onset if self.onset is not None else 0
        return [s for s in self.warnings() if s.detector in wanted and s.raised >= since]

    @property
    def right(self) -> bool:
        """Whether a sick run was given the right name."""
        return bool(self.hits())

    @property
    def flagged(self) -> bool:
        """Whether anything was said at warning or above."""
        return bool(self.warnings())

    @property
    def early(self) -> bool:
        """Whether a warning was raised before the planted onset, when nothing was wrong yet."""
        return bool(self.hasty())

    def hasty(self) -> set[str]:
        """Detectors that warned before the planted onset."""
        return {s.detector for s in self.said if s.warns and self.onset is not None and s.raised < self.onset}

    @property
    def contradicted(self) -> bool:
        """Whether a warning says what the label rules out."""
        return any(s.detector in self.label.never for s in self.warnings())

    def misplaced(self, names: frozenset[str] | None = None) -> int | None:
        """Rows from the planted onset to where the right findings say that it began; negative: too early."""
        hits = self.hits(names)
        return min(s.first for s in hits) - self.onset if hits and self.onset is not None else None

    def delay(self, names: frozenset[str] | None = None) -> int | None:
        """Rows from the planted onset to the first right warning."""
        hits = self.hits(names)
        return min(s.raised for s in hits) - self.onset if hits and self.onset is not None else None


def _ever(afterwards: Diagnosis) -> set[str]:
    """Detectors that warned of a run when it had so many rows, at every `WATCHED` rows.

    A detector that says nothing of the whole run warned of no part of it: that is a property every detector is held to.
    """
    run = afterwards.run
    warned = {f.detector for f in afterwards.findings if f.severity >= Severity.WARNING}
    # How many rows were written twice is known of a whole file, not of a run that ends before its end.
    chosen = [all_detectors()[n]() for n in {f.detector for f in afterwards.findings} - warned - {"steps-repeat"}]
    for step in run.steps[WATCHED - 1 :: WATCHED].tolist() if chosen else ():
        said = run_detectors(run.until(step), chosen)
        warned |= {f.detector for f in said if isinstance(f, Finding) and f.severity >= Severity.WARNING}
    return warned


def judged(task: Label | Recipe) -> Judged:
    """The verdict on a labelled log or on a run that is made first. A crash is a verdict too, and a miss."""
    if isinstance(task, Recipe):
        label, data = written(task.make(), task)
        return _judged(label, Source("log.jsonl", data=data), task)
    return _judged(task, Source.of(Path(task.log or "")), None)


def _judged(label: Label, source: Source, recipe: Recipe | None) -> Judged:
    began = process_time()
    try:
        diagnoses = [diagnose(run) for log in logs_of(source) for run in canonical(log)]
    except Exception as error:
        return Judged(label=label, recipe=recipe, error=f"{type(error).__name__}: {error}")
    seconds = process_time() - began
    steps = np.unique(np.concatenate([d.run.steps for d in diagnoses])) if diagnoses else np.empty(0)

    def row(step: float) -> int:
        return int(np.searchsorted(steps, step, side="right"))

    return Judged(
        label=label,
        recipe=recipe,
        ever=frozenset().union(*map(_ever, diagnoses)) if label.healthy else frozenset(),
        rows=len(steps),
        onset=None if label.onset is None else row(label.onset),
        said=tuple(
            Said(f.detector, f.severity >= Severity.WARNING, f.active, row(f.first_step), row(f.raised_step))
            for d in diagnoses
            for f in d.findings
        ),
        blind=frozenset(u.detector for d in diagnoses for u in d.unchecked),
        seconds=seconds,
    )
