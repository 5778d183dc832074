"""MLflow's file store: a folder for every run, in it a file for every metric with a line for every number."""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import said
from holter.readers.base import Skipped, Source
from holter.readers.encoding import is_text
from holter.readers.lines import MOST_SKIPPED, Lines, text
from holter.readers.numbers import number
from holter.readers.plausibility import NotALogError
from holter.readers.stores.mlflow_database import parameter
from holter.readers.stores.points import Points, log_of
from holter.readers.table import MOST_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawLog

META = "meta.yaml"
_RUN = re.compile(rb"^run_(?:uu)?id: ", re.MULTILINE)
_ARTIFACTS = re.compile(rb"^artifact_uri: ", re.MULTILINE)
_ENTRY = re.compile(r"(\w+): *(.*)")
_LONGEST_PARAMETER = 8192
_FIELDS = 3


class MlflowFiles:
    """Reads the folder of a run by its ``meta.yaml``."""

    name = "mlflow-files"
    title = "MLflow's file store: meta.yaml of a run, with the metrics beside it"
    priority = 120

    def recognises(self, name: str, head: bytes) -> bool:
        """By the name, and the entries that only a run's file has."""
        return PurePath(name).name == META and is_text(head) and bool(_RUN.search(head) and _ARTIFACTS.search(head))

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log.

        Raises:
            UnreadableLogError: When there are no metrics beside it.
        """
        if source.path is None:
            raise UnreadableLogError.of(
                source.name, "the entry of an MLflow run without its folder.", "Give the folder."
            )
        folder = source.path.parent
        meta = _entries(source)
        if meta.get("lifecycle_stage") == "deleted":
            raise NotALogError.of(source.name, "this MLflow run was deleted.", "Restore it: `mlflow runs restore`.")
        skipped: list[Skipped] = []
        notes: list[str] = (
            [said("MLflow calls this run {name!r}", name=meta["run_name"])] if meta.get("run_name") else []
        )
        points: dict[str, Points] = {}
        for key, path in _files(folder / "metrics"):
            if len(points) >= MOST_COLUMNS:
                raise UnreadableLogError.of(
                    source.name, said("it has more than {most:,} metrics.", most=MOST_COLUMNS), "Give fewer."
                )
            points[key] = _points(path, skipped, notes)
        if len(skipped) > MOST_SKIPPED:
            more = said("{n} more places could not be read", n=len(skipped) - MOST_SKIPPED)
            skipped = [*skipped[:MOST_SKIPPED], Skipped(source.name, None, more)]
        yield log_of(
            points, name=str(folder), reader=self.name, config=_parameters(folder), notes=notes, skipped=skipped
        )


def _entries(source: Source) -> dict[str, str]:
    """The entries of a ``meta.yaml`` that are plain text."""
    found = (_ENTRY.fullmatch(text(line)) for _, line in Lines(source))
    return {entry[1]: entry[2].strip().strip("'\"") for entry in found if entry is not None}


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Name and file of every metric: a name with slashes lies in folders."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            yield path.relative_to(folder).as_posix(), path


def _points(path: Path, skipped: list[Skipped], notes: list[str]) -> Points:
    """The points of a file: a time, a value and a step a line; a data set may stand behind them."""
    rows: list[tuple[float, float, float]] = []
    source = Source.of(path)
    lines = Lines(source)
    broken: tuple[int, str] | None = None
    for line_number, line in lines:
        fields = text(line).split()
        if not fields:
            continue
        found = [number(each) for each in fields[:_FIELDS]]
        if len(found) == _FIELDS and all(isinstance(each, float) for each in found):
            time, value, step = (each for each in found if isinstance(each, float))
            rows.append((step, value, time))
            broken = None
        else:
            broken = line_number, "not a time, a value and a step"
            skipped.append(Skipped(source.name, *broken))
    if not lines.ended and rows:
        if broken is not None:
            skipped.pop()
        else:
            rows.pop()
        notes.append(said("{file}: the last line is not finished yet, so it is not a point", file=path.name))
    return Points.of(rows)


def _parameters(folder: Path) -> dict[str, object]:
    out: dict[str, object] = {}
    for key, path in _files(folder / "params"):
        with path.open("rb") as stream:
            out[key] = parameter(text(stream.read(_LONGEST_PARAMETER)).strip())
    return out


MLFLOW_FILES = MlflowFiles()
