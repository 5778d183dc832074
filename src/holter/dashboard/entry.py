"""One run as the dashboard knows it, from the moment at which its file was found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from holter.runs.hyperparameters import hyperparameter

if TYPE_CHECKING:
    from holter.findings.diagnosis import Diagnosis
    from holter.monitor.pulse import Pulse
    from holter.runs.run import Run

DEAD = 3600.0
"""Seconds without a row from which on a run that never said it ended is called dead, and not only stalled."""


class State(StrEnum):
    """Whether a run still trains, as far as its files tell."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    STALLED = "stalled"
    DEAD = "dead"
    RESTING = "resting"
    """No row came since the dashboard began to look, and nothing says whether one was due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One run.

    Attributes:
        id: Short name in addresses; the same as long as the run's file stays where it is.
        name: Path below the folder, as people read it.
        run: The run as it was read last; None before it was.
        glimpsed: Step of the last row as the end of the file has it, while nothing more was read; None where it cannot tell.
        diagnosis: What the detectors say of it; None before they looked.
        pulse: Its signs of life.
        version: Grows with every change, so that a page can tell what it has.
        since: The fleet's version with which this one was published.
    """

    id: str
    name: str
    run: Run | None
    diagnosis: Diagnosis | None
    pulse: Pulse
    version: int
    glimpsed: float | None = None
    since: int = 0

    @property
    def state(self) -> State:
        """Whether it still trains."""
        if self.pulse.ended:
            return State(self.pulse.ended)
        if self.run is None:
            # Whether it did what was planned is not known yet, and how fast its rows come is not either.
            return State.RUNNING if self.pulse.gap is not None and not self.pulse.stalled else State.RESTING
        if self.progress == 1.0:
            return State.FINISHED
        if self.pulse.stalled:
            return State.DEAD if (self.pulse.age or 0.0) > DEAD else State.STALLED
        if self.pulse.gap is not None:
            return State.RUNNING
        return State.DEAD if (self.pulse.age or 0.0) > DEAD else State.RESTING

    @property
    def last_step(self) -> float | None:
        """Step of the last row; None where none is known."""
        if self.run is None:
            return self.glimpsed
        return float(self.run.steps[-1]) if len(self.run) else None

    @property
    def progress(self) -> float | None:
        """Share of the planned steps that are done, 0 to 1; None where nothing says how many are planned."""
        planned = hyperparameter(self.run, "planned_steps") if self.run is not None else None
        if planned is None or planned <= 0 or self.last_step is None:
            return None
        return min(1.0, self.last_step / planned)

    @property
    def judged(self) -> bool:
        """Whether the newest rows that were read are those that the detectors looked at."""
        return self.diagnosis is not None and self.diagnosis.run is self.run
