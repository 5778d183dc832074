"""One verdict for the whole run, with honest words for how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holter.detectors.registry import all_detectors
from holter.findings.finding import Confidence, Finding, Severity, Unchecked, step_text
from holter.language import Said, listed, phrase, said

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


def verdict(run: Run, stories: Sequence[Story], unchecked: Sequence[Unchecked]) -> Verdict:
    """The verdict over all stories of a run, the gravest first."""
    hot = [s for s in stories if s.severity >= Severity.WARNING]
    if not hot:
        return _quiet(run, [f for s in stories for f in s.members], unchecked)
    lead = hot[0]
    members = [f for f in lead.members if f.severity >= Severity.WARNING]
    beside = [s for s in hot[1:] if s.active and lead.active]
    sure = lead.confidence
    if sure is Confidence.PATTERN and len({sign(f) for f in members}) >= 2:
        sure = Confidence.MODERATE
    told = {"step": step_text(lead.first_step), "clause": lead.clause, "sure": phrase(WORDS[sure])}
    if lead.active:
        title = said("From step {step}: {clause} ({sure})", **told)
    elif lead.first_step == lead.last_step:
        title = said("At step {step}: {clause} ({sure}, over)", **told)
    else:
        last = step_text(lead.last_step)
        title = said("From step {step}: {clause} ({sure}, over since step {last})", **told, last=last)
    sentences = [*_text(run, lead, members, beside, hot), *_failed(unchecked)]
    return Verdict(str(lead.severity), sure, title, _sentences(sentences))


def sign(f: Finding) -> str:
    """The vital sign a finding is about, by the hundred of its code."""
    return f.code[:4]


def _text(
    run: Run, lead: Story, members: Sequence[Finding], beside: Sequence[Story], hot: Sequence[Story]
) -> list[Said]:
    sentences = [_capital(members[0])]
    first = members[0].metrics[0]
    others = list(dict.fromkeys(phrase(f.title) for f in members[1:] if f.metrics[0] != first))
    if others:
        sentences.append(said("With it: {titles}", titles=listed(others[:3], "; ")))
    if beside:
        sentences.append(said("Besides: {clauses}", clauses=listed([s.clause for s in beside[:3]], "; ")))
    everything = sorted(
        (f for s in hot for f in s.members if f.severity >= Severity.WARNING), key=lambda f: (f.first_step, f.code)
    )
    if len({f.first_step for f in everything}) > 1:
        step = step_text(everything[0].first_step)
        sentences.append(said("First to move: {metric}, at step {step}", metric=everything[0].metrics[0], step=step))
    if len(run) < FEW_ROWS and not any(f.confidence is Confidence.CERTAIN for f in members):
        sentences.append(
            said("1 logged row carries only so much: a value can be read, its course cannot")
            if len(run) == 1
            else said("{n} logged rows carry only so much: shapes can be read, error rates cannot", n=len(run))
        )
    sentences += [said("Against it: {what}", what=phrase(a)) for f in lead.members for a in f.against]
    return sentences


def _failed(unchecked: Sequence[Unchecked]) -> list[Said]:
    """That detectors broke off: what they look for may be there unseen."""
    names = list(dict.fromkeys(u.detector for u in unchecked if u.failed))
    if not names:
        return []
    return [said("Not looked for, because the detector broke off with an error: {names}", names=listed(names))]


def _sentences(sentences: Sequence[Said]) -> Said:
    """Sentences one after the other, each with its full stop."""
    return said("{sentences}.", sentences=listed(sentences, ". "))


def _capital(finding: Finding) -> Said:
    """What was found, with a capital, unless it begins with a metric's name, which is written as the log writes it."""
    sentence = phrase(finding.title)
    if sentence.startswith(tuple(f"{metric} " for metric in finding.metrics)):
        return sentence
    return sentence.in_english(sentence[:1].upper() + sentence[1:])


def _quiet(run: Run, findings: Sequence[Finding], unchecked: Sequence[Unchecked]) -> Verdict:
    """The verdict when nothing is at warning or above: healthy, as far as it was checked."""
    total = len(all_detectors())
    looked = total - len({u.detector for u in unchecked})
    vital = [
        c for c in ("reward", "ref_kl", "entropy", "policy_loss", "total_loss", "grad_norm", "value_loss") if run.get(c)
    ]
    counted = said("{looked} of {total} detectors had what they need", looked=looked, total=total)
    if len(run) < LEAST_ROWS or not vital:
        if vital:
            why = said("1 logged row") if len(run) == 1 else said("{n} logged rows", n=len(run))
        else:
            why = said("none of the metrics that training health shows in")
        return Verdict(
            "cannot-tell",
            Confidence.CANNOT_TELL,
            said("Cannot tell: {why}", why=why),
            _sentences(
                [
                    said("Nothing alarming was found, but {counted}; that says little about the run", counted=counted),
                    *_failed(unchecked),
                ]
            ),
        )
    sure = Confidence.MODERATE if len(run) >= FEW_ROWS else Confidence.PATTERN
    sentences = [said("Nothing at warning or above in {n} rows; {counted}", n=len(run), counted=counted)]
    if len(run) < FEW_ROWS:
        sentences.append(said("With so few rows only gross faults and shapes can be seen"))
    if any(u.detector == "reward-hacking" for u in unchecked):
        sentences.append(said("Over-optimisation of the reward cannot be excluded: the log has no held-out score"))
    sentences += _failed(unchecked)
    status = "info" if any(sign(f) not in REMARKS for f in findings) else "healthy"
    return Verdict(status, sure, said("Healthy, as far as this log shows"), _sentences(sentences))
