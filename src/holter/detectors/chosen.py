"""Which detectors run, with which limits: the settings applied to the registry."""

from __future__ import annotations

import dataclasses
import fnmatch
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holter.detectors.registry import all_detectors
from holter.discovery import unknown_name
from holter.errors import SettingsError, UnknownNameError
from holter.findings.finding import Severity
from holter.language import listed, phrase, said
from holter.settings import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holter.detectors.base import Detector
    from holter.findings.finding import Finding
    from holter.settings import Judgement, Settings


@dataclass(frozen=True, slots=True)
class Chosen:
    """The detectors to run and those left out on purpose.

    Attributes:
        detectors: In the order of their codes, with the limits of the settings.
        ignored: Reason by name of the detectors that the settings leave out; printed with the result.
        judged: Severity by name of the detectors that the settings raise or lower, with the reason.
    """

    detectors: tuple[Detector, ...]
    ignored: Mapping[str, str]
    judged: Mapping[str, Judgement] = field(default_factory=dict)

    def judge(self, finding: Finding) -> Finding:
        """The finding with the severity that the settings give it. Only what still holds is raised."""
        judged = self.judged.get(finding.detector)
        if judged is None:
            return finding
        level = Severity[judged.level.upper()]
        if level == finding.severity or (level > finding.severity and not finding.active):
            return finding
        title = said(
            "{title} [raised from {before} to {after} by the settings: {reason}]"
            if level > finding.severity
            else "{title} [lowered from {before} to {after} by the settings: {reason}]",
            title=phrase(finding.title),
            before=phrase(str(finding.severity)),
            after=phrase(str(level)),
            reason=judged.reason,
        )
        return dataclasses.replace(finding, severity=level, title=title)


def choose(settings: Settings) -> Chosen:
    """The detectors that `settings` ask for.

    Raises:
        UnknownNameError: For a detector that does not exist.
        SettingsError: For a limit that does not exist or a value out of its range.
    """
    source = settings.source if settings.source != DEFAULTS else ""
    selected = matching(settings.select, source) if settings.select else list(all_detectors())
    ignored: dict[str, str] = {}
    for pattern, reason in settings.ignore.items():
        ignored |= dict.fromkeys(matching([pattern], source), reason)
    judged: dict[str, Judgement] = {}
    for pattern, judgement in settings.severity.items():
        judged |= dict.fromkeys(matching([pattern], source), judgement)
    for name in settings.limits:
        if name not in all_detectors():
            raise _unknown(name, source)
    made = [
        _with_limits(all_detectors()[n], settings.limits.get(n, {}), settings.source)
        for n in selected
        if n not in ignored
    ]
    return Chosen(tuple(made), {n: r for n, r in ignored.items() if n in selected}, judged)


def _unknown(name: str, source: str) -> UnknownNameError:
    """That there is no such detector, and in which file it was asked for."""
    error = unknown_name("detector", name, all_detectors())
    return UnknownNameError(f"{source}:", *error.args) if source else error


def matching(patterns: Iterable[str], source: str = "") -> list[str]:
    """Names of the detectors that any of the patterns means, in the order of their codes.

    Args:
        patterns: Names, codes, or patterns such as ``kl-*``.
        source: File they were read from; empty where they were typed.

    Raises:
        UnknownNameError: For a pattern that no detector matches.
    """
    wanted: set[str] = set()
    for pattern in patterns:
        hits = {n for n, d in all_detectors().items() if fnmatch.fnmatchcase(n, pattern) or d.code == pattern}
        if not hits:
            raise _unknown(pattern, source)
        wanted |= hits
    return [n for n in all_detectors() if n in wanted]


def _with_limits(cls: type[Detector], limits: Mapping[str, float], source: str) -> Detector:
    fields = {f.name: f for f in dataclasses.fields(cls)}
    values: dict[str, float] = {}
    for name, value in limits.items():
        field = fields.get(name)
        if field is None:
            why = said(
                "{detector} has no limit {name!r}; it has {names}.",
                detector=cls.name,
                name=name,
                names=listed(fields) or said("none"),
            )
            raise SettingsError(f"{source}:", why)
        low, high = field.metadata["low"], field.metadata["high"]
        if not low <= value <= high:
            why = said(
                "{limit} = {value:g} is outside {low:g} to {high:g}.", limit=name, value=value, low=low, high=high
            )
            raise SettingsError(f"{source}: {cls.name}:", why)
        whole = isinstance(field.default, int)
        if whole and value != int(value):
            why = said("{limit} = {value:g} must be a whole number.", limit=name, value=value)
            raise SettingsError(f"{source}: {cls.name}:", why)
        values[name] = int(value) if whole else value
    return cls(**values)
