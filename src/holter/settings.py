"""Settings of a project: ``holter.toml``, or ``[tool.holter]`` in ``pyproject.toml``, from the working folder upwards.

```toml
fail-on = "warning"
select = ["kl-*", "reward-hacking"]          # only these; default: all

[ignore]
kl-spike = "the reward model warms up until step 50"   # a reason is required, and printed

[severity]                                   # raises or lowers a rule, with the reason, which is printed
kl-nonzero-at-start = { level = "info", reason = "distillation: the reference is a teacher" }

[alerts]                                     # what people hear of while a run is watched
floor = "warning"
cool-down = 600                              # seconds
quiet-rows = 5

[detectors.kl-runaway]
z = 8.0
```

A ``holter.toml`` in a run's own folder adds its ``[ignore]``, ``[severity]``, ``[detectors]`` and ``eval-size`` to these for
that run: its word stands where both speak of one rule. What is selected, alerted and failed on is the project's to say.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from holter.errors import SettingsError, reason
from holter.language import listed, said

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

LEVELS = ("info", "warning", "critical")
FAIL_ON = (*LEVELS, "never")
FILE = "holter.toml"
DEFAULTS = "defaults"
"""Source of settings that were read from no file."""


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """What people hear of while a run is watched.

    Attributes:
        floor: Least severity that counts.
        cool_down: Seconds in which people do not hear of a detector again, unless it got worse.
        quiet_rows: Rows at the start in which only critical findings count.
    """

    floor: str = "warning"
    cool_down: float = 600.0
    quiet_rows: int = 5


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a project takes a rule's findings for, whatever the rule itself does.

    Attributes:
        level: The severity to give them.
        reason: Why; printed with each.
    """

    level: str
    reason: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project wants checked, and how strictly.

    Attributes:
        fail_on: Least severity at which ``holter check`` exits with 1; ``never`` for none.
        select: Names or patterns (``kl-*``) of the detectors to run; empty: all.
        ignore: Name or pattern of detectors not to run, each with the reason.
        limits: Limits by detector and limit name.
        eval_size: Number of items of the held-out evaluation, from which its standard error follows; None: unknown.
        source: The file they came from, or "defaults".
        alerts: What people hear of while a run is watched.
        severity: Severities that the project gives to a rule, by name or pattern of detectors.
    """

    fail_on: str = "critical"
    select: tuple[str, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    eval_size: int | None = None
    source: str = DEFAULTS
    alerts: AlertSettings = AlertSettings()
    severity: Mapping[str, Judgement] = field(default_factory=dict)


def find_settings(folder: Path) -> Settings:
    """Settings of the nearest ``holter.toml`` or ``pyproject.toml`` with ``[tool.holter]``, from `folder` upwards.

    Raises:
        SettingsError: When the file is not TOML or says something that Holter does not know.
    """
    for parent in (folder, *folder.parents):
        own = parent / FILE
        if _holds(own.is_file):
            return read_settings(own)
        project = parent / "pyproject.toml"
        if _holds(project.is_file) and "holter" in _toml(project).get("tool", {}):
            return read_settings(project)
    return Settings()


def _holds(question: Callable[[], bool]) -> bool:
    """What is asked of a path; False also where its folder may not be looked into, or it is too long to ask."""
    try:
        return question()
    except OSError:
        return False


def settings_of_run(settings: Settings, log: Path) -> Settings:
    """The settings with what a ``holter.toml`` in a run's own folder adds to them or says otherwise.

    Args:
        settings: Settings of the project.
        log: The run's folder, or a file in it.

    Raises:
        SettingsError: As `find_settings` does.
    """
    own = (log if _holds(log.is_dir) else log.parent) / FILE
    if not _holds(own.is_file) or str(own) == settings.source:
        return settings
    added = read_settings(own)
    both = {name: {**settings.limits.get(name, {}), **limits} for name, limits in added.limits.items()}
    return replace(
        settings,
        ignore={**settings.ignore, **added.ignore},
        limits={**settings.limits, **both},
        severity={**settings.severity, **added.severity},
        eval_size=added.eval_size or settings.eval_size,
        source=f"{settings.source} and {own}",
    )


def read_settings(path: Path) -> Settings:
    """Settings in one file.

    Raises:
        SettingsError: When the file cannot be read, is not TOML or says something that Holter does not know.
    """
    given = _toml(path)
    if path.name == "pyproject.toml":
        given = given.get("tool", {}).get("holter", {})
    return _parse(given, str(path))


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}:", said("cannot be read: {error}", error=reason(error))) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}:", said("not valid TOML: {error}", error=reason(error))) from error


def _parse(given: Mapping[str, Any], source: str) -> Settings:
    known = {"fail-on", "select", "ignore", "detectors", "eval-size", "alerts", "severity"}
    for key in given:
        if key not in known:
            why = said("unknown setting {name!r}; known are {names}.", name=key, names=listed(sorted(known)))
            raise SettingsError(f"{source}:", why)
    fail_on = given.get("fail-on", "critical")
    if fail_on not in FAIL_ON:
        why = said("fail-on is {value!r}; it can be {names}.", value=fail_on, names=listed(FAIL_ON))
        raise SettingsError(f"{source}:", why)
    select = given.get("select", [])
    if not isinstance(select, list) or not all(isinstance(s, str) for s in select):
        why = said("select must be a list of detector names or patterns, got {value!r}.", value=select)
        raise SettingsError(f"{source}:", why)
    ignore = given.get("ignore", {})
    if not isinstance(ignore, dict) or not all(isinstance(v, str) and v.strip() for v in ignore.values()):
        raise SettingsError(
            f"{source}:", '[ignore] needs a reason for each detector: kl-spike = "why it is expected here".'
        )
    eval_size = given.get("eval-size")
    if eval_size is not None and (not isinstance(eval_size, int) or isinstance(eval_size, bool) or eval_size < 1):
        why = said("eval-size must be a whole number of items above 0, got {value!r}.", value=eval_size)
        raise SettingsError(f"{source}:", why)
    return Settings(
        fail_on=fail_on,
        select=tuple(select),
        ignore=dict(ignore),
        limits=_limits(given.get("detectors", {}), source),
        eval_size=eval_size,
        source=source,
        alerts=_alerts(given.get("alerts", {}), source),
        severity=_severity(given.get("severity", {}), source),
    )


def _severity(given: object, source: str) -> dict[str, Judgement]:
    example = 'kl-spike = { level = "info", reason = "why" }'
    if not isinstance(given, dict):
        why = said("[severity] must be a table, with lines such as {example}.", example=example)
        raise SettingsError(f"{source}:", why)
    out: dict[str, Judgement] = {}
    for name, judged in given.items():
        if not isinstance(judged, dict) or set(judged) != {"level", "reason"} or judged["level"] not in LEVELS:
            why = said(
                "[severity] {name} needs a level ({levels}) and a reason: {example}.",
                name=name,
                levels=listed(LEVELS),
                example=example,
            )
            raise SettingsError(f"{source}:", why)
        if not isinstance(judged["reason"], str) or not judged["reason"].strip():
            why = said("[severity] {name} needs a reason that is printed: {example}.", name=name, example=example)
            raise SettingsError(f"{source}:", why)
        out[name] = Judgement(judged["level"], judged["reason"].strip())
    return out


def _alerts(given: object, source: str) -> AlertSettings:
    if not isinstance(given, dict):
        raise SettingsError(f"{source}:", "[alerts] must be a table.")
    for key in given:
        if key not in ("floor", "cool-down", "quiet-rows"):
            why = said("[alerts] has no setting {name!r}; it has floor, cool-down, quiet-rows.", name=key)
            raise SettingsError(f"{source}:", why)
    usual = AlertSettings()
    floor = given.get("floor", usual.floor)
    if floor not in LEVELS:
        why = said("[alerts] floor is {value!r}; it can be {names}.", value=floor, names=listed(LEVELS))
        raise SettingsError(f"{source}:", why)
    cool_down, quiet_rows = given.get("cool-down", usual.cool_down), given.get("quiet-rows", usual.quiet_rows)
    if isinstance(cool_down, bool) or not isinstance(cool_down, int | float) or not 0 <= cool_down < float("inf"):
        why = said("[alerts] cool-down must be a number of seconds, got {value!r}.", value=cool_down)
        raise SettingsError(f"{source}:", why)
    if isinstance(quiet_rows, bool) or not isinstance(quiet_rows, int) or quiet_rows < 0:
        why = said("[alerts] quiet-rows must be a number of rows, got {value!r}.", value=quiet_rows)
        raise SettingsError(f"{source}:", why)
    return AlertSettings(floor, float(cool_down), quiet_rows)


def _limits(given: object, source: str) -> dict[str, dict[str, float]]:
    if not isinstance(given, dict):
        raise SettingsError(f"{source}:", "[detectors] must hold one table a detector: [detectors.kl-runaway].")
    out: dict[str, dict[str, float]] = {}
    for detector, limits in given.items():
        if not isinstance(limits, dict):
            why = said("[detectors.{name}] must be a table of limits, got {value!r}.", name=detector, value=limits)
            raise SettingsError(f"{source}:", why)
        for name, value in limits.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                why = said(
                    "[detectors.{detector}] {limit} must be a number, got {value!r}.",
                    detector=detector,
                    limit=name,
                    value=value,
                )
                raise SettingsError(f"{source}:", why)
        out[detector] = {name: float(value) for name, value in limits.items()}
    return out
