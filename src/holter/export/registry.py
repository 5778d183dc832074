"""Every exporter, found by walking this package and the entry points; and which of them a destination means."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from holter import discovery, export
from holter.export.base import Exporter, ExportError
from holter.language import listed, said

if TYPE_CHECKING:
    from pathlib import Path


def _is_exporter(value: object) -> bool:
    return isinstance(value, Exporter) and not isinstance(value, type)


@cache
def all_exporters() -> dict[str, Exporter]:
    """All exporters by name."""
    return discovery.members(export, "exporters", _is_exporter, lambda e: e.name)


def exporter_for(path: Path, asked: str | None) -> Exporter:
    """The exporter that was asked for, or the one that the destination's suffix means.

    Raises:
        ExportError: When neither says which.
    """
    if asked is not None:
        return all_exporters()[asked]
    for exporter in all_exporters().values():
        if path.suffix.lower() in exporter.suffixes:
            return exporter
    why = said(
        "the name does not say in which format; end it in {suffixes}, or say one of {names}",
        suffixes=listed(s for e in all_exporters().values() for s in e.suffixes),
        names=listed(f"--to {name}" for name in all_exporters()),
    )
    raise ExportError(f"{path}:", why)
