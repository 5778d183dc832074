"""MLflow's file store: a folder for every run, in it a file for every metric with a line for every number."""

from __future__ import annotations

import math
import re
from copy import deepcopy
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import said
from holter.readers.base import Skipped, Source
from holter.readers.encoding import is_text
from holter.readers.growth import stamp
from holter.readers.lines import MOST_SKIPPED, LineFeed, Lines, text
from holter.readers.numbers import number
from holter.readers.plausibility import NotALogError
from holter.readers.stores.mlflow_database import parameter
from holter.readers.stores.points import Growing, log_of, new_rows
from holter.readers.table import refuse_names_of_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawLog
    from holter.readers.growth import Store

META = "meta.yaml"
_RUN = re.compile(rb"^run_(?:uu)?id: ", re.MULTILINE)
_ARTIFACTS = re.compile(rb"^artifact_uri: ", re.MULTILINE)
_ENTRY = re.compile(r"(\w+): *(.*)")
_LONGEST_PARAMETER = 8192
_FIELDS = 3
_CHUNK = 1 << 20


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
        folder = _Folder(source)
        folder.pull()
        yield folder.log(at_last=True)

    def store(self, source: Source) -> Store:
        """The folder, whose files are read on."""
        return _Folder(source)


class _Folder:
    """The folder of a run, as far as it has been read."""

    def __init__(self, source: Source) -> None:
        if source.path is None:
            raise UnreadableLogError.of(
                source.name, "the entry of an MLflow run without its folder.", "Give the folder."
            )
        self._source, self._home = source, source.path.parent
        self._metrics: dict[str, _Metric] = {}

    def pull(self) -> bool:
        """Read the lines that came. False where a file was cut, or another one took its place."""
        for key, path in _files(self._home / "metrics"):
            metric = self._metrics.get(key)
            if metric is None:
                refuse_names_of_data(self._source.name, len(self._metrics) + 1)
                metric = self._metrics[key] = _Metric(path)
            if not metric.pull():
                return False
        return True

    def fresh(self) -> list[RawLog]:
        """The points that came since the last call."""
        new = {key: metric.points.fresh() for key, metric in self._metrics.items()}
        log = new_rows(new, name=str(self._home), reader=MLFLOW_FILES.name)
        return [log] if log is not None else []

    def logs(self) -> list[RawLog]:
        """The log so far."""
        return [self.log()]

    def log(self, *, at_last: bool = False) -> RawLog:
        """The log so far.

        Args:
            at_last: Whether nothing more is asked afterwards, so that what is not needed any more need not be held.
        """
        meta = _entries(self._source)
        if meta.get("lifecycle_stage") == "deleted":
            raise NotALogError.of(
                self._source.name, "this MLflow run was deleted.", "Restore it: `mlflow runs restore`."
            )
        notes: list[str] = (
            [said("MLflow calls this run {name!r}", name=meta["run_name"])] if meta.get("run_name") else []
        )
        notes += [
            said("{file}: the last line is not finished yet, so it is not a point", file=metric.path.name)
            for metric in self._metrics.values()
            if metric.is_torn
        ]
        skipped = [each for metric in self._metrics.values() for each in metric.skipped]
        if len(skipped) > MOST_SKIPPED:
            more = said("{n} more places could not be read", n=len(skipped) - MOST_SKIPPED)
            skipped = [*skipped[:MOST_SKIPPED], Skipped(self._source.name, None, more)]
        points = {key: metric.points.whole(at_last=at_last) for key, metric in self._metrics.items()}
        if at_last:
            self._metrics.clear()
        return log_of(
            points,
            name=str(self._home),
            reader=MLFLOW_FILES.name,
            config=_parameters(self._home),
            notes=notes,
            skipped=skipped,
        )


class _Metric:
    """The file of a metric as far as it has been read: a time, a value and a step a line; a data set may stand behind them.

    Attributes:
        path: The file.
        points: What it says.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._name = Source.of(path).name
        self._lines = LineFeed(self._name, plain=True)
        self.points = Growing()
        self._broken: list[Skipped] = []
        self._before: tuple[int, int, int] | None = None
        self._size = 0

    def pull(self) -> bool:
        """Read the lines that came. False where it was cut, or another file took its place."""
        now = stamp(self.path)
        if now is None or now == self._before:
            return True
        if self._before is not None and (now[0] != self._before[0] or now[1] < self._size):
            return False
        with self.path.open("rb") as stream:
            stream.seek(self._size)
            while data := stream.read(_CHUNK):
                self._size += len(data)
                for number, line in self._lines.feed(data):
                    self._take(number, line)
        self._before = now
        return True

    def _take(self, line_number: int, line: bytes) -> None:
        fields = text(line).split()
        found = [number(each) for each in fields[:_FIELDS]]
        point = [each for each in found if isinstance(each, float)]
        if len(point) == _FIELDS and math.isfinite(point[-1]):
            time, value, step = point
            self.points.add(step, value, time)
        elif fields:
            self._broken.append(Skipped(self._name, line_number, "not a time, a value and a step"))

    @property
    def skipped(self) -> list[Skipped]:
        """Lines that are no points."""
        return [*self._broken, *self._lines.skipped]

    @property
    def is_torn(self) -> bool:
        """Whether a line has begun and not ended."""
        return any(True for _ in deepcopy(self._lines).finish())


def _entries(source: Source) -> dict[str, str]:
    """The entries of a ``meta.yaml`` that are plain text."""
    found = (_ENTRY.fullmatch(text(line)) for _, line in Lines(source))
    return {entry[1]: entry[2].strip().strip("'\"") for entry in found if entry is not None}


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Name and file of every metric: a name with slashes lies in folders."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            yield path.relative_to(folder).as_posix(), path


def _parameters(folder: Path) -> dict[str, object]:
    out: dict[str, object] = {}
    for key, path in _files(folder / "params"):
        with path.open("rb") as stream:
            out[key] = parameter(text(stream.read(_LONGEST_PARAMETER)).strip())
    return out


MLFLOW_FILES = MlflowFiles()
