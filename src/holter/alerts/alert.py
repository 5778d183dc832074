"""An alert: a finding that opened, worsened or was resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from holter.findings.finding import Severity, step_text
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

    def __str__(self) -> str:
        """One line for a terminal, a chat or a log."""
        f = self.finding
        if self.kind == "resolved":
            return f"{f.detector} is over (since step {step_text(f.first_step)}, seen at {step_text(self.step)}): {f.title}"
        still = "still " if self.kind == "persists" else ""
        got = (
            "is now critical" if self.kind == "worsened" and f.severity is Severity.CRITICAL else f"{still}{f.severity}"
        )
        over = "" if f.active else ", already over"
        good = (
            f" Last good step: {step_text(self.last_good_step)}."
            if self.last_good_step is not None and f.active
            else ""
        )
        return f"{f.detector} {got} since step {step_text(f.first_step)} (seen at {step_text(self.step)}{over}): {f.title}.{good}"

    def record(self) -> dict[str, Any]:
        """The line of ``findings.jsonl``: the finding as `holter check --format json` writes it, and what became of it."""
        good = None if self.last_good_step is None else contract.finite(self.last_good_step)
        return {
            "kind": self.kind,
            "step": contract.finite(self.step),
            "told": self.told,
            "last_good_step": good,
            "finding": contract.finding(self.finding),
        }
