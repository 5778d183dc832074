"""What terminal, page and Markdown say in the same words, in the language spoken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.findings.diagnosis.phases import span_text
from holter.language import Said, phrase, said, told

if TYPE_CHECKING:
    from holter.findings.finding import Finding
    from holter.readers.base import Skipped
    from holter.runs.run import Run

STATUSES = {s: s for s in ("healthy", "info", "warning", "critical")} | {"cannot-tell": "cannot tell"}
"""How a verdict or a severity is called in a sentence."""
HEADS = {s: s.upper() for s in STATUSES}
"""How it stands alone."""


def extent(run: Run) -> Said:
    """How many rows a run has, over which steps."""
    rows = said("1 row") if len(run) == 1 else said("{n} rows", n=len(run))
    if not len(run):
        return rows
    return said("{rows}, {steps}", rows=rows, steps=span_text(float(run.steps[0]), float(run.steps[-1])))


def duration(finding: Finding) -> Said:
    """The steps of a finding, and whether it is over."""
    when = span_text(finding.first_step, finding.last_step)
    return when if finding.active else said("{steps}, over", steps=when)


def not_read(skipped: Skipped) -> Said:
    """What was not read: where, and why."""
    where = skipped.file if skipped.line is None else f"{skipped.file}:{skipped.line}"
    return said("{place}: {why}", place=where, why=phrase(skipped.why))


def status_text(status: str) -> str:
    """A status in a sentence."""
    return told(STATUSES[status])


def status_head(status: str) -> str:
    """A status that stands alone."""
    return told(HEADS[status])
