"""``holter convert LOG DEST``: a log in another format, under the names it uses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from holter.readers.base import RawLog, Source

FORMATS = ("jsonl", "csv", "parquet", "tensorboard", "run-folder")


@click.command()
@click.argument("log", metavar="LOG")
@click.argument("dest", type=click.Path(path_type=Path), metavar="DEST")
@click.option("--to", "form", type=click.Choice(FORMATS), help="Format, where the suffix of DEST does not say it.")
def command(log: str, dest: Path, form: str | None) -> None:
    """Write LOG as DEST: .jsonl, .csv, .parquet, or a folder with --to tensorboard or --to run-folder.

    Every number is carried under its own name, with NaN, infinities and nulls, as far as the format has them; what it cannot
    hold is said. A LOG of several runs becomes several files: DEST-1, DEST-2, and so on. Nothing is ever overwritten.
    """
    from holter.export.base import ExportError
    from holter.export.registry import exporter_for

    exporter = exporter_for(dest, form)
    logs = list(_logs(log))
    targets = [
        dest if len(logs) == 1 else dest.with_name(f"{dest.stem}-{n}{dest.suffix}") for n in range(1, len(logs) + 1)
    ]
    for target in targets:
        if target.exists():
            raise ExportError(f"{target}: it is there already; choose another name, or remove it first")
        if not target.parent.is_dir():
            raise ExportError(f"{target}: there is no folder {target.parent}")
    for each, target in zip(logs, targets, strict=True):
        if not each.rows:
            raise ExportError(f"{each.name}: there is no row in it, so there is nothing to write")
        try:
            written = exporter.write(each, _steps(each), target)
        except OSError as error:
            raise ExportError(f"{target}: it cannot be written ({error.strerror or error})") from error
        values = sum(len(c.values) for c in each.columns.values())
        click.echo(f"{written.path}: {each.rows} rows, {values} values under {len(each.columns)} names")
        for lost in written.lost:
            click.echo(f"not carried: {lost}", err=True)
        for skipped in each.skipped:
            click.echo(f"not read: {skipped}", err=True)


def _logs(path: str) -> Iterator[RawLog]:
    """The logs that a file, or a folder, holds.

    Raises:
        UnreadableLogError: When there is none.
    """
    from holter.errors import UnreadableLogError
    from holter.readers.base import Source
    from holter.readers.registry import read
    from holter.runs.folder import logs_in
    from holter.runs.load import STANDARD_INPUT

    if path == "-":
        yield from read(Source(STANDARD_INPUT, data=sys.stdin.buffer.read()))
        return
    place = Path(path)
    if not place.is_dir():
        if not place.is_file():
            raise UnreadableLogError(f"{path}: there is no such file or folder")
        yield from read(Source.of(place))
        return
    found, first = False, None
    for choices in logs_in(place).runs:
        try:
            for log in _first_readable([source for source, _ in choices]):
                found = True
                yield log
        except UnreadableLogError as error:
            first = first or error
    if not found:
        raise first or UnreadableLogError(f"{path}: no log was found in this folder")


def _first_readable(sources: list[Source]) -> list[RawLog]:
    """The logs of the first source that can be read; forms of one run follow each other, the best first."""
    from holter.errors import UnreadableLogError
    from holter.readers.registry import read

    first: UnreadableLogError | None = None
    for source in sources:
        try:
            return read(source)
        except UnreadableLogError as error:
            first = first or error
    assert first is not None, "a run has at least one source"
    raise first


def _steps(log: RawLog) -> NDArray[np.float64]:
    """The step of each row, as reading the log for a diagnosis takes it."""
    from holter.dialects.registry import detect, meaning
    from holter.readers.plausibility import is_axis
    from holter.runs.step_axis import step_axis

    spoken = detect(log.columns.keys())
    meanings = {raw: meaning(spoken, raw) for raw in log.columns}
    metrics = [column.at for raw, column in log.columns.items() if not is_axis(raw)]
    return step_axis(log, spoken, meanings, metrics).steps
