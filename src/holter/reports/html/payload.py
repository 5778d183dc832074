"""The payload ``holter.page/1``: everything a page draws, as JSON. The report embeds it, the dashboard sends it.

Texts in it are English; ``texts`` holds the same in the other languages, so that one file speaks them all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from holter.compare.curves import AXES
from holter.detectors.registry import all_detectors
from holter.errors import UnreadableLogError
from holter.findings.diagnosis.verdict import WORDS
from holter.findings.finding import Severity
from holter.language import said
from holter.reports import json as contract
from holter.reports.html.columns import column
from holter.reports.html.healthy_bands import healthy_band
from holter.reports.html.samples import LONGEST, around, folder_of
from holter.reports.html.thinning import MOST, middles, thinned
from holter.reports.html.vital_signs import OTHER, VITAL_SIGNS, strips
from holter.reports.pages import ESTIMATORS, REDUCTIONS, section, sections, summary, unit_words, value_range
from holter.reports.words import not_read
from holter.runs.hyperparameters import flatten
from holter.store.reading import segments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from holter.detectors.base import Detector
    from holter.findings.diagnosis import Diagnosis
    from holter.findings.finding import Finding
    from holter.reports.html.samples import Sample
    from holter.runs.run import Run, Series
    from holter.signals.base import Signal

    Write = Callable[[NDArray[np.float64]], Any]

SCHEMA = "holter.page/1"
MOST_QUOTED = 40
"""Values of one piece of evidence that a page lists."""
RULE = ("When it fires", "When it is wrong", "Limits")
"""Sections of a detector's page that a finding shows."""
MOST_SKIPPED = 50
"""Lines of a log that could not be read that a page names."""
MOST_UNKNOWN = 60
"""Series under names that nobody knows that a page draws; the others are named."""


def payload(diagnoses: Sequence[Diagnosis], *, most: int = MOST, write: Write = column) -> dict[str, Any]:
    """The payload of a page over some runs.

    Args:
        diagnoses: One a run.
        most: Values of one series that are carried, roughly; a longer one is thinned to its extremes.
        write: What stands for a column of numbers.
    """
    signals: dict[str, Any] = {}
    detectors: dict[str, Any] = {}
    runs = []
    for diagnosis in diagnoses:
        runs.append(run_payload(diagnosis, most=most, write=write))
        signals.update(
            {s.signal.key: signal_page(s.signal) for s in diagnosis.run.series.values() if s.concept != "axis"}
        )
        detectors.update(_detectors(diagnosis))
    return {
        "schema": SCHEMA,
        "signs": [{"id": s.id, "title": s.title} for s in VITAL_SIGNS] + [{"id": OTHER, "title": "Everything else"}],
        "runs": runs,
        "signals": signals,
        "detectors": detectors,
    }


def run_payload(diagnosis: Diagnosis, *, most: int = MOST, write: Write = column) -> dict[str, Any]:
    """One run: its head, its curves, what was found, what it was made with."""
    run = diagnosis.run
    axes = Axes(write)
    drawn = strips(run)
    drawn_series = [s for strip in drawn for s in strip.series]
    position = {id(s): i for i, s in enumerate(drawn_series)}
    resumed = run.steps[np.array(run.resumes, dtype=np.int64)] if run.resumes else np.array([])
    return {
        **head(diagnosis),
        "phases": [
            {
                "first_step": contract.finite(p.first_step),
                "last_step": contract.finite(p.last_step),
                "status": p.status,
                "title": p.title,
            }
            for p in diagnosis.phases
        ],
        "findings": [_finding(f) for f in diagnosis.findings],
        "stories": _stories(diagnosis),
        "advice": list(diagnosis.advice),
        "unchecked": [contract.unchecked(u) for u in diagnosis.unchecked],
        "ignored": dict(diagnosis.ignored),
        "notes": [*run.notes, *_first(not_read(s) for s in run.skipped)],
        "resumes": [contract.finite(float(s)) for s in resumed],
        "series": [_column(run, s, axes, most) for s in drawn_series],
        "strips": [{"id": s.id, "sign": s.sign, "series": [position[id(each)] for each in s.series]} for s in drawn],
        "unknown": _unknown(run, axes, most),
        "unknown_names": list(run.unknown),
        "counters": _counters(run, axes, most),
        "axes": axes.columns,
        "samples": [
            {"step": contract.finite(step), "rows": [_sample(s) for s in rows]}
            for step, rows in around(run, (f for f in diagnosis.findings if f.severity >= Severity.WARNING))
        ],
        "config": {str(k): _setting(v) for k, v in flatten(run.config)},
        "made_with": made_with(run),
    }


def head(diagnosis: Diagnosis) -> dict[str, Any]:
    """What a list of runs says of one: its name, its length, its verdict, how far it came."""
    run, verdict = diagnosis.run, diagnosis.verdict
    counts = {str(s): sum(f.severity is s for f in diagnosis.findings) for s in Severity}
    return {
        "name": run.name,
        "path": run.path,
        "dialect": run.dialect,
        "step_axis": run.step_axis,
        "rows": len(run),
        "first_step": contract.finite(float(run.steps[0])) if len(run) else None,
        "last_step": contract.finite(float(run.steps[-1])) if len(run) else None,
        "verdict": {
            "status": verdict.status,
            "confidence": str(verdict.confidence),
            "sure": WORDS[verdict.confidence],
            "title": verdict.title,
            "text": verdict.text,
        },
        "last_good_step": None if diagnosis.last_good_step is None else contract.finite(diagnosis.last_good_step),
        "counts": counts,
    }


def _first(lines: Iterable[str]) -> list[str]:
    """The first lines, and how many more there are."""
    held = list(lines)
    more = len(held) - MOST_SKIPPED
    return [*held[:MOST_SKIPPED], *([said("and {n} more", n=more)] if more > 0 else [])]


def made_with(run: Run) -> dict[str, str]:
    """Versions, machine, code and command of a run, as its folder says; empty where it says nothing that can be read."""
    folder = folder_of(run)
    try:
        found = segments(folder) if folder is not None else []
    except (UnreadableLogError, OSError):
        found = []
    manifest = next((s.manifest for s in reversed(found) if s.manifest is not None), None)
    if manifest is None:
        return {}
    told: dict[str, object] = {
        "algorithm": manifest.algorithm,
        "seed": manifest.seed,
        "command": " ".join(manifest.command),
        "processes": manifest.processes,
        **{f"git {k}": v for k, v in (manifest.git or {}).items()},
        **{f"hardware {k}": v for k, v in manifest.hardware.items()},
        **dict(manifest.packages),
    }
    return {k: str(v) for k, v in told.items() if v not in (None, "")}


@dataclass(slots=True)
class Axes:
    """Columns of steps, each once however many series lie over it, and how columns are written."""

    write: Write = column
    columns: list[Any] = field(default_factory=list)
    known: dict[bytes, int] = field(default_factory=dict)

    def of(self, steps: NDArray[np.float64]) -> int:
        """The position of a column of steps, added where it is new."""
        key = steps.tobytes()
        if key not in self.known:
            self.known[key] = len(self.columns)
            self.columns.append(self.write(steps))
        return self.known[key]


def line(metric: str, steps: NDArray[np.float64], values: NDArray[np.float64], axes: Axes, most: int) -> dict[str, Any]:
    """What is drawn of a series, and what all of its values come to.

    Args:
        metric: Name as the log writes it.
        steps: Where each value lies on the axis. Shape ``(n,)``.
        values: Shape ``(n,)``.
        axes: Where the steps are kept.
        most: Values to carry, roughly; more are thinned to their extremes.
    """
    kept = thinned(values, most)
    at, medians = middles(values, most)
    return {
        "metric": metric,
        "axis": axes.of(steps[kept]),
        "values": axes.write(values[kept]),
        "middle": {"axis": axes.of(steps[at]), "values": axes.write(medians)} if len(at) else None,
        "facts": _facts(steps, values),
    }


def _column(run: Run, series: Series, axes: Axes, most: int) -> dict[str, Any]:
    band = healthy_band(run, series)
    return {
        **line(series.metric, series.steps, series.values, axes, most),
        "key": series.key,
        "signal": series.signal.key,
        "concept": series.concept,
        "unit": str(series.unit),
        "split": str(series.split),
        "label": next(iter(series.labels.values()), ""),
        "band": None if band is None else {"low": _end(band.low), "high": _end(band.high), "rule": band.rule},
    }


def _counters(run: Run, axes: Axes, most: int) -> dict[str, Any]:
    """What is counted along the run besides its steps."""
    counted = ((axis, run.series[key].finite()) for axis, key in AXES.items() if key in run.series)
    return {
        axis: {"axis": axes.of(series.steps[kept]), "values": axes.write(series.values[kept])}
        for axis, series in counted
        if len(series) > 1
        for kept in (thinned(series.values, most),)
    }


def _unknown(run: Run, axes: Axes, most: int) -> list[dict[str, Any]]:
    """Names that no dialect knows: drawn, never interpreted."""
    known = [u for u in run.unknown.values() if len(u.values)][:MOST_UNKNOWN]
    return [line(u.metric, run.steps[u.at], u.values, axes, most) for u in known]


def _facts(steps: NDArray[np.float64], values: NDArray[np.float64]) -> dict[str, Any]:
    """What all values of a series come to; of the thinned ones it could not be told."""
    finite = np.isfinite(values)
    x, at = (values, steps) if finite.all() else (values[finite], steps[finite])
    facts: dict[str, Any] = {
        "n": len(values),
        "nan": int(np.isnan(values).sum()),
        "infinite": int(np.isinf(values).sum()),
        "last": _shown(values[-1]),
        "last_step": contract.finite(float(steps[-1])),
    }
    if len(x):
        low, high = int(x.argmin()), int(x.argmax())
        facts |= {
            "first": _shown(x[0]),
            "median": _shown(np.median(x)),
            "min": _shown(x[low]),
            "min_step": contract.finite(float(at[low])),
            "max": _shown(x[high]),
            "max_step": contract.finite(float(at[high])),
        }
    return facts


def _shown(value: np.floating[Any]) -> Any:  # noqa: ANN401 - a number, or the word for one that JSON lacks
    """A value in the digits of the curve beside it, which is of single precision; counts stay whole."""
    exact = float(value)
    return contract.finite(exact if exact.is_integer() else float(f"{exact:.7g}"))


def _end(value: float) -> float | None:
    return None if math.isinf(value) else value


def _finding(finding: Finding) -> dict[str, Any]:
    told = contract.finding(finding)
    for quoted, evidence in zip(told["evidence"], finding.evidence, strict=True):
        quoted["count"] = len(evidence.values)
        quoted["steps"], quoted["values"] = quoted["steps"][:MOST_QUOTED], quoted["values"][:MOST_QUOTED]
    return {**told, "sure": WORDS[finding.confidence]}


def _stories(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """Stories by the positions of their findings."""
    position = {id(f): i for i, f in enumerate(diagnosis.findings)}
    return [
        {
            "root": position[id(s.root)],
            "consequences": [position[id(f)] for f in s.consequences],
            "severity": str(s.severity),
            "active": s.active,
        }
        for s in diagnosis.stories
    ]


def _sample(sample: Sample) -> dict[str, Any]:
    return {
        "prompt": sample.prompt[:LONGEST],
        "completion": sample.completion[:LONGEST],
        "characters": len(sample.completion),
        "numbers": {k: None if v is None else contract.finite(v) for k, v in sample.numbers.items()},
    }


def _setting(value: object) -> str:
    said = value if isinstance(value, str) else repr(value)
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"


def signal_page(signal: Signal) -> dict[str, Any]:
    """What a tooltip says of a metric: the heart of its page."""
    told: Mapping[str, str] = {
        "what": signal.what,
        "formula": signal.formula,
        "sign": signal.sign,
        "healthy": signal.healthy,
        "differs": signal.differs,
        "range": value_range(signal),
        "estimator": ESTIMATORS[signal.estimator] if signal.estimator is not None else "",
        "reduction": REDUCTIONS[signal.reduction] if signal.reduction is not None else "",
    }
    return {"title": signal.title, "unit": unit_words(signal.unit), **{k: v for k, v in told.items() if v}}


def _detectors(diagnosis: Diagnosis) -> dict[str, Any]:
    """Pages of the detectors that found something, and of each other's first line."""
    known = all_detectors()
    speaking = {f.detector for f in diagnosis.findings}
    silent = {u.detector for u in diagnosis.unchecked} | set(diagnosis.ignored)
    return {n: _detector(known[n], full=n in speaking) for n in sorted(speaking | silent) if n in known}


def _detector(detector: type[Detector], *, full: bool) -> dict[str, Any]:
    told = {"code": detector.code, "summary": summary(detector)}
    return {**told, "rule": _rule(detector)} if full else told


def _rule(detector: type[Detector]) -> list[dict[str, str]]:
    """The sections of a detector's page that say what was applied."""
    return [{"title": title, "text": section(body)} for title, body in sections(detector.page()) if title in RULE]
