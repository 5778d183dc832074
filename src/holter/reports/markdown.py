"""The diagnosis as Markdown for pull requests and issues: GitHub's tables, nothing from the log alive.

Names and texts of a log are escaped so that no markup, mention, link, HTML or emoji code of theirs comes alive.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.detectors.base import number
from holter.findings.diagnosis.phases import span_text
from holter.findings.diagnosis.verdict import WORDS
from holter.findings.finding import Severity, step_text
from holter.language import told
from holter.reports.safe_text import safe
from holter.reports.terminal import MARKS
from holter.reports.words import duration, extent, not_read, status_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holter.findings.diagnosis import Diagnosis, Story
    from holter.findings.finding import Evidence, Finding
    from holter.readers.base import Skipped

QUOTED = 6
"""Values of one piece of evidence that are quoted; the JSON has all."""


def escaped(said: str) -> str:
    """Text as Markdown that shows it and does nothing else; one line."""
    out = re.sub(r"\s+", " ", safe(said.replace("\n", " ").replace("\r", " ").replace("\t", " "))).strip()
    entities = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", ":": "&#58;"}
    # Entities come last: their number sign is no heading's.
    out = re.sub(r"([\\`*_\[\]#|~$])", r"\\\1", out)
    out = re.sub(r"[&<>@]", lambda m: entities[m[0]], out)
    # What begins a list or a heading does so only at the start of a line; an address is made by its colon or its dots.
    out = re.sub(r"^([+-]|\d+[.)])(?=\s|$)", r"\\\1", out)
    out = re.sub(r"(?i)\b(https?|ftp|mailto|xmpp|javascript):", lambda m: f"{m[1]}&#58;", out)
    return re.sub(r"(?i)\bwww\.", "www&#46;", out)


def code(said: str) -> str:
    """Text as a code span; a fence longer than any run of backticks in it, and no end of a table's cell."""
    shown = safe(re.sub(r"\s+", " ", said)).strip() or " "
    fence = "`" * (max((len(m) for m in re.findall(r"`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}".replace("|", "\\|")


def markdown(diagnoses: Sequence[Diagnosis], refused: Sequence[Skipped] = ()) -> str:
    """The report over some runs.

    Args:
        diagnoses: One a run; several get a table of verdicts first.
        refused: What could not be read.
    """
    parts: list[str] = []
    if len(diagnoses) > 1:
        parts += ["# Holter", _overview(diagnoses)]
    for diagnosis in diagnoses:
        parts += _run(diagnosis)
    if refused:
        parts += [f"## {told('Not read')}", bullets(escaped(told(not_read(r))) for r in refused)]
    return "\n\n".join(parts) + "\n"


def _overview(diagnoses: Sequence[Diagnosis]) -> str:
    rows = [
        f"| {code(d.run.name)} | {_status(d.verdict.status)} | {escaped(told(d.verdict.title))} | "
        f"{'–' if d.last_good_step is None else step_text(d.last_good_step)} |"
        for d in diagnoses
    ]
    heads = [told("run"), told("verdict"), told("what was found"), told("last good step")]
    return "\n".join([f"| {' | '.join(heads)} |", "|---|---|---|---:|", *rows])


def _run(diagnosis: Diagnosis) -> Iterator[str]:
    run, verdict = diagnosis.run, diagnosis.verdict
    yield f"# {_pair(_status(verdict.status), escaped(told(verdict.title)))}"
    yield f"{code(run.name)} · {run.dialect} · {told(extent(run))}"
    yield escaped(told(verdict.text))
    if diagnosis.last_good_step is not None:
        yield f"**{told('Last good step: {step}', step=step_text(diagnosis.last_good_step))}**"
    if diagnosis.phases:
        yield f"## {told('Phases')}"
        yield "\n".join(
            [
                f"| {told('steps')} | | {told('what happens')} |",
                "|---|---|---|",
                *(
                    f"| {told(span_text(p.first_step, p.last_step))} | {_status(p.status)} | {escaped(told(p.title))} |"
                    for p in diagnosis.phases
                ),
            ]
        )
    hot = [s for s in diagnosis.stories if s.severity >= Severity.WARNING]
    if hot:
        yield f"## {told('Findings')}"
        for story in hot:
            yield from _story(story)
    shown = {id(f) for s in hot for f in s.members}
    asides = [f for f in diagnosis.findings if f.severity is Severity.INFO and id(f) not in shown]
    if asides:
        yield f"## {told('Worth knowing')}"
        yield bullets(_pair(code(f.detector), escaped(told(f.title))) for f in asides)
    if diagnosis.advice:
        yield f"## {told('What to try, in this order')}"
        yield "\n".join(f"{i}. {escaped(told(a))}" for i, a in enumerate(diagnosis.advice, start=1))
    yield from _unknown(diagnosis)


def _story(story: Story) -> Iterator[str]:
    yield _finding(story.root)
    if story.consequences:
        yield told("Then:")
        yield bullets(
            told(
                "{detector}, from step {step}: {what}",
                detector=f"{_status(str(f.severity))} {code(f.detector)}",
                step=step_text(f.first_step),
                what=escaped(told(f.title)),
            )
            for f in story.consequences
        )


def _finding(finding: Finding) -> str:
    sure = told(WORDS[finding.confidence])
    lines = [
        told(
            "### {status}: {detector}, {steps}",
            status=_status(str(finding.severity)),
            detector=code(finding.detector),
            steps=told(duration(finding)),
        ),
        "",
        told("{what} ({sure}, {code})", what=escaped(told(finding.title)), sure=sure, code=finding.code),
        "",
        *(f"- {_evidence(e)}" for e in finding.evidence),
        *(f"- {told('Against it: {what}', what=escaped(told(a)))}" for a in finding.against),
        *(
            told(
                "- What else it could be: {what}. To tell: {check}",
                what=escaped(told(a.says)),
                check=escaped(told(a.check)),
            )
            for a in finding.alternatives
        ),
    ]
    return "\n".join(lines)


def _evidence(evidence: Evidence) -> str:
    pairs = [f"{step_text(s)}: {number(v)}" for s, v in zip(evidence.steps, evidence.values, strict=True)]
    more = told(", … ({n} values)", n=len(pairs)) if len(pairs) > QUOTED else ""
    quoted = ", ".join(pairs[:QUOTED]) + more
    return _pair(f"{code(evidence.metric)} \\[{told(evidence.unit)}\\] {quoted}", escaped(told(evidence.says)))


def _unknown(diagnosis: Diagnosis) -> Iterator[str]:
    """What was not looked at: folded, never left out."""
    run = diagnosis.run
    lines = [f"- {_pair(code(u.detector), escaped(told(u.why)))}" for u in diagnosis.unchecked]
    lines += [f"- {code(n)} {told('ignored: {reason}', reason=escaped(r))}" for n, r in diagnosis.ignored.items()]
    if run.unknown:
        lines.append(
            "- " + told("Not understood ({n}): {names}", n=len(run.unknown), names=", ".join(map(code, run.unknown)))
        )
    lines += [f"- {escaped(told(n))}" for n in run.notes]
    lines += [f"- {told('Not read: {what}', what=escaped(told(not_read(s))))}" for s in run.skipped]
    if lines:
        summary = told("Not checked ({n}), and notes on the log", n=len(diagnosis.unchecked))
        yield "\n".join([f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"])


def _pair(what: str, says: str) -> str:
    return told("{what}: {says}", what=what, says=says)


def _status(status: str) -> str:
    return f"{MARKS[status]} {status_text(status)}"


def bullets(lines: Iterable[str]) -> str:
    """Lines as a list."""
    return "\n".join(f"- {line}" for line in lines)
