"""What is said of a run that was read and not judged: that, and nothing about its health."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.findings.diagnosis import Diagnosis, Verdict
from holter.findings.finding import Confidence
from holter.language import said

if TYPE_CHECKING:
    from holter.language import Said
    from holter.runs.run import Run

UNJUDGED = "unjudged"
"""What stands in place of a verdict's status before there is one; a page of the dashboard knows it, no other."""


def unjudged(run: Run, why: Said | None = None) -> Diagnosis:
    """The diagnosis of a run that the detectors could not look at, for a reason, or did not yet."""
    status = "cannot-tell"
    if why is None:
        status = UNJUDGED
        title = said("Not judged yet")
        then = said("The curves are there; the detectors are still at work on them, and the verdict follows by itself.")
    else:
        title = said("Not judged: {why}", why=why)
        then = said("The curves are there; the detectors look at them again when the run grows.")
    return Diagnosis(
        run=run,
        verdict=Verdict(status, Confidence.CANNOT_TELL, title, then),
        phases=(),
        findings=(),
        stories=(),
        unchecked=(),
        ignored={},
        advice=(),
        last_good_step=None,
    )
