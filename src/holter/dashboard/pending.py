"""What is said of a run that was read and not judged: that, and nothing about its health."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.findings.diagnosis import Diagnosis, Verdict
from holter.findings.finding import Confidence
from holter.language import said

if TYPE_CHECKING:
    from holter.runs.run import Run


def unjudged(run: Run, why: str = "") -> Diagnosis:
    """The diagnosis of a run that the detectors did not look at for a reason, or not yet."""
    yet = said("The curves are there; the detectors are still at work on them, and the verdict follows by itself.")
    return Diagnosis(
        run=run,
        verdict=Verdict("cannot-tell", Confidence.CANNOT_TELL, said("Not judged yet"), why or yet),
        phases=(),
        findings=(),
        stories=(),
        unchecked=(),
        ignored={},
        advice=(),
        last_good_step=None,
    )
