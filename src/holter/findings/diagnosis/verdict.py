"""One verdict for the whole run, with honest words for how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holter.detectors.registry import all_detectors
from holter.findings.diagnosis.phases import plain
from holter.findings.finding import Confidence, Finding, Severity, Unchecked, step_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.runs.run import Run

WORDS = {
    Confidence.CERTAIN: "certain",
    Confidence.STRONG: "very likely",
    Confidence.MODERATE: "likely, not certain",
    Confidence.PATTERN: "the pattern fits, the evidence is thin",
    Confidence.CANNOT_TELL: "cannot tell",
}
REMARKS = ("HLT9",)
"""Vital sign of findings about the log and of benign patterns explained: they leave a healthy run healthy."""
FEW_ROWS = 20
"""Below this, statistics cannot speak and the verdict says so."""
LEAST_ROWS = 3
"""Below this, silence of the detectors says nothing at all."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the run comes to.

    Attributes:
        status: ``healthy``, ``info``, ``warning``, ``critical`` or ``cannot-tell``.
        confidence: How sure.
        title: One line.
        text: A few sentences: what leads to it, what it rests on, what it cannot know.
    """

    status: str
    confidence: Confidence
    title: str
    text: str


def verdict(run: Run, findings: Sequence[Finding], unchecked: Sequence[Unchecked]) -> Verdict:
    """The verdict over all findings of a run; `caused_by` must be filled in."""
    hot = [f for f in findings if f.severity >= Severity.WARNING]
    if not hot:
        return _quiet(run, findings, unchecked)
    lead = min(hot, key=_rank)
    together = [f for f in hot if f is not lead and _belongs(f, lead)]
    agreeing = {sign(f) for f in (lead, *together)}
    sure = lead.confidence
    if sure is Confidence.PATTERN and len(agreeing) >= 2:
        sure = Confidence.MODERATE
    status = str(max(f.severity for f in (lead, *together)) if lead.active else lead.severity)
    beginning = min(f.first_step for f in (lead, *together))
    clauses = list(dict.fromkeys(plain(f) for f in (lead, *sorted(together, key=_rank)[:1])))
    state = "" if lead.active else f" (over since step {step_text(lead.last_step)})"
    title = f"From step {step_text(beginning)}: {' and '.join(clauses)}{state} ({WORDS[sure]})"
    return Verdict(status, sure, title, " ".join(_story(run, lead, together, hot)))


def _rank(f: Finding) -> tuple[bool, int, bool, int, float, str]:
    """Active before over, severe before mild, causes before consequences, sure before unsure, early before late."""
    return (not f.active, -f.severity, f.caused_by is not None, f.confidence.rank, f.first_step, f.code)


def _belongs(f: Finding, lead: Finding) -> bool:
    """Whether a finding tells the same story: cause or consequence of the lead, or overlapping it while it lasts."""
    related = (
        f.caused_by == lead.detector or lead.caused_by == f.detector or (f.caused_by or 0) == (lead.caused_by or 1)
    )
    return related or (f.active and lead.active)


def sign(f: Finding) -> str:
    """The vital sign a finding is about, by the hundred of its code."""
    return f.code[:4]


def _story(run: Run, lead: Finding, together: Sequence[Finding], hot: Sequence[Finding]) -> list[str]:
    said = [f"{_capital(lead.title)}."]
    supporting = [f.title for f in sorted(together, key=_rank)]
    if supporting:
        said.append(f"At the same time: {'; '.join(supporting[:4])}.")
    first = min(hot, key=lambda f: (f.first_step, f.code))
    if len(hot) > 1:
        said.append(f"First to move: {first.metrics[0]} at step {step_text(first.first_step)}.")
    if len(run) < FEW_ROWS:
        said.append(f"{len(run)} logged rows carry only so much: shapes can be read, error rates cannot.")
    said += [f"Against it: {a}." for f in (lead, *together) for a in f.against]
    return said


def _capital(text: str) -> str:
    """The sentence with a capital, unless it begins with a metric's name, which is written as the log writes it."""
    head = text.split(" ", 1)[0]
    return text if "/" in head or "_" in head else text[:1].upper() + text[1:]


def _quiet(run: Run, findings: Sequence[Finding], unchecked: Sequence[Unchecked]) -> Verdict:
    """The verdict when nothing is at warning or above: healthy, as far as it was checked."""
    total = len(all_detectors())
    looked = total - len({u.detector for u in unchecked})
    vital = [
        c for c in ("reward", "ref_kl", "entropy", "policy_loss", "total_loss", "grad_norm", "value_loss") if run.get(c)
    ]
    counted = f"{looked} of {total} detectors had what they need"
    if len(run) < LEAST_ROWS or not vital:
        why = (
            f"{len(run)} logged row{'s' * (len(run) != 1)}"
            if vital
            else "none of the metrics that training health shows in"
        )
        return Verdict(
            "cannot-tell",
            Confidence.CANNOT_TELL,
            f"Cannot tell: {why}",
            f"Nothing alarming was found, but {counted}; that says little about the run.",
        )
    sure = Confidence.MODERATE if len(run) >= FEW_ROWS else Confidence.PATTERN
    text = f"Nothing at warning or above in {len(run)} rows; {counted}."
    if len(run) < FEW_ROWS:
        text += " With so few rows only gross faults and shapes can be seen."
    if any(u.detector == "reward-hacking" for u in unchecked):
        text += " Over-optimisation of the reward cannot be excluded: the log has no held-out score."
    status = "info" if any(sign(f) not in REMARKS for f in findings) else "healthy"
    return Verdict(status, sure, "Healthy, as far as this log shows", text)
