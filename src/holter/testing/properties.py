"""What must hold of a detector whatever the run.

Each property is a function of a detector and a run that returns complaints: none when it holds.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.registry import run_detectors
from holter.findings.finding import Confidence, Evidence, Finding, Severity
from holter.runs.run import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holter.detectors.base import Detector
    from holter.runs.run import Run


def said(cls: type[Detector], run: Run) -> list[Finding]:
    """The findings of a detector with its default limits."""
    return [f for f in run_detectors(run, [cls()]) if isinstance(f, Finding)]


def complaints(found: Finding, run: Run) -> list[str]:
    """What is wrong with a finding, whatever it says.

    Its steps are steps of the run, in order; it rests on evidence that quotes the log; a critical one is certain or rests on
    two metrics; no text holds a control character.
    """
    wrong = []
    steps = set(run.steps.tolist())
    told = [found.first_step, found.last_step, found.raised_step, *found.onset]
    if not steps.issuperset(told):
        wrong.append(f"steps {told} outside the run")
    if not (found.onset[0] <= found.first_step <= found.onset[1]):
        wrong.append(f"first step {found.first_step} outside its onset {found.onset}")
    if not found.first_step <= found.raised_step or not found.first_step <= found.last_step:
        wrong.append(f"first {found.first_step}, raised {found.raised_step}, last {found.last_step}")
    if not found.evidence:
        wrong.append("no evidence")
    wrong += [f"does not quote the log: {e}" for e in found.evidence if not _quotes(e, run)]
    texts = [found.title, *found.advice, *found.against, *(e.says for e in found.evidence)]
    wrong += [f"control character in {t!r}" for t in texts if any(unicodedata.category(c) == "Cc" for c in t)]
    if found.severity is Severity.CRITICAL:
        two = len({e.metric for e in found.evidence}) >= 2
        if found.confidence is Confidence.CANNOT_TELL or not (two or found.confidence is Confidence.CERTAIN):
            wrong.append(f"critical on {found.confidence} and {len(found.evidence)} evidence")
    return [f"{found.detector}: {w}" for w in wrong]


def shows_what_it_says(cls: type[Detector], run: Run) -> list[str]:
    """It does not crash, and there is nothing to complain about what it finds."""
    return [c for f in said(cls, run) for c in complaints(f, run)]


def agrees_live(cls: type[Detector], run: Run, steps: Iterable[float] | None = None) -> list[str]:
    """A warning given while the run went on is still told once it has ended, perhaps as one that is over.

    An info may be withdrawn: it explains the log as it stands, and later rows can show more of it.

    Args:
        cls: The detector.
        run: The whole run.
        steps: Where to look at the run as it stood then. Default: after every row.
    """
    afterwards = {f.first_step for f in said(cls, run)}
    wrong = []
    for step in run.steps.tolist() if steps is None else steps:
        live = {f.first_step for f in said(cls, run.until(step)) if f.severity >= Severity.WARNING}
        if not live <= afterwards:
            wrong.append(f"{cls.name}: warned of steps {sorted(live - afterwards)} at step {step}, and not afterwards")
    return wrong


def warns_since_it_says(cls: type[Detector], run: Run) -> list[str]:
    """A warning was one, and of the same beginning, when the row was the last at which it claims to have been raised.

    What came later can make it graver, not earlier: the time from a trouble to its warning is counted by that row.
    """
    wrong = []
    for found in said(cls, run):
        if found.severity < Severity.WARNING:
            continue
        then = said(cls, run.until(found.raised_step))
        if not any(f.severity >= Severity.WARNING and f.first_step == found.first_step for f in then):
            wrong.append(
                f"{cls.name}: claims to have warned of step {found.first_step} at step {found.raised_step}, and said "
                f"{[(str(f.severity), f.first_step) for f in then]} then"
            )
    return wrong


def scales_with_steps(cls: type[Detector], run: Run) -> list[str]:
    """Counting steps in another unit changes nothing but the steps it names."""
    series = {k: dataclasses.replace(s, steps=s.steps * 3) for k, s in run.series.items()}
    scaled = dataclasses.replace(run, steps=run.steps * 3, series=series)
    before, after = _told(said(cls, run), 3), _told(said(cls, scaled), 1)
    return [] if before == after else [f"{cls.name}: steps times three turn {before} into {after}"]


def ignores_strangers(cls: type[Detector], run: Run) -> list[str]:
    """Neither the order of the columns nor a column that nobody knows changes anything."""
    stranger = Unknown("my/own", np.arange(len(run)), np.full(len(run), 31.0))
    other = dataclasses.replace(run, series=dict(reversed(list(run.series.items()))), unknown={"my/own": stranger})
    before, after = repr(said(cls, run)), repr(said(cls, other))
    return [] if before == after else [f"{cls.name}: another order and a strange column turn {before} into {after}"]


def leaves_the_run_alone(cls: type[Detector], run: Run) -> list[str]:
    """It changes no value of the run, and says the same when asked again."""
    held = {k: (s.at.copy(), s.steps.copy(), s.values.copy()) for k, s in run.series.items()}
    first, second = repr(said(cls, run)), repr(said(cls, run))
    wrong = [
        f"{cls.name}: changed {key}"
        for key, arrays in held.items()
        for a, b in zip(arrays, (run[key].at, run[key].steps, run[key].values), strict=True)
        if a.tobytes() != b.tobytes()
    ]
    return wrong if first == second else [*wrong, f"{cls.name}: said {first} and then {second}"]


PROPERTIES = (
    shows_what_it_says,
    agrees_live,
    warns_since_it_says,
    scales_with_steps,
    ignores_strangers,
    leaves_the_run_alone,
)
"""All of them."""


def _quotes(evidence: Evidence, run: Run) -> bool:
    """Whether some series of that name holds every quoted value at its step, to the last bit."""
    for series in run.series.values():
        if series.metric == evidence.metric:
            held = dict(zip(series.steps.tolist(), series.values.tolist(), strict=True))
            pairs = zip(evidence.steps, evidence.values, strict=True)
            if all(s in held and (held[s] == v or (v != v and held[s] != held[s])) for s, v in pairs):
                return True
    return False


def _told(findings: list[Finding], factor: float) -> list[tuple[object, ...]]:
    return [
        (f.severity, f.confidence, f.active, f.first_step * factor, f.last_step * factor, f.raised_step * factor)
        for f in findings
    ]
