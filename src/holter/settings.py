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

A ``holter.toml`` in a run's own folder adds to these for that run: its word stands where both speak of one rule.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from holter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LEVELS = ("info", "warning", "critical")
FAIL_ON = ("info", "warning", "critical", "never")
FILE = "holter.toml"


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
    source: str = "defaults"
    alerts: AlertSettings = AlertSettings()
    severity: Mapping[str, Judgement] = field(default_factory=dict)


def find_settings(folder: Path) -> Settings:
    """Settings of the nearest ``holter.toml`` or ``pyproject.toml`` with ``[tool.holter]``, from `folder` upwards.

    Raises:
        SettingsError: When the file is not TOML or says something that Holter does not know.
    """
    for parent in (folder, *folder.parents):
        own = parent / FILE
        if own.is_file():
            return read_settings(own)
        project = parent / "pyproject.toml"
        if project.is_file() and "holter" in _toml(project).get("tool", {}):
            return read_settings(project)
    return Settings()


def settings_of_run(settings: Settings, log: Path) -> Settings:
    """The settings with what a ``holter.toml`` in a run's own folder adds to them or says otherwise.

    Args:
        settings: Settings of the project.
        log: The run's folder, or a file in it.

    Raises:
        SettingsError: As `find_settings` does.
    """
    own = (log if log.is_dir() else log.parent) / FILE
    if not own.is_file() or str(own) == settings.source:
        return settings
    said = read_settings(own)
    both = {name: {**settings.limits.get(name, {}), **limits} for name, limits in said.limits.items()}
    return replace(
        settings,
        ignore={**settings.ignore, **said.ignore},
        limits={**settings.limits, **both},
        severity={**settings.severity, **said.severity},
        eval_size=said.eval_size or settings.eval_size,
        source=f"{settings.source} and {own}",
    )


def read_settings(path: Path) -> Settings:
    """Settings in one file.

    Raises:
        SettingsError: When the file cannot be read, is not TOML or says something that Holter does not know.
    """
    said = _toml(path)
    if path.name == "pyproject.toml":
        said = said.get("tool", {}).get("holter", {})
    return _parse(said, str(path))


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from error


def _parse(said: Mapping[str, Any], source: str) -> Settings:
    known = {"fail-on", "select", "ignore", "detectors", "eval-size", "alerts", "severity"}
    for key in said:
        if key not in known:
            raise SettingsError(f"{source}: unknown setting {key!r}; known are {', '.join(sorted(known))}.")
    fail_on = said.get("fail-on", "critical")
    if fail_on not in FAIL_ON:
        raise SettingsError(f"{source}: fail-on is {fail_on!r}; it can be {', '.join(FAIL_ON)}.")
    select = said.get("select", [])
    if not isinstance(select, list) or not all(isinstance(s, str) for s in select):
        raise SettingsError(f"{source}: select must be a list of detector names or patterns, got {select!r}.")
    ignore = said.get("ignore", {})
    if not isinstance(ignore, dict) or not all(isinstance(v, str) and v.strip() for v in ignore.values()):
        raise SettingsError(
            f'{source}: [ignore] needs a reason for each detector: kl-spike = "why it is expected here".'
        )
    eval_size = said.get("eval-size")
    if eval_size is not None and (not isinstance(eval_size, int) or isinstance(eval_size, bool) or eval_size < 1):
        raise SettingsError(f"{source}: eval-size must be a whole number of items above 0, got {eval_size!r}.")
    return Settings(
        fail_on,
        tuple(select),
        dict(ignore),
        _limits(said.get("detectors", {}), source),
        eval_size,
        source,
        _alerts(said.get("alerts", {}), source),
        _severity(said.get("severity", {}), source),
    )


def _severity(said: object, source: str) -> dict[str, Judgement]:
    example = 'kl-spike = { level = "info", reason = "why" }'
    if not isinstance(said, dict):
        raise SettingsError(f"{source}: [severity] must be a table, with lines such as {example}.")
    out: dict[str, Judgement] = {}
    for name, judged in said.items():
        if not isinstance(judged, dict) or set(judged) != {"level", "reason"} or judged["level"] not in LEVELS:
            raise SettingsError(
                f"{source}: [severity] {name} needs a level ({', '.join(LEVELS)}) and a reason: {example}."
            )
        if not isinstance(judged["reason"], str) or not judged["reason"].strip():
            raise SettingsError(f"{source}: [severity] {name} needs a reason that is printed: {example}.")
        out[name] = Judgement(judged["level"], judged["reason"].strip())
    return out


def _alerts(said: object, source: str) -> AlertSettings:
    if not isinstance(said, dict):
        raise SettingsError(f"{source}: [alerts] must be a table.")
    for key in said:
        if key not in ("floor", "cool-down", "quiet-rows"):
            raise SettingsError(f"{source}: [alerts] has no setting {key!r}; it has floor, cool-down, quiet-rows.")
    usual = AlertSettings()
    floor = said.get("floor", usual.floor)
    if floor not in FAIL_ON[:3]:
        raise SettingsError(f"{source}: [alerts] floor is {floor!r}; it can be {', '.join(FAIL_ON[:3])}.")
    cool_down, quiet_rows = said.get("cool-down", usual.cool_down), said.get("quiet-rows", usual.quiet_rows)
    if isinstance(cool_down, bool) or not isinstance(cool_down, int | float) or not 0 <= cool_down < float("inf"):
        raise SettingsError(f"{source}: [alerts] cool-down must be a number of seconds, got {cool_down!r}.")
    if isinstance(quiet_rows, bool) or not isinstance(quiet_rows, int) or quiet_rows < 0:
        raise SettingsError(f"{source}: [alerts] quiet-rows must be a number of rows, got {quiet_rows!r}.")
    return AlertSettings(floor, float(cool_down), quiet_rows)


def _limits(said: object, source: str) -> dict[str, dict[str, float]]:
    if not isinstance(said, dict):
        raise SettingsError(f"{source}: [detectors] must hold one table a detector: [detectors.kl-runaway].")
    out: dict[str, dict[str, float]] = {}
    for detector, limits in said.items():
        if not isinstance(limits, dict):
            raise SettingsError(f"{source}: [detectors.{detector}] must be a table of limits, got {limits!r}.")
        for name, value in limits.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise SettingsError(f"{source}: [detectors.{detector}] {name} must be a number, got {value!r}.")
        out[detector] = {name: float(value) for name, value in limits.items()}
    return out
