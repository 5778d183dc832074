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
    data = report.encode("utf-8")
    try:
        _write_whole(Path(output), data)
    except OSError as error:
        why = error.strerror or str(error)
        raise HolterError(said("{file}: it cannot be written ({why}).", file=output, why=why)) from error
    click.echo(told("Wrote {file} ({size} MB).", file=output, size=f"{len(data) / 1e6:.2f}"))


def _write_whole(file: Path, data: bytes) -> None:
    """Write a file, or leave none: half of a report on a full disk would look like a report."""
    out = file.open("wb")
    try:
        with out:
            out.write(data)
    except BaseException:
        if file.is_file():
            file.unlink()
        raise
