"""What can be said about a run: findings with their evidence, and what could not be looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Severity(IntEnum):
    """How much the run is at stake."""

    INFO = 1
    """Worth knowing; includes patterns that look alarming and are not."""
    WARNING = 2
    """Look at it before spending more compute."""
    CRITICAL = 3
    """The run, or what comes after this step, is probably wasted. Needs certainty or two signals that agree."""

    def __str__(self) -> str:
        return self.name.lower()


class Confidence(StrEnum):
    """How sure a statement is. Never a probability: error rates belong to rules, not to runs."""

    CERTAIN = "certain"
    """True by arithmetic or structure: NaN, learning rate 0, every completion truncated."""
    STRONG = "strong"
    """A calibrated rule, a material effect, and at least one other signal that agrees."""
    MODERATE = "moderate"
    """One calibrated rule with a material effect."""
    PATTERN = "pattern"
    """Too few points for statistics; the shape fits."""
    CANNOT_TELL = "cannot-tell"
    """A signal or points that are needed are missing."""

    @property
    def rank(self) -> int:
        """0 for the surest."""
        return list(Confidence).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One signal's part in a finding.

    Attributes:
        metric: The metric's name as the user's log writes it.
        key: Canonical key.
        steps: Steps the quoted values belong to, in order.
        values: Values at those steps, as the log has them. Every one is a value of the log.
        unit: Unit of the values.
        says: The fact in words, with its numbers.
    """

    metric: str
    key: str
    steps: tuple[float, ...]
    values: tuple[float, ...]
    unit: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another explanation that the log alone cannot rule out, and the check that would.

    Attributes:
        says: What else it could be.
        check: What to look at to tell the two apart.
    """

    says: str
    check: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something a reader of the log should know: an episode, with a beginning and perhaps an end.

    Attributes:
        detector: Name of the detector, ``kl-runaway``.
        code: Its stable code, ``HLT201``.
        severity: How much the run is at stake.
        confidence: How sure the statement is.
        title: The statement in one line, naming the metric as the log names it.
        first_step: Best estimate of the step where it began.
        last_step: Last step that shows it.
        onset: Interval in which it began, ``(earliest, latest)``.
        raised_step: Step at which a live monitor would have said it; needs no later row.
        active: Whether it still holds at the end of the log.
        evidence: The numbers it rests on; never empty.
        advice: What to try, most likely to help first.
        alternatives: What else it could be.
        against: Signals that speak against it, in words.
        caused_by: Name of the detector whose finding explains this one, set by the diagnosis.
    """

    detector: str
    code: str
    severity: Severity
    confidence: Confidence
    title: str
    first_step: float
    last_step: float
    onset: tuple[float, float]
    raised_step: float
    active: bool
    evidence: tuple[Evidence, ...]
    advice: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    against: tuple[str, ...] = ()
    caused_by: str | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics it rests on, as the log writes them, each once."""
        return tuple(dict.fromkeys(e.metric for e in self.evidence))

    def __str__(self) -> str:
        """One line that a terminal, a log and a case file can all hold."""
        where = f"step {step_text(self.first_step)}" + (
            f"-{step_text(self.last_step)}" if self.last_step != self.first_step else ""
        )
        state = "" if self.active else " (over)"
        return f"{self.code} {self.detector} {self.severity} {self.confidence} {where}{state}: {self.title}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked:
    """A detector that could not look, and why. Silence is not health.

    Attributes:
        detector: Name of the detector.
        code: Its stable code.
        missing: Concepts or keys that the log would need.
        why: One sentence: what is missing and what to log to enable the check.
        failed: Whether the detector broke off with an error of its own; nothing is missing then.
    """

    detector: str
    code: str
    missing: tuple[str, ...] = field(default=())
    why: str
    failed: bool = False

    def __str__(self) -> str:
        return f"{self.code} {self.detector} unchecked: {self.why}"


def step_text(step: float) -> str:
    """A step as people write it: ``3000``, ``0.25``."""
    return str(int(step)) if float(step).is_integer() else f"{step:g}"
