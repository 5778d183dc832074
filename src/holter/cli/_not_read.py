"""What could not be read, said the same by every command: on standard error, and by the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holter.language import told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.readers.base import Skipped

NOT_READ = 2
"""Exit code when a log that was named could not be read: what was not looked at is not healthy."""
MOST = 5
"""How many are said, unless all are asked for."""


def tell_not_read(refused: Sequence[Skipped], *, every: bool = True) -> None:
    """Say what was not read, and why.

    Args:
        refused: What was not.
        every: Whether all of it is said, however much it is.
    """
    from holter.reports.safe_text import safe
    from holter.reports.words import not_read

    lines = [told("Not read: {what}", what=told(not_read(each))) for each in refused]
    more = 0 if every else len(lines) - MOST
    if more > 0:
        lines[MOST:] = [told("and {n} more; --verbose shows them all", n=more)]
    for line in lines:
        click.echo(f"holter: {safe(line)}", err=True)


def code_of(logs: Sequence[str], refused: Sequence[Skipped]) -> int:
    """`NOT_READ` when one of the logs that were asked for is among those not read; other files of a folder may be anything."""
    return 0 if {each.file for each in refused}.isdisjoint(logs) else NOT_READ
