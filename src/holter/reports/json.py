"""The JSON contract ``holter.check/1``: for CI, scripts and agents. Strict JSON; non-finite numbers are strings.

Sentences in it are English in every language, so that what one program wrote another can compare.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.findings.diagnosis import Diagnosis
    from holter.findings.finding import Evidence, Finding, Unchecked
    from holter.readers.base import Skipped

SCHEMA = "holter.check/1"


def finite(value: float) -> float | int | str:
    """A number that strict JSON can hold: non-finite ones as "NaN", "Infinity", "-Infinity", whole ones as integers."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)


def finding(f: Finding) -> dict[str, Any]:
    """One finding."""
    return {
        "detector": f.detector,
        "code": f.code,
        "severity": str(f.severity),
        "confidence": str(f.confidence),
        "first_step": finite(f.first_step),
        "last_step": finite(f.last_step),
        "onset": [finite(s) for s in f.onset],
        "raised_step": finite(f.raised_step),
        "active": f.active,
        "metrics": list(f.metrics),
        "title": f.title,
        "evidence": [evidence(e) for e in f.evidence],
        "against": list(f.against),
        "advice": list(f.advice),
        "alternatives": [{"says": a.says, "check": a.check} for a in f.alternatives],
        "caused_by": f.caused_by,
    }


def evidence(e: Evidence) -> dict[str, Any]:
    """One signal's part in a finding."""
    return {
        "metric": e.metric,
        "key": e.key,
        "steps": [finite(s) for s in e.steps],
        "values": [finite(v) for v in e.values],
        "unit": e.unit,
        "says": e.says,
    }


def unchecked(u: Unchecked) -> dict[str, Any]:
    """One detector that could not look."""
    return {"detector": u.detector, "code": u.code, "missing": list(u.missing), "why": u.why}


def check(diagnoses: Sequence[Diagnosis], refused: Sequence[Skipped]) -> dict[str, Any]:
    """The whole answer of ``holter check``."""
    return {"schema": SCHEMA, "runs": [_run(d) for d in diagnoses], "refused": [_skipped(r) for r in refused]}


def _run(diagnosis: Diagnosis) -> dict[str, Any]:
    run, verdict = diagnosis.run, diagnosis.verdict
    return {
        "path": run.path,
        "name": run.name,
        "dialect": run.dialect,
        "step_axis": run.step_axis,
        "rows": len(run),
        "first_step": finite(float(run.steps[0])) if len(run) else None,
        "last_step": finite(float(run.steps[-1])) if len(run) else None,
        "verdict": {
            "status": verdict.status,
            "confidence": str(verdict.confidence),
            "title": verdict.title,
            "text": verdict.text,
        },
        "last_good_step": finite(diagnosis.last_good_step) if diagnosis.last_good_step is not None else None,
        "phases": [
            {"first_step": finite(p.first_step), "last_step": finite(p.last_step), "status": p.status, "title": p.title}
            for p in diagnosis.phases
        ],
        "findings": [finding(f) for f in diagnosis.findings],
        "advice": list(diagnosis.advice),
        "unchecked": [unchecked(u) for u in diagnosis.unchecked],
        "ignored": dict(diagnosis.ignored),
        "unknown_keys": list(run.unknown),
        "skipped": [_skipped(s) for s in run.skipped],
        "notes": list(run.notes),
    }


def _skipped(skipped: Skipped) -> dict[str, Any]:
    return {"file": skipped.file, "line": skipped.line, "why": skipped.why}
