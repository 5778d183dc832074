"""Where a command writes a report: a file that is named, or standard output."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from holter.errors import HolterError
from holter.language import said, told

STANDARD = "-"
"""How standard output is named."""


def write(report: str, output: str) -> None:
    """Write a report and say where.

    Args:
        report: Its text.
        output: A file's name, or `STANDARD`.

    Raises:
        HolterError: When the file cannot be written.
    """
    if output == STANDARD:
        sys.stdout.buffer.write(report.encode("utf-8"))
        return
    try:
        Path(output).write_text(report, encoding="utf-8")
    except OSError as error:
        why = error.strerror or str(error)
        raise HolterError(said("{file}: it cannot be written ({why}).", file=output, why=why)) from error
    size = f"{len(report.encode()) / 1e6:.2f}"
    click.echo(told("Wrote {file} ({size} MB).", file=output, size=size))
