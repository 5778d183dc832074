"""Logs that are read as they grow: bytes in, and at any time what a reading from the start would say.

A reader that offers `GrowingReader.grow` keeps what it has understood between two pieces. What a log says *so far* depends on
how it ends here (a torn line is no row yet), so it is told by a copy that is ended, while the original goes on.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from holter.readers.base import RawLog, Reader
from holter.readers.encoding import TOLD_BY
from holter.readers.lines import LineFeed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from holter.readers.base import Source
    from holter.readers.lines import Lines
    from holter.readers.table import Table

LONGEST_HEAD = 1 << 20
"""Bytes from which on a text that has no line end yet is no longer looked at from its beginning."""


@runtime_checkable
class Growing(Protocol):
    """A log in the middle of being written."""

    parts: tuple[Path, ...]
    """Its files, in the order in which they are to be fed first."""
    outlives_rotation: bool
    """Whether a new file under the name of one that was moved away goes on with the log."""

    def join(self, part: Path) -> bool:
        """Take in another file of the run, whose bytes will be fed. False where all must be read again because of it."""
        ...

    def feed(self, part: Path, data: bytes) -> None:
        """More bytes of one of its files."""
        ...

    def fresh(self) -> RawLog | None:
        """The rows that came since the last call, as the file says them; None where none did.

        Costs what these rows cost, however long the log is. What is told from a log as a whole (which rows are evaluations,
        whether it is a log at all) is not applied. A row that was given out and has gained values comes once more.
        """
        ...

    def logs(self) -> list[RawLog]:
        """What reading the bytes so far from the start gives.

        Raises:
            UnreadableLogError: When there is no log in them, as `Reader.read` says it.
        """
        ...


@runtime_checkable
class GrowingReader(Reader, Protocol):
    """A reader of a format that is only ever appended to."""

    def grow(self, source: Source) -> Growing | None:
        """A log of which nothing has been read yet; None where it cannot be read piece by piece as it is now.

        Args:
            source: Names the file, or its `parts`, none of them packed. Their bytes come by `Growing.feed`.
        """
        ...


@runtime_checkable
class Store(Protocol):
    """A log in a place that keeps order itself and is asked for what is new: rows of a database, points in many files."""

    def pull(self) -> bool:
        """Take in what was written since the last call. False where it did not only grow, and all must be read again.

        Raises:
            UnreadableLogError: When it cannot be read now; what was taken in before still holds.
        """
        ...

    def fresh(self) -> list[RawLog]:
        """The rows that came since the last call, run by run, as `Growing.fresh` gives those of one."""
        ...

    def logs(self) -> list[RawLog]:
        """What reading all that was taken in from the start gives.

        Raises:
            UnreadableLogError: When there is no log in it, as `Reader.read` says it.
        """
        ...


@runtime_checkable
class StoreReader(Reader, Protocol):
    """A reader of a format that lies in a `Store`."""

    def store(self, source: Source) -> Store:
        """The store that `source` names, a file that is not packed. Nothing is taken in yet."""
        ...


def stamp(path: Path) -> tuple[int, int, int] | None:
    """The same as long as a file is not changed; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def later_rows(log: RawLog, first: int) -> RawLog:
    """The rows of a log from `first` on, counted from there."""
    columns = {key: part for key, column in log.columns.items() if len((part := column.between(first)).at)}
    lines = None if log.lines is None else log.lines[first:]
    return replace(log, rows=log.rows - first, columns=columns, lines=lines, resumes=None)


class GivenRows:
    """How many rows of each log were given out, where a log is only ever known as a whole."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}

    def new(self, logs: Sequence[RawLog]) -> Iterator[RawLog]:
        """The rows of logs that were not given out; all of them where a log has become shorter."""
        for log in logs:
            # A file that has come to hold several runs names them by other names than the one before.
            name = log.name if len(logs) > 1 else ""
            before = self._rows.get(name, 0)
            self._rows[name] = log.rows
            if log.rows != before:
                yield later_rows(log, before if log.rows > before else 0)

    def add(self, rows: int) -> None:
        """Rows of a single log were given out in another way."""
        self._rows[""] = self._rows.get("", 0) + rows


class LineRows(Protocol):
    """Makes rows of lines. Copied deeply in time linear in what it holds."""

    def add(self, number: int, line: bytes) -> None:
        """One more line."""
        ...

    def settle(self) -> Table | None:
        """Make rows of all lines that came; the table that has most of them, None where there is none."""
        ...

    def logs(self, lines: Lines | LineFeed) -> Iterator[RawLog]:
        """What the lines so far say.

        Args:
            lines: Where they came from.

        Raises:
            UnreadableLogError: When there is no log in them.
        """
        ...


class GrowingLines:
    """A log of lines that grows."""

    outlives_rotation = True

    def __init__(self, source: Source, reader: str, rows: Callable[[], LineRows]) -> None:
        """Begin.

        Args:
            source: The file.
            reader: Name of the reader.
            rows: Begins to make rows of its lines.
        """
        self.parts = source.files
        self._name, self._reader, self._begin = source.name, reader, rows
        self._head: bytes | None = b""
        self._state = LineFeed(source.name), rows()
        self._given = self._newest = 0
        self._touched = False

    def join(self, part: Path) -> bool:  # noqa: ARG002 - there is one file
        """Never."""
        return False

    def feed(self, part: Path, data: bytes) -> None:  # noqa: ARG002 - there is one file
        """More bytes of the file."""
        self._touched = True
        if self._head is None:
            _add(self._state, data)
            return
        # What a text begins with decides its encoding and its line ends, so it is looked at together.
        self._head += data
        if (len(self._head) >= TOLD_BY and b"\n" in self._head[:TOLD_BY]) or len(self._head) >= LONGEST_HEAD:
            head, self._head = self._head, None
            _add(self._state, head)

    def _now(self) -> tuple[LineFeed, LineRows]:
        """The lines so far."""
        if self._head is None:
            return self._state
        state = LineFeed(self._name), self._begin()
        _add(state, self._head)
        return state

    def fresh(self) -> RawLog | None:
        """The rows of whole lines that came since the last call."""
        if not self._touched:
            return None
        self._touched = False
        table = self._now()[1].settle()
        if table is None:
            return None
        if len(table) < self._given:
            # Rows of a surer form came: they are the log, and those given out before were none.
            self._given = self._newest = 0
        first = max(self._given - 1, 0)
        columns = table.since(first)
        if self._given and sum(c.at[0] == 0 for c in columns.values()) <= self._newest:
            columns = {key: part for key, column in columns.items() if len((part := column.between(1)).at)}
            first += 1
        self._given = len(table)
        if first == self._given:
            return None
        last = self._given - first - 1
        self._newest = sum(int(c.at[-1] == last) for c in columns.values())
        return RawLog(name=self._name, reader=self._reader, rows=last + 1, columns=columns, lines=table.lines(first))

    def logs(self) -> list[RawLog]:
        """What reading the bytes so far from the start gives."""
        lines, rows = deepcopy(self._now())
        for number, line in lines.finish():
            rows.add(number, line)
        return list(rows.logs(lines))


def _add(state: tuple[LineFeed, LineRows], data: bytes) -> None:
    lines, rows = state
    add = rows.add
    for number, line in lines.feed(data):
        add(number, line)
