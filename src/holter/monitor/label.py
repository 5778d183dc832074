"""What is known of a finished run: healthy, or sick since a step. From a file beside its log, or from whoever asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

META, EXPECT = "meta.json", "expect.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The label of a run.

    Attributes:
        healthy: Whether nothing should be told; None where nobody knows.
        onset: Step at which the trouble began, where that is known.
        says: The label in words; empty without one.
    """

    healthy: bool | None = None
    onset: float | None = None
    says: str = ""


HEALTHY = Label(healthy=True, says=said("healthy"))


def label_beside(log: Path) -> Label:
    """The label in ``meta.json`` or ``expect.json`` of the log's folder; an empty one where there is none.

    ``meta.json`` holds ``healthy`` (true or false), or ``fault`` (a name; one that begins with ``healthy`` is none), or
    ``labels`` (a list, ``["healthy"]``); and ``onset_step``, where the trouble began. ``expect.json`` holds ``severity``:
    ``critical`` for a sick run, ``none`` or ``info`` for a healthy one. What cannot be read is no label.
    """
    folder = log if log.is_dir() else log.parent
    expected = _object(folder / EXPECT)
    if "severity" in expected:
        known = {"critical": False, "none": True, "info": True}
        says = ", ".join(map(str, expected.get("expected") or ())) or str(expected["severity"])
        return Label(healthy=known.get(str(expected["severity"])), says=says)
    meta = _object(folder / META)
    onset = meta.get("onset_step", meta.get("onset"))
    at = float(onset) if isinstance(onset, int | float) and not isinstance(onset, bool) else None
    fault, labels = meta.get("fault"), meta.get("labels")
    if isinstance(labels, list) and labels:
        return Label(healthy=labels == ["healthy"], onset=at, says=", ".join(map(str, labels)))
    if isinstance(meta.get("healthy"), bool):
        return Label(healthy=meta["healthy"], onset=at, says=str(fault or ("healthy" if meta["healthy"] else "sick")))
    if isinstance(fault, str) and fault:
        return Label(healthy=fault.startswith("healthy"), onset=at, says=fault)
    return Label()


def _object(file: Path) -> Mapping[str, Any]:
    try:
        found = orjson.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
