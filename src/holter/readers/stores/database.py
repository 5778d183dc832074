"""Databases of trackers: one log for every run in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import said, some
from holter.readers.growth import stamp
from holter.readers.plausibility import NotALogError
from holter.readers.stores import aim, mlflow_database, swanlab_database, trackio
from holter.readers.stores.sqlite import BESIDE, SIGNATURE, opened, tables

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from holter.readers.base import RawLog, Source
    from holter.readers.growth import Store
    from holter.readers.stores.layout import Runs

_LAYOUTS = (trackio, mlflow_database, aim, swanlab_database)
_NAMED = 6


class TrackerDatabase:
    """Reads the SQLite files of Trackio, MLflow, Aim and SwanLab."""

    name = "tracker-database"
    title = "databases of Trackio (<project>.db), MLflow, SwanLab's local mode and Aim (with its package), every run in them"
    priority = 30

    def recognises(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the signature says it all
        """By the signature of SQLite."""
        return head.startswith(SIGNATURE)

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log for every run.

        Raises:
            UnreadableLogError: When the database is damaged, no tracker's, or holds no run of training.
        """
        with opened(source) as connection:
            runs = _runs(connection, source, self.name)
            runs.pull(connection, tables(connection))
            yield from _found(source, runs.logs(at_last=True))

    def store(self, source: Source) -> Store:
        """The database, which is asked for the rows that came."""
        return _Database(source, self.name)


def _runs(connection: sqlite3.Connection, source: Source, reader: str) -> Runs:
    """The runs of the tracker whose database it is, none of them taken in yet."""
    found = tables(connection)
    for layout in _LAYOUTS:
        if layout.fits(found):
            runs: Runs = layout.Runs(source, reader)
            return runs
    raise NotALogError.of(
        source.name,
        said(
            "the database is none of Trackio, MLflow, Aim or SwanLab; its tables: {names}.",
            names=some(list(found), _NAMED) or said("none"),
        ),
        "Export the metrics of the run as CSV or JSON lines.",
    )


def _found(source: Source, logs: Iterable[RawLog | NotALogError]) -> list[RawLog]:
    """The runs that are any."""
    read: list[RawLog] = []
    refused: NotALogError | None = None
    for log in logs:
        if isinstance(log, NotALogError):
            refused = refused or log
        else:
            read.append(log)
    if not read:
        raise refused or UnreadableLogError.of(source.name, "it holds no run, so there is nothing to read yet.")
    return read


class _Database:
    """A database that somebody writes to."""

    def __init__(self, source: Source, reader: str) -> None:
        self._source, self._reader = source, reader
        self._runs: Runs | None = None
        self._state: list[tuple[int, int, int] | None] | None = None

    def pull(self) -> bool:
        """Take in the rows that came."""
        state = self._now()
        if state == self._state or state[0] is None:
            return True
        if self._state is not None and self._state[0] is not None and self._state[0][0] != state[0][0]:
            return False
        with opened(self._source) as connection:
            if self._runs is None:
                self._runs = _runs(connection, self._source, self._reader)
            grew = self._runs.pull(connection, tables(connection))
        # What was written meanwhile changes what the files were before.
        self._state = state
        return grew

    def fresh(self) -> list[RawLog]:
        """The rows that came since the last call."""
        return self._runs.fresh() if self._runs is not None else []

    def logs(self) -> list[RawLog]:
        """Every run."""
        return _found(self._source, self._runs.logs() if self._runs is not None else ())

    def _now(self) -> list[tuple[int, int, int] | None]:
        """The same as long as nothing is written to it; the database itself first."""
        path = self._source.path
        assert path is not None, "what is followed is a file"
        files = [path, *(path.with_name(path.name + end) for end in BESIDE)]
        if self._runs is not None:
            files += self._runs.files()
        return [stamp(file) for file in files]


TRACKER_DATABASE = TrackerDatabase()
