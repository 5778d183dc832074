"""What the layout of a tracker's database offers: the runs in it, taken in as they come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

from holter.errors import UnreadableLogError
from holter.readers.base import RawLog
from holter.readers.growth import GivenRows
from holter.readers.stores.sqlite import Appended

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from holter.readers.base import Source
    from holter.readers.plausibility import NotALogError


class Runs(Protocol):
    """The runs of a database."""

    def __init__(self, source: Source, reader: str) -> None:
        """Begin.

        Args:
            source: The database.
            reader: Name of the reader.
        """
        ...

    def files(self) -> Iterator[Path]:
        """Files beside the database in which the numbers lie, where they lie in none of its tables."""
        ...

    def pull(self, connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]]) -> bool:
        """Take in what came. False where something that was there has gone, and all must be read again."""
        ...

    def fresh(self) -> list[RawLog]:
        """The rows that came since the last call."""
        ...

    def logs(self, *, at_last: bool = False) -> Iterator[RawLog | NotALogError]:
        """One log for every run; the reason instead, where a run is none.

        Args:
            at_last: Whether nothing more is asked afterwards, so that what is not needed any more need not be held.
        """
        ...


class AppendedRuns(ABC):
    """Runs whose rows are appended to a table of metrics, and in no file beside the database."""

    def __init__(self, source: Source, reader: str) -> None:
        """Begin. `source` is the database, `reader` the name of the reader."""
        self._file, self._reader = source.name, reader
        self._rows = Appended("metrics")

    def files(self) -> Iterator[Path]:
        """None: all lies in the tables."""
        yield from ()

    def pull(self, connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]]) -> bool:
        """Take in the rows that came. False where rows that were there have gone."""
        if not self._rows.only_grew(connection):
            return False
        self._take(connection, tables)
        return True

    @abstractmethod
    def _take(self, connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]]) -> None:
        """Take in the rows that came, of which none that were there have gone."""


class RunsReadWhole(ABC):
    """Runs that cannot be asked for what is new: all of them are read again whenever they changed."""

    def __init__(self, source: Source, reader: str) -> None:
        """Begin. `source` is the database, `reader` the name of the reader."""
        self._file, self._reader = source.name, reader
        self._path = source.path
        self._found: list[RawLog | NotALogError] = []
        self._given = GivenRows()

    @property
    def _folder(self) -> Path:
        """Where the database lies.

        Raises:
            UnreadableLogError: When it came from elsewhere than a file.
        """
        if self._path is None:
            raise UnreadableLogError.of(
                self._file, "the numbers of its runs lie in files beside it.", "Give the folder."
            )
        return self._path.parent

    @abstractmethod
    def files(self) -> Iterator[Path]:
        """Files beside the database in which the numbers lie."""

    @abstractmethod
    def _read(
        self, connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]]
    ) -> Iterator[RawLog | NotALogError]:
        """One log for every run; the reason instead, where a run is none."""

    def pull(self, connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]]) -> bool:
        """Read all of them."""
        self._found = list(self._read(connection, tables))
        return True

    def fresh(self) -> list[RawLog]:
        """The rows that came since the last call."""
        return list(self._given.new([log for log in self._found if isinstance(log, RawLog)]))

    def logs(self, *, at_last: bool = False) -> Iterator[RawLog | NotALogError]:  # noqa: ARG002 - all are held anyway
        """One log for every run."""
        yield from self._found
