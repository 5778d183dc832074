"""One run in a line of the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holter.compare.settings_apart import as_text, settings_of
from holter.findings.finding import Severity
from holter.reports.html.columns import column
from holter.reports.html.thinning import thinned
from holter.reports.json import finite

if TYPE_CHECKING:
    from holter.dashboard.entry import Entry
    from holter.runs.run import Run, Series

SPARK = 40
"""Values of the small curve beside a run's name."""
SHOWN_FIRST = ("reward", "eval_score", "ref_kl", "total_loss")
"""Concepts of the small curve, the first that is there."""


def summary(entry: Entry) -> dict[str, Any]:
    """What the list shows, and what it can be filtered by; without rows, settings and curve where the run was not read yet."""
    run, diagnosis = entry.run, entry.diagnosis
    grave = [] if diagnosis is None else [f for f in diagnosis.findings if f.severity >= Severity.WARNING]
    series = None if run is None else _shown(run)
    kept = None if series is None else thinned(series.values, SPARK)
    return {
        "id": entry.id,
        "name": entry.name,
        "version": entry.version,
        "state": str(entry.state),
        "age": entry.pulse.age,
        "gap": entry.pulse.gap,
        "why": entry.pulse.why,
        "progress": entry.progress,
        "rows": None if run is None else len(run),
        "last_step": None if entry.last_step is None else finite(entry.last_step),
        "dialect": "" if run is None else run.dialect,
        "status": None if diagnosis is None else diagnosis.verdict.status,
        "title": "" if diagnosis is None else diagnosis.verdict.title,
        "findings": sorted({f.detector for f in grave if f.active}),
        "config": {} if run is None else {name: as_text(value) for name, value in settings_of(run).items()},
        "curve": None
        if series is None or kept is None
        else {"metric": series.metric, "steps": column(series.steps[kept]), "values": column(series.values[kept])},
    }


def _shown(run: Run) -> Series | None:
    return next((s for concept in SHOWN_FIRST if (s := run.get(concept)) is not None), None)
