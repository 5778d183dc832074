"""SARIF 2.1.0 for code scanning in CI: a result a finding, at the line of the log where it could first be said.

English in every language: programs compare one upload with the next.

References:
    OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0 (2020).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from holter import __version__
from holter.detectors.registry import all_detectors
from holter.findings.diagnosis.phases import span_text
from holter.findings.diagnosis.verdict import WORDS
from holter.findings.finding import Severity
from holter.language import SOURCE, speaking
from holter.reports import json as contract
from holter.reports.pages import summary
from holter.reports.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.detectors.base import Detector
    from holter.findings.diagnosis import Diagnosis
    from holter.findings.finding import Finding, Unchecked
    from holter.readers.base import Skipped

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.CRITICAL: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def log(diagnoses: Sequence[Diagnosis], refused: Sequence[Skipped] = ()) -> dict[str, Any]:
    """One SARIF run over all training runs, so that one upload holds them.

    Args:
        diagnoses: One a training run.
        refused: What could not be read; it becomes notifications of the tool.
    """
    rules = list(all_detectors().values())
    position = {d.name: i for i, d in enumerate(rules)}
    notes = [_unchecked(d, u) for d in diagnoses for u in d.unchecked] + [_refused(r) for r in refused]
    return {
        "$schema": SCHEMA,
        "version": VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Holter",
                        "semanticVersion": __version__,
                        "version": __version__,
                        "rules": [_rule(d) for d in rules],
                    }
                },
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
                "columnKind": "unicodeCodePoints",
                "results": [_result(d, f, position[f.detector]) for d in diagnoses for f in d.findings],
            }
        ],
    }


def _rule(detector: type[Detector]) -> dict[str, Any]:
    with speaking(SOURCE):
        page = detector.page()
    return {
        "id": detector.code,
        "name": detector.name,
        "shortDescription": {"text": summary(detector)},
        "help": {"text": page, "markdown": page},
    }


def _result(diagnosis: Diagnosis, finding: Finding, rule: int) -> dict[str, Any]:
    run = diagnosis.run
    when = span_text(finding.first_step, finding.last_step)
    said = [f"{run.name}, {when}: {finding.title} ({WORDS[finding.confidence]})."]
    said += [f"Try: {advice}" for advice in finding.advice[:3]]
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity],
        "kind": "fail",
        "message": {"text": safe(" ".join(said))},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": _uri(run.path)}},
                "logicalLocations": [{"name": safe(m), "kind": "metric"} for m in finding.metrics],
            }
        ],
        "partialFingerprints": {"holter/v1": f"{finding.code}:{run.name}:{contract.finite(finding.first_step)}"},
        "properties": {
            "run": run.name,
            "first_step": contract.finite(finding.first_step),
            "last_step": contract.finite(finding.last_step),
            "raised_step": contract.finite(finding.raised_step),
            "active": finding.active,
            "confidence": str(finding.confidence),
            "caused_by": finding.caused_by,
        },
    }


def _unchecked(diagnosis: Diagnosis, unchecked: Unchecked) -> dict[str, Any]:
    return {
        "level": "none",
        "message": {"text": safe(f"{diagnosis.run.name}: {unchecked.detector} could not look: {unchecked.why}")},
        "associatedRule": {"id": unchecked.code},
    }


def _refused(refused: Skipped) -> dict[str, Any]:
    return {"level": "error", "message": {"text": safe(f"not read: {refused}")}}


def _uri(path: str) -> str:
    """A relative path as a relative reference, an absolute one as a file address."""
    where = Path(path)
    return quote(f"file://{where.as_posix()}" if where.is_absolute() else where.as_posix(), safe="/:")
