"""``holter convert LOG DEST``: a log in another format, under the names it uses."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holter.cli._not_read import tell_not_read
from holter.cli._speaking import Command
from holter.errors import reason
from holter.language import said, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from holter.readers.base import RawLog

FORMATS = ("jsonl", "csv", "parquet", "tensorboard", "run-folder")


@click.command(cls=Command)
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
    from holter.runs.load import raw_logs

    exporter = exporter_for(dest, form)
    logs = raw_logs(log)
    targets = [
        dest if len(logs) == 1 else dest.with_name(f"{dest.stem}-{n}{dest.suffix}") for n in range(1, len(logs) + 1)
    ]
    for target in targets:
        if target.exists():
            raise ExportError(said("{file}: it is there already; choose another name, or remove it first", file=target))
        if not target.parent.is_dir():
            raise ExportError(said("{file}: there is no folder {folder}", file=target, folder=target.parent))
    for each, target in zip(logs, targets, strict=True):
        if not each.rows:
            raise ExportError(said("{file}: there is no row in it, so there is nothing to write", file=each.name))
        steps = _steps(each)
        try:
            with _whole(target):
                written = exporter.write(each, steps, target)
        except OSError as error:
            raise ExportError(said("{file}: it cannot be written ({why}).", file=target, why=reason(error))) from error
        values = sum(len(c.values) for c in each.columns.values())
        counted = told("{file}: {rows} rows, {values} values under {names} names")
        click.echo(counted.format(file=written.path, rows=each.rows, values=values, names=len(each.columns)))
        for lost in written.lost:
            click.echo(told("not carried: {what}", what=told(lost)), err=True)
        tell_not_read(each.skipped)


@contextmanager
def _whole(target: Path) -> Iterator[None]:
    """Whatever ends the writing early, a full disk or Ctrl-C: half of a log, which would look like a log, is not left."""
    try:
        yield
    except FileExistsError:
        # Somebody else made it meanwhile.
        raise
    except BaseException:
        if target.is_dir():
            shutil.rmtree(target, ignore_errors=True)
        else:
            target.unlink(missing_ok=True)
        raise


def _steps(log: RawLog) -> NDArray[np.float64]:
    """The step of each row, as reading the log for a diagnosis takes it."""
    from holter.dialects.registry import detect, meaning
    from holter.readers.plausibility import is_axis
    from holter.runs.step_axis import step_axis

    spoken = detect(log.columns.keys(), log.dialects)
    meanings = {raw: meaning(spoken, raw) for raw in log.columns}
    metrics = [column.at for raw, column in log.columns.items() if not is_axis(raw)]
    return step_axis(log, spoken, meanings, metrics).steps
