"""The manifest of a run: what it is and what it was made with."""

from __future__ import annotations

import dataclasses
import enum
import numbers
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import orjson

from holter.errors import UnreadableLogError, reason
from holter.language import said
from holter.store import provenance
from holter.store.encoding import number, spelled_out
from holter.store.redaction import without_secrets

FORMAT = "holter-run"
VERSION = 1
_KINDS = {
    **dict.fromkeys(("id", "algorithm", "name", "dialect"), str),
    **dict.fromkeys(("config", "packages", "hardware"), dict),
    **dict.fromkeys(("segment", "created", "processes"), float),
}
"""What stands in a manifest, where it is not left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """What a segment resumes.

    Attributes:
        segment: Number of the segment before it.
        step: Step of the checkpoint it starts from, where that is known; older rows after it are void.
    """

    segment: int
    step: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One segment of a run.

    Attributes:
        id: Identity of the run, the same in all its segments.
        segment: Number of the segment, 0 for the start of the run.
        created: When it began, seconds since 1970.
        algorithm: ``ppo``, ``grpo``, or what the caller says; empty when nobody said.
        name: What people call the run.
        config: Hyper-parameters, in types that JSON holds, without secrets.
        seed: Random seed, None when unknown.
        git: State of the code: commit, branch, dirty, hash of the diff; None outside git.
        packages: Versions of the packages that matter.
        hardware: The machine.
        command: The command line, without secrets.
        processes: Number of training processes.
        parent: What this segment resumes; None for the first.
        dialect: Name of the dialect whose metric names the rows use.
    """

    id: str
    segment: int = 0
    created: float
    algorithm: str = ""
    name: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    git: Mapping[str, Any] | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    hardware: Mapping[str, Any] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    processes: int = 1
    parent: Parent | None = None
    dialect: str = ""


def describe(
    *,
    algorithm: str = "",
    name: str = "",
    config: object = None,
    seed: int | None = None,
    dialect: str = "",
    code: Path | None = None,
) -> Manifest:
    """The manifest of a run that begins now, in this process.

    Args:
        algorithm: ``ppo``, ``grpo``, ...
        name: What people call the run.
        config: Mapping, dataclass or object with ``to_dict``; what JSON cannot hold is written as its name.
        seed: Random seed; taken from the config's ``seed`` when left out.
        dialect: Dialect of the metric names.
        code: Folder whose git state counts; that of the script that runs, by default.
    """
    plain = settings(config)
    if seed is None and isinstance(plain.get("seed"), int):
        seed = plain["seed"]
    return Manifest(
        id=f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}",
        created=time.time(),
        algorithm=algorithm,
        name=name,
        config=plain,
        seed=seed,
        git=provenance.git_state(code if code is not None else _code_folder()),
        packages=provenance.packages(),
        hardware=provenance.hardware(),
        command=tuple(provenance.command()),
        processes=provenance.processes(),
        dialect=dialect,
    )


def _code_folder() -> Path:
    import sys

    script = getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(script).resolve().parent if script else Path.cwd()


def settings(config: object) -> dict[str, Any]:
    """A configuration object as plain settings without secrets.

    Mappings, dataclasses (by field), objects with ``to_dict``, and objects with attributes are understood.
    """
    if config is None:
        return {}
    if isinstance(config, Mapping):
        found: Mapping[Any, Any] = config
    elif callable(getattr(config, "to_dict", None)):
        found = config.to_dict()  # type: ignore[attr-defined]
    elif dataclasses.is_dataclass(config):
        found = {f.name: getattr(config, f.name) for f in dataclasses.fields(config)}
    else:
        found = {k: v for k, v in getattr(config, "__dict__", {}).items() if not k.startswith("_")}
    plain = {str(k): _plain(v) for k, v in found.items()}
    return dict(without_secrets(plain))


def _plain(value: object) -> Any:  # noqa: ANN401
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(v) for v in value), key=str)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return spelled_out(value)
    if isinstance(value, numbers.Real):
        return spelled_out(int(value) if isinstance(value, numbers.Integral) else float(value))
    # A function, a class, a model: its name says which, its address would only make equal configs differ.
    name = getattr(value, "__qualname__", None)
    return f"{getattr(value, '__module__', '')}.{name}" if name else _named(value)


def _named(value: object) -> str:
    text = str(value)
    return type(value).__qualname__ if " at 0x" in text or len(text) > 1000 else text


def write_manifest(file: Path, manifest: Manifest) -> None:
    """Write a manifest that must not exist yet; whole or not at all.

    Raises:
        FileExistsError: When there is one.
        OSError: When the disk refuses.
    """
    draft = _draft(file, manifest)
    try:
        # A link fails where the name is taken, which renaming would not.
        try:
            os.link(draft, file)
        except FileExistsError:
            raise
        except OSError:
            if file.exists():
                raise FileExistsError(str(file)) from None
            draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def rewrite_manifest(file: Path, manifest: Manifest) -> None:
    """Write a manifest over the one that is there; a reader sees the one or the other.

    Raises:
        OSError: When the disk refuses; the one that was there is left as it was.
    """
    draft = _draft(file, manifest)
    try:
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def _draft(file: Path, manifest: Manifest) -> Path:
    content = {"format": FORMAT, "version": VERSION, **dataclasses.asdict(manifest)}
    data = orjson.dumps(spelled_out(content), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    return draft


def read_manifest(file: Path) -> Manifest:
    """The manifest in `file`.

    Settings that a later version added are left aside.

    Raises:
        UnreadableLogError: When it is no manifest, or of a newer format.
    """
    try:
        read = orjson.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise UnreadableLogError.of(str(file), said("not a run's manifest: {error}.", error=reason(error))) from error
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        raise UnreadableLogError.of(
            str(file), said("not a run's manifest: it lacks the format {format!r}.", format=FORMAT)
        )
    if not isinstance(read.get("version"), int) or read["version"] > VERSION:
        raise UnreadableLogError.of(
            str(file),
            said("written in version {version} of the format.", version=read.get("version")),
            "Upgrade holter to read it.",
        )
    known = {f.name: read[f.name] for f in dataclasses.fields(Manifest) if f.name in read}
    parent = known.get("parent")
    try:
        for name, kind in _KINDS.items():
            _demand(known.get(name, kind()), kind, name)
        known["parent"] = _parent(parent) if parent else None
        known["command"] = tuple(known.get("command") or ())
        return Manifest(**known)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise UnreadableLogError.of(str(file), said("not a run's manifest: {error}.", error=reason(error))) from error


def _parent(said_of_it: Mapping[str, Any]) -> Parent:
    step = number(said_of_it.get("step"))
    if step is None and said_of_it.get("step") is not None:
        _demand(said_of_it["step"], float, "step")
    return Parent(segment=int(said_of_it["segment"]), step=step)


def _demand(value: object, kind: type, name: str) -> None:
    """Refuse what was written by hand, or by another program, as anything else than whoever reads it relies on.

    Raises:
        TypeError: Says what it is.
    """
    if not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool):
        raise TypeError(said("its {field} is a {kind}", field=name, kind=type(value).__name__))
