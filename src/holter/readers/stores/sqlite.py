"""SQLite databases opened for reading only, whoever is writing to them."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from holter.errors import UnreadableLogError, reason
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import Source

SIGNATURE = b"SQLite format 3\x00"
BESIDE = ("-wal", "-journal")
"""Ends of the names of what SQLite writes to before it writes to the database."""
LARGEST = 1 << 30
"""Bytes of the largest database that is read from a stream, which has to be held in memory."""
_VERSIONS = slice(18, 20)
_PATIENCE = 5.0
"""Seconds to wait for a writer."""


@contextmanager
def opened(source: Source) -> Iterator[sqlite3.Connection]:
    """A connection to the database that `source` is, closed at the end.

    Raises:
        UnreadableLogError: When it is damaged, locked or too large.
    """
    try:
        connection = _connected(source)
        try:
            yield connection
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise UnreadableLogError.of(
            source.name,
            said("the database cannot be read ({error}).", error=reason(error)),
            "Copy it with `sqlite3 FILE '.backup COPY'` while nothing writes to it, and give the copy.",
        ) from error


def _connected(source: Source) -> sqlite3.Connection:
    if source.path is not None and _begins_like_one(source):
        path = source.path.resolve().as_uri()
        with suppress(sqlite3.OperationalError):
            return _tried(sqlite3.connect(f"{path}?mode=ro", uri=True, timeout=_PATIENCE))
        # Where nothing may be written beside the file, a write-ahead log cannot be opened and is left aside.
        return _tried(sqlite3.connect(f"{path}?immutable=1", uri=True))
    with source.open() as stream:
        data = bytearray(stream.read(LARGEST + 1))
    if len(data) > LARGEST:
        raise UnreadableLogError.of(
            source.name,
            said("the database is larger than {most} GiB.", most=LARGEST >> 30),
            "Unpack it to a file and give the file.",
        )
    data[_VERSIONS] = b"\x01\x01"  # in memory there is no write-ahead log
    connection = sqlite3.connect(":memory:")
    connection.deserialize(bytes(data))
    return _tried(connection)


def _begins_like_one(source: Source) -> bool:
    assert source.path is not None
    with source.path.open("rb") as stream:
        return stream.read(len(SIGNATURE)) == SIGNATURE


def _tried(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    connection.text_factory = lambda data: data.decode("utf-8", errors="replace")
    return connection


def tables(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """The columns of every table."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: frozenset(row[1] for row in connection.execute(f"PRAGMA table_info({_quoted(name)})"))
        for name in names
        if isinstance(name, str)
    }


class Appended:
    """Rows of a table to which rows are only added, as they come."""

    def __init__(self, table: str) -> None:
        """Begin. `table` is the name of a table that numbers its rows."""
        self._table = table
        self._last = 0
        self._remembered: dict[int, tuple[object, ...]] = {}

    def only_grew(self, connection: sqlite3.Connection) -> bool:
        """Whether the newest row that was read, and those that were to be remembered, are what they were."""
        return all(self._row(connection, number) == row for number, row in self._remembered.items())

    def new(self, connection: sqlite3.Connection, *columns: str) -> Iterator[tuple[Any, ...]]:
        """The rows that came, in their order, each with its number first. `columns` are what is wanted of them, in SQL."""
        (newest,) = connection.execute(f"SELECT max(rowid) FROM {self._table}").fetchone()
        if newest is None or newest <= self._last:
            return
        before = self._last
        for row in connection.execute(
            f"SELECT rowid, {', '.join(columns)} FROM {self._table} WHERE rowid > ? AND rowid <= ? ORDER BY rowid",
            (before, newest),
        ):
            yield row
            # Should the next row not be readable, this one is not taken in twice.
            self._last = row[0]
        self._remembered.pop(before, None)
        self.remember(connection, self._last)

    def remember(self, connection: sqlite3.Connection, number: int) -> None:
        """Look from now on whether a row is still what it is."""
        row = self._row(connection, number)
        if row is not None:
            self._remembered[number] = row

    def _row(self, connection: sqlite3.Connection, number: int) -> tuple[object, ...] | None:
        found = connection.execute(f"SELECT * FROM {self._table} WHERE rowid = ?", (number,)).fetchone()
        return None if found is None else tuple(found)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
