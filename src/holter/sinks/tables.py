"""Completions as tables of trackers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.sinks.base import Sample


def columns(step: float, rows: Sequence[Sample]) -> dict[str, list[object]]:
    """The table column by column, ``step`` the first; a row that lacks a name has None there."""
    names = dict.fromkeys(name for row in rows for name in row if name != "step")
    return {"step": [step] * len(rows), **{name: [_cell(row.get(name)) for row in rows] for name in names}}


def _cell(value: object) -> object:
    """A table's column has one type; what is neither number nor text, a conversation for one, goes in as text."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
