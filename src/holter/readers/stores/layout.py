"""What the layout of a tracker's database offers: the runs in it, taken in as they come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

from holter.readers.base import RawLog
from holter.readers.growth import GivenRows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from holter.readers.plausibility import NotALogError


class Runs(Protocol):
    """The runs of a database."""

    def __init__(self, file: str, reader: str) -> None:
        """Begin.

        Args:
            file: What messages call the database.
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


class RunsReadWhole(ABC):
    """Runs that cannot be asked for what is new: all of them are read again whenever they changed."""

    def __init__(self, file: str, reader: str) -> None:
        self._file, self._reader = file, reader
        self._found: list[RawLog | NotALogError] = []
        self._given = GivenRows()

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
