"""An alert: a finding that opened, worsened or was resolved; or something that the training loop itself has to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from holter.findings.finding import Severity, step_text
from holter.language import Said, phrase, said, told
from holter.reports import json as contract

if TYPE_CHECKING:
    from holter.findings.finding import Finding

Kind = Literal["opened", "worsened", "persists", "resolved"]
"""``persists``: it was opened and people did not hear of it, for a reason that is gone: a cool-down, a cause that is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """A finding that changed.

    Attributes:
        kind: ``opened``, ``worsened``, ``persists`` or ``resolved``.
        finding: The finding as it stands now; as it stood last where it is no longer made.
        step: Newest step that had been logged.
        told: Whether people should hear of it; otherwise it is only written down.
        last_good_step: Last step before the trouble that lasts, where there is one.
        run: Name of the run, for people who hear of several.
    """

    kind: Kind
    finding: Finding
    step: float
    told: bool
    last_good_step: float | None = None
    run: str = ""

    @property
    def says(self) -> Said:
        """One line."""
        f = self.finding
        values: dict[str, object] = {
            "detector": f.detector,
            "since": step_text(f.first_step),
            "seen": step_text(self.step),
            "what": phrase(f.title),
        }
        if self.kind == "resolved":
            return said("{detector} is over (since step {since}, seen at {seen}): {what}", **values)
        values["got"] = self._got
        if not f.active:
            return said("{detector} {got} since step {since} (seen at {seen}, already over): {what}.", **values)
        line = said("{detector} {got} since step {since} (seen at {seen}): {what}.", **values)
        if self.last_good_step is None:
            return line
        return said("{line} Last good step: {step}.", line=line, step=step_text(self.last_good_step))

    @property
    def headline(self) -> Said:
        """The least that can be said."""
        f = self.finding
        if self.kind == "resolved":
            return said("{detector} is over", detector=f.detector)
        return said("{detector} is {severity}", detector=f.detector, severity=phrase(str(f.severity)))

    @property
    def _got(self) -> Said:
        severity = phrase(str(self.finding.severity))
        if self.kind == "worsened" and self.finding.severity is Severity.CRITICAL:
            return said("is now critical")
        return said("still {severity}", severity=severity) if self.kind == "persists" else severity

    def __str__(self) -> str:
        """The line for a terminal, a chat or a log, in the language spoken."""
        return told(self.says)

    def record(self) -> dict[str, Any]:
        """The line of ``findings.jsonl``, English in every language.

        The finding as `holter check --format json` writes it, and what became of it.
        """
        good = None if self.last_good_step is None else contract.finite(self.last_good_step)
        return {
            "kind": self.kind,
            "step": contract.finite(self.step),
            "told": self.told,
            "last_good_step": good,
            "finding": contract.finding(self.finding),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """An alert that the training loop raised by itself: `holter.alert`.

    Attributes:
        title: What happened, in a few words.
        text: More of it.
        level: ``INFO``, ``WARN`` or ``ERROR``.
    """

    title: str
    text: str = ""
    level: str = "WARN"

    def __str__(self) -> str:
        """The line for a terminal, a chat or a log, in the words it was raised with."""
        return f"{self.level.lower()}: {self.title}" + (f": {self.text}" if self.text else "")

    def record(self) -> dict[str, Any]:
        """The line of ``findings.jsonl``, but for its step."""
        return {"kind": "alert", "level": self.level.lower(), "title": self.title, "text": self.text}
