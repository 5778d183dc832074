"""Settings of a project: ``holter.toml``, or ``[tool.holter]`` in ``pyproject.toml``, from the working folder upwards.

```toml
fail-on = "warning"
select = ["kl-*", "reward-hacking"]          # only these; default: all

[ignore]
kl-spike = "the reward model warms up until step 50"   # a reason is required, and printed

[detectors.kl-runaway]
z = 8.0
```
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FAIL_ON = ("info", "warning", "critical", "never")
FILE = "holter.toml"


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
    """

    fail_on: str = "critical"
    select: tuple[str, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    eval_size: int | None = None
    source: str = "defaults"


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
    known = {"fail-on", "select", "ignore", "detectors", "eval-size"}
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
    return Settings(fail_on, tuple(select), dict(ignore), _limits(said.get("detectors", {}), source), eval_size, source)


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
