"""From what a diagnosis says now to what is new: findings that open, worsen or resolve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from holter.alerts.alert import Alert, Kind
from holter.findings.finding import Severity
from holter.settings import AlertSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holter.findings.finding import Finding


@dataclass(slots=True)
class _Known:
    """A finding that was made before.

    Attributes:
        finding: As it was last made.
        open: Whether it was active.
        worst: Worst severity so far.
        told: Whether people heard of it.
    """

    finding: Finding
    open: bool
    worst: Severity
    told: bool


_USUAL = AlertSettings()
_FLOOR = Severity[_USUAL.floor.upper()]


class Ledger:
    """Remembers what was said, so that each change is said once."""

    def __init__(
        self,
        *,
        floor: Severity = _FLOOR,
        cool_down: float = _USUAL.cool_down,
        quiet_rows: int = _USUAL.quiet_rows,
    ) -> None:
        """Begin with nothing said.

        Args:
            floor: Least severity that counts.
            cool_down: Seconds in which people do not hear of a detector again, unless it got worse.
            quiet_rows: Rows at the start in which only critical findings count; milder ones that last are heard after them.
        """
        self._floor, self._cool_down, self._quiet_rows = floor, cool_down, quiet_rows
        self._known: list[_Known] = []
        self._heard: dict[str, tuple[float, Severity]] = {}

    @classmethod
    def of(cls, settings: AlertSettings) -> Self:
        """A new one, as strict as the settings say."""
        return cls(floor=Severity[settings.floor.upper()], cool_down=settings.cool_down, quiet_rows=settings.quiet_rows)

    @property
    def open(self) -> list[Finding]:
        """Findings that were active when last made, as they were then."""
        return [k.finding for k in self._known if k.open]

    def update(
        self,
        findings: Sequence[Finding],
        *,
        rows: int,
        step: float,
        now: float,
        silent: bool = False,
        last_good_step: float | None = None,
        run: str = "",
    ) -> list[Alert]:
        """What changed since the last time.

        Args:
            findings: All findings of the diagnosis.
            rows: Rows of the run.
            step: Newest step.
            now: Time, seconds; only differences count.
            silent: Take everything as said already: what a resumed run was known to have.
            last_good_step: As the diagnosis has it.
            run: Name of the run, for people who hear of several.
        """
        least = max(self._floor, Severity.CRITICAL) if rows <= self._quiet_rows else self._floor
        roots = {f.detector: f.severity for f in reversed(findings)}
        alerts: list[Alert] = []
        seen: list[_Known] = []
        for finding in findings:
            known = self._match(finding, seen)
            if known is None and finding.severity < least:
                continue
            if known is None:
                known = _Known(finding, open=finding.active, worst=finding.severity, told=False)
                self._known.append(known)
                kind: Kind | None = "opened"
            else:
                kind = self._change(known, finding)
            seen.append(known)
            known.finding = finding
            if silent:
                # Whoever resumes a run or begins to watch one knows what it holds.
                known.told = True
                continue
            if kind == "resolved":
                told, known.told = known.told, False
            elif kind is None and (known.told or not known.open):
                continue
            else:
                told = self._is_news(finding, roots, now)
                known.told = known.told or told
                if kind is None and not told:
                    continue
            alerts.append(
                Alert(
                    kind=kind or "persists",
                    finding=finding,
                    step=step,
                    told=told,
                    last_good_step=last_good_step,
                    run=run,
                )
            )
        alerts += self._gone(seen, step, run, silent=silent)
        return alerts

    def _change(self, known: _Known, finding: Finding) -> Kind | None:
        counts = finding.active and finding.severity >= self._floor
        if known.open and not counts:
            known.open = False
            return "resolved"
        if not known.open and counts:
            known.open = True
            known.worst = max(known.worst, finding.severity)
            return "opened"
        if finding.severity > known.worst:
            known.worst = finding.severity
            return "worsened"
        return None

    def _gone(self, seen: Iterable[_Known], step: float, run: str, *, silent: bool) -> list[Alert]:
        """Findings that are no longer made at all."""
        still = {id(k) for k in seen}
        out = []
        for known in self._known:
            if known.open and id(known) not in still:
                known.open = False
                finding = replace(known.finding, active=False)
                if not silent:
                    out.append(Alert(kind="resolved", finding=finding, step=step, told=known.told, run=run))
                known.told = False
        return out

    def _match(self, finding: Finding, taken: list[_Known]) -> _Known | None:
        """The same finding as it was made before: the same beginning, or, where that was estimated anew, a common stretch."""
        free = [
            k
            for k in self._known
            if k.finding.detector == finding.detector
            and k.finding.metrics[:1] == finding.metrics[:1]
            and not any(k is t for t in taken)
        ]
        for known in free:
            if known.finding.first_step == finding.first_step:
                return known
        for known in free:
            before = known.finding
            if before.first_step <= finding.last_step and finding.first_step <= before.last_step:
                return known
        return None

    def _is_news(self, finding: Finding, roots: dict[str, Severity], now: float) -> bool:
        """Whether people should hear of it: not a consequence of what they hear of anyway, nor twice in a short time."""
        if finding.caused_by is not None and roots.get(finding.caused_by, finding.severity) >= finding.severity:
            return False
        heard = self._heard.get(finding.detector)
        if heard is not None and now - heard[0] < self._cool_down and finding.severity <= heard[1]:
            return False
        self._heard[finding.detector] = (now, finding.severity)
        return True
