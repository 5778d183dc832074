"""The diagnosis: findings joined into one story.

Phases of the run, one root with its consequences, the metric that moved first, what cannot be told apart, ordered advice, the
last good step, and what was not checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.chosen import choose
from holter.detectors.registry import run_detectors
from holter.findings.diagnosis.causes import attribute
from holter.findings.diagnosis.phases import Phase, phases
from holter.findings.diagnosis.story import Story, rank, stories
from holter.findings.diagnosis.verdict import Verdict, verdict
from holter.findings.finding import Finding, Severity, Unchecked, step_text
from holter.language import Said, said
from holter.settings import Settings, settings_of_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holter.runs.run import Run

__all__ = ["Diagnosis", "Phase", "Story", "Verdict", "diagnose", "diagnose_in_place"]

MOST_ADVICE = 8
"""Pieces of advice for a whole run; nobody tries more before looking again."""


FROM_THE_FIRST_ROW = said(
    "No logged row is from before the trouble: mend the cause and start again from the initial model."
)
"""Advice where the trouble is there in the first row, in place of going back to a checkpoint before it."""


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """What can be said of one run.

    Attributes:
        run: The run.
        verdict: What it comes to.
        phases: The run cut into stretches.
        findings: All findings, the most urgent first, each with its cause.
        stories: The same joined: one a root, with its consequences, the gravest first.
        unchecked: Detectors that could not look, and why.
        ignored: Detectors left out by the settings, with the reason.
        advice: What to try, most likely to help first, for the whole run.
        last_good_step: Last step before the trouble that still lasts began, in which nothing else was at warning or above; None
            where there is none.
    """

    run: Run
    verdict: Verdict
    phases: tuple[Phase, ...]
    findings: tuple[Finding, ...]
    stories: tuple[Story, ...]
    unchecked: tuple[Unchecked, ...]
    ignored: Mapping[str, str]
    advice: tuple[str, ...]
    last_good_step: float | None


def diagnose(run: Run, settings: Settings | None = None) -> Diagnosis:
    """Run the detectors that `settings` choose (all, by default) over a run and join what they say."""
    settings = settings or Settings()
    chosen = choose(settings)
    size = {"eval_size": settings.eval_size} if settings.eval_size else {}
    answers = list(run_detectors(replace(run, config={**run.config, **size}), chosen.detectors, strict=False))
    unchecked = tuple(s for s in answers if isinstance(s, Unchecked))
    found = attribute(run, [chosen.judge(s) for s in answers if isinstance(s, Finding)])
    hot = [f for f in found if f.severity >= Severity.WARNING]
    found = [_concrete(run, f, hot) for f in sorted(found, key=lambda f: (-f.severity, *rank(f)))]
    all_stories = stories(found)
    return Diagnosis(
        run=run,
        verdict=verdict(run, all_stories, unchecked),
        phases=tuple(phases(run, all_stories)),
        findings=tuple(found),
        stories=tuple(all_stories),
        unchecked=unchecked,
        ignored=chosen.ignored,
        advice=_advice(all_stories),
        last_good_step=_last_good(run, hot),
    )


def diagnose_in_place(run: Run, settings: Settings) -> Diagnosis:
    """`diagnose` with what a ``holter.toml`` beside the run's log adds to `settings`.

    Raises:
        SettingsError: When that file is broken.
    """
    return diagnose(run, settings_of_run(settings, Path(run.path)))


def _last_good(run: Run, hot: Sequence[Finding]) -> float | None:
    """The step of the row before the trouble that still lasts began, by the best estimate of its beginning."""
    onsets = [f.first_step for f in hot if f.active]
    row = _good_row(run, min(onsets), hot) if onsets else -1
    return float(run.steps[row]) if row >= 0 else None


def _good_row(run: Run, step: float, hot: Sequence[Finding]) -> int:
    """The last row before `step` that lies in none of the findings that are `hot`, those that are over included; -1 for none."""
    row = int(np.searchsorted(run.steps, step, side="left")) - 1
    while row >= 0:
        around = [f.first_step for f in hot if f.first_step <= run.steps[row] <= f.last_step]
        if not around:
            break
        row = int(np.searchsorted(run.steps, min(around), side="left")) - 1
    return row


def _concrete(run: Run, finding: Finding, hot: Sequence[Finding]) -> Finding:
    """The finding with the steps of this run in its advice.

    Where the log has no row before the trouble there is no checkpoint to go back to, and advice that needs one says so instead.
    """
    row = _good_row(run, finding.first_step, hot)
    places = {"onset": said("step {step}", step=step_text(finding.first_step))}
    if row >= 0:
        places["before"] = said("step {step}", step=step_text(float(run.steps[row])))
    filled = [FROM_THE_FIRST_ROW if row < 0 and "{before}" in a else _placed(a, places) for a in finding.advice]
    return replace(finding, advice=tuple(dict.fromkeys(filled)))


def _placed(advice: str, places: Mapping[str, Said]) -> str:
    """A piece of advice with the steps it names by their fields; a field that it names as a value of its own, too."""
    if isinstance(advice, Said):
        fields = {f"{{{name}}}": place for name, place in places.items()}
        return Said(advice.template, {name: fields.get(str(v), v) for name, v in advice.values.items()})
    named = {name: place for name, place in places.items() if f"{{{name}}}" in advice}
    return Said(advice, named) if named else advice


def _advice(all_stories: Sequence[Story]) -> tuple[str, ...]:
    """Advice of the stories that matter, the gravest story first and its root before its consequences, each piece once."""
    hot = [s for s in all_stories if s.severity >= Severity.WARNING]
    pieces: dict[str, str] = {}
    for piece in (a for s in hot for f in s.members if f.severity >= Severity.WARNING for a in f.advice):
        # "Go back to step 49" adds nothing to "Go back to step 5": what is said first is about what began first.
        pieces.setdefault(" ".join(piece.split()[:3]).lower(), piece)
    return tuple(pieces.values())[:MOST_ADVICE]
