"""What one parsed record says: nested names joined with ``/``, wrappers taken off, bookkeeping told apart from metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEEPEST = 16
"""Levels of nesting that names are joined over."""
_WRAPPERS = ("data", "metrics", "logs", "scalars")
_AXES = frozenset(
    {
        "step",
        "_step",
        "global_step",
        "epoch",
        "time",
        "timestamp",
        "_timestamp",
        "iteration",
        "index",
        "wall_time",
        "rank",
    }
)
CONFIG = ("config", "args", "training_args", "train_args", "hyperparameters", "hparams", "hyper_parameters")
"""Names under which logs carry their hyper-parameters."""


class TooDeepError(ValueError):
    """A record nested deeper than names are joined over."""


def flat(record: Mapping[str, object]) -> dict[str, object]:
    """A record without nesting: ``{"actor": {"loss": 1}}`` becomes ``{"actor/loss": 1}``.

    A wrapper around all metrics (``{"step": 1, "data": {...}}``) adds nothing to their names. Objects that a tracker left
    in place of media (``{"_type": "histogram"}``) stay whole, to be left aside.

    Raises:
        TooDeepError: When it is nested deeper than `DEEPEST` levels.
    """
    nested = [k for k, v in record.items() if isinstance(v, dict)]
    if len(nested) == 1 and nested[0] in _WRAPPERS and all(k in _AXES for k in record if k != nested[0]):
        inner = record[nested[0]]
        assert isinstance(inner, dict)
        own = {k: v for k, v in record.items() if k != nested[0]}
        return {**own, **_unnested(inner, 1)}
    return _unnested(record, 0)


def _unnested(record: Mapping[str, object], depth: int) -> dict[str, object]:
    """Joined names and values. Most records are flat but for a wrapper, and keep their names, which is many times faster."""
    if any(isinstance(value, dict) for value in record.values()):
        return dict(_joined(record, "", depth))
    return dict(record)


def _joined(record: Mapping[str, object], prefix: str, depth: int) -> Iterator[tuple[str, object]]:
    if depth > DEEPEST:
        raise TooDeepError(said("objects are nested more than {most} deep", most=DEEPEST))
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and "_type" not in value:
            yield from _joined(value, f"{name}/", depth + 1)
        else:
            yield name, value


def config_of(record: Mapping[str, object]) -> dict[str, object]:
    """The hyper-parameters that a record carries under one of the names of `CONFIG`; nested names joined with ``/``.

    Raises:
        TooDeepError: When they are nested deeper than `DEEPEST` levels.
    """
    out: dict[str, object] = {}
    for name in CONFIG:
        found = record.get(name)
        if isinstance(found, dict):
            out.update(_joined(found, "", 0))
    return out
