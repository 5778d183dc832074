"""When a run should stop by itself."""

from __future__ import annotations

import fnmatch
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holter.detectors.registry import all_detectors
from holter.discovery import unknown_name
from holter.errors import SettingsError
from holter.findings.finding import Finding, Severity, step_text
from holter.language import Said, phrase, said
from holter.reports import json as contract

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holter.findings.diagnosis import Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why a run should stop.

    Attributes:
        finding: The finding that asks for it.
        step: Newest step that had been logged.
        last_good_step: Last step before the trouble; None when there is none.
    """

    finding: Finding
    step: float
    last_good_step: float | None

    @property
    def reason(self) -> Said:
        """One sentence."""
        f = self.finding
        line = said(
            "{detector} ({severity}) since step {step}: {what}.",
            detector=f.detector,
            severity=phrase(str(f.severity)),
            step=step_text(f.first_step),
            what=phrase(f.title),
        )
        if self.last_good_step is None:
            return line
        return said("{line} Last good step: {step}.", line=line, step=step_text(self.last_good_step))

    def record(self) -> dict[str, Any]:
        """The line of ``findings.jsonl``, English in every language."""
        good = None if self.last_good_step is None else contract.finite(self.last_good_step)
        return {
            "kind": "stop",
            "step": contract.finite(self.step),
            "last_good_step": good,
            "reason": self.reason,
            "finding": contract.finding(self.finding),
        }


@dataclass(frozen=True, slots=True)
class StopRule:
    """What stops a run.

    Attributes:
        severity: Any finding of at least this severity that still holds; None for none.
        detectors: Findings of these detectors at warning or above that still hold.
    """

    severity: Severity | None = None
    detectors: frozenset[str] = frozenset()

    @classmethod
    def of(cls, stop_on: str | Iterable[str] | None) -> StopRule:
        """The rule that ``stop_on`` asks for.

        Args:
            stop_on: ``"critical"``, ``"warning"``, names, codes or patterns of detectors (``"kl-*"``), or a list of such.

        Raises:
            UnknownNameError: For a detector that does not exist.
            SettingsError: For a severity that is no reason to stop, or what is no text.
        """
        severity: Severity | None = None
        names: set[str] = set()
        for word in [stop_on] if isinstance(stop_on, str) else list(stop_on or ()):
            if not isinstance(word, str):
                raise SettingsError(
                    said("stop_on takes severities and names of detectors, not {what}", what=repr(word))
                )
            if word == "info":
                raise SettingsError(said("stop_on: an info is never a reason to stop; 'warning' and 'critical' are"))
            if word in ("warning", "critical"):
                asked = Severity[word.upper()]
                severity = asked if severity is None else min(severity, asked)
                continue
            known = all_detectors()
            hits = {n for n, d in known.items() if fnmatch.fnmatchcase(n, word) or d.code == word}
            if not hits:
                raise unknown_name("detector", word, ["critical", "warning", *known])
            names |= hits
        return cls(severity, frozenset(names))

    def __bool__(self) -> bool:
        return self.severity is not None or bool(self.detectors)

    def applied(self, diagnosis: Diagnosis, *, after: float = -math.inf) -> Stop | None:
        """Whether the run should stop by what was found, and why: the first finding in the order of the diagnosis.

        Args:
            diagnosis: What was found.
            after: Findings that could have been raised up to this step are no reason: whoever resumed a run knew of them.
        """
        for finding in diagnosis.findings:
            if finding.active and finding.raised_step > after and self._matches(finding):
                return Stop(
                    finding=finding,
                    step=float(diagnosis.run.steps[-1]),
                    last_good_step=diagnosis.last_good_step,
                )
        return None

    def _matches(self, finding: Finding) -> bool:
        if self.severity is not None and finding.severity >= self.severity:
            return True
        return finding.detector in self.detectors and finding.severity >= Severity.WARNING
