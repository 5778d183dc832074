"""Completions on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.sinks.base import Sample


def print_completions(rows: Sequence[Sample], step: int) -> None:
    """One table of completions with their rewards and advantages."""
    names = [n for n in dict.fromkeys(n for row in rows for n in row) if n.startswith("rewards/")]
    table = Table(title=f"Step {step}", show_lines=True)
    for column in ("prompt", "completion", *(n.removeprefix("rewards/") for n in names), "advantage"):
        table.add_column(column, overflow="fold")
    for row in rows:
        numbers = [row.get(n) for n in (*names, "advantage")]
        table.add_row(
            *(Text(_plain(row.get(n, ""))) for n in ("prompt", "completion")),
            *(f"{v:.3g}" if isinstance(v, int | float) else "" for v in numbers),
        )
    Console().print(table)


def _plain(said: object) -> str:
    if isinstance(said, list):
        return "\n".join(f"{m.get('role', '')}: {m.get('content', '')}" for m in said)
    return str(said)
