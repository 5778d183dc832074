"""One verdict for the whole run, with honest words for how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holter.detectors.registry import all_detectors
from holter.findings.finding import Confidence, Finding, Severity, Unchecked, step_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.findings.diagnosis.story import Story
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


def verdict(run: Run, told: Sequence[Story], unchecked: Sequence[Unchecked]) -> Verdict:
    """The verdict over all stories of a run, the gravest first."""
    hot = [s for s in told if s.severity >= Severity.WARNING]
    if not hot:
        return _quiet(run, [f for s in told for f in s.members], unchecked)
    lead = hot[0]
    members = [f for f in lead.members if f.severity >= Severity.WARNING]
    beside = [s for s in hot[1:] if s.active and lead.active]
    sure = lead.worst.confidence
    if sure is Confidence.PATTERN and len({sign(f) for f in members}) >= 2:
        sure = Confidence.MODERATE
    state = "" if lead.active else f", over since step {step_text(lead.last_step)}"
    title = f"From step {step_text(lead.first_step)}: {lead.clause} ({WORDS[sure]}{state})"
    return Verdict(str(lead.severity), sure, title, " ".join(_text(run, lead, members, beside, hot)))


def sign(f: Finding) -> str:
    """The vital sign a finding is about, by the hundred of its code."""
    return f.code[:4]


def _text(
    run: Run, lead: Story, members: Sequence[Finding], beside: Sequence[Story], hot: Sequence[Story]
) -> list[str]:
    said = [f"{_capital(members[0].title)}."]
    first = members[0].metrics[0]
    others = list(dict.fromkeys(f.title for f in members[1:] if f.metrics[0] != first))
    if others:
        said.append(f"With it: {'; '.join(others[:3])}.")
    if beside:
        said.append(f"Besides: {'; '.join(s.clause for s in beside[:3])}.")
    everything = sorted(
        (f for s in hot for f in s.members if f.severity >= Severity.WARNING), key=lambda f: (f.first_step, f.code)
    )
    if len({f.first_step for f in everything}) > 1:
        said.append(f"First to move: {everything[0].metrics[0]}, at step {step_text(everything[0].first_step)}.")
    if len(run) < FEW_ROWS and not any(f.confidence is Confidence.CERTAIN for f in members):
        said.append(f"{len(run)} logged rows carry only so much: shapes can be read, error rates cannot.")
    said += [f"Against it: {a}." for f in lead.members for a in f.against]
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
