"""What a reader is: one file format in, raw columns out. It knows a format and no framework's names.

Raw columns keep what the file says, under the names the file uses: NaN stays NaN, ``null`` is told apart from absent,
every row remembers its line. What a name *means* is the dialects' business.
"""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, BinaryIO, Protocol, runtime_checkable

import numpy as np

from holter.errors import UnreadableLogError, place
from holter.language import phrase, said, sentences
from holter.readers.encoding import as_utf8, encoding_of
from holter.readers.unpacking import damage, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from holter.errors import HolterError

HEAD = 4096
"""Bytes of a file that decide which reader takes it."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in a file that was not read, with the place and the reason."""

    file: str
    line: int | None
    why: str

    @classmethod
    def of(cls, file: str, error: HolterError) -> Skipped:
        """An error as a refusal of the file, which it need not name once more."""
        where = (
            re.fullmatch(rf"{re.escape(place(file))}:(?:(\d+):)?", str(error.args[0])) if len(error.args) > 1 else None
        )
        if where is None:
            return cls(file, None, sentences(error.args))
        return cls(file, int(where[1]) if where[1] else None, sentences(error.args[1:]))

    @property
    def place(self) -> str:
        """The file, and the line where it is known."""
        return place(self.file, self.line)

    def __str__(self) -> str:
        return f"{self.place}: {self.why}"


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes to read, from a file, from several files of one run, or from standard input.

    Attributes:
        name: What messages call it: the path as the user typed it, or ``standard input``.
        path: The file, or None when the bytes came from elsewhere.
        data: The bytes, when they are not in a file.
        parts: The files of one run that a gathering reader reads together, in the order of their names; `path` is the
            first of them. Empty for a single file.
        keep: Which raw names are wanted, where not all are. Readers of formats that can be too large for the memory leave
            the others aside while they read.
    """

    name: str
    path: Path | None = None
    data: bytes | None = None
    parts: tuple[Path, ...] = ()
    keep: Callable[[str], bool] | None = None

    @classmethod
    def of(cls, path: Path) -> Source:
        """A file on disk. Bytes of its name that are no text are replaced in what messages call it."""
        return cls(os.fsencode(path).decode("utf-8", errors="replace"), path=path)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it is; none where the bytes came from elsewhere."""
        return self.parts or (() if self.path is None else (self.path,))

    def open(self) -> BinaryIO:
        """A fresh stream over the bytes; what is packed is unpacked on the way, as far as it is not damaged.

        Raises:
            UnreadableLogError: While reading, when the packed bytes unpack to an absurd size.
        """
        if self.data is not None:
            return unpacked(io.BytesIO(self.data), self.name)
        assert self.path is not None, "a source has a path or data"
        return unpacked(self.path.open("rb"), self.name)

    def head(self) -> bytes:
        """The first bytes, as far as they go; UTF-8 when they are text in another encoding that can be told.

        Raises:
            UnreadableLogError: When the bytes are packed and damaged from their beginning.
        """
        with self.open() as stream:
            head = stream.read(HEAD)
            wrong = damage(stream) if not head else None
        if wrong:
            raise UnreadableLogError.of(self.name, said("{why}.", why=phrase(wrong)), "Copy the file again.")
        return b"".join(as_utf8([head], encoding_of(head)))


@dataclass(frozen=True, slots=True, eq=False)
class RawColumn:
    """One name's values over the rows of a log.

    Attributes:
        at: Row positions that hold a value, increasing. Shape ``(n,)``.
        values: The values; NaN and infinities as logged, NaN where the log wrote ``null``. Shape ``(n,)``.
        null: Which entries the log wrote as ``null``. Shape ``(n,)``, or None when there are none.
    """

    at: NDArray[np.int64]
    values: NDArray[np.float64]
    null: NDArray[np.bool_] | None = None

    def where(self, keep: NDArray[np.bool_] | NDArray[np.intp] | slice) -> RawColumn:
        """The entries that `keep` selects, in its order."""
        return RawColumn(self.at[keep], self.values[keep], None if self.null is None else self.null[keep])

    def between(self, first: int, end: int | None = None) -> RawColumn:
        """The entries in the rows from `first` up to `end`, which are counted from `first`. `end` is the log's, unless given."""
        low = int(np.searchsorted(self.at, first))
        high = len(self.at) if end is None else int(np.searchsorted(self.at, end))
        part = self.where(slice(low, high))
        return replace(part, at=part.at - first)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RawLog:
    """What one log says, under the names the log uses.

    Attributes:
        name: What to call it: the path, and which table of the file where there are several.
        reader: Name of the reader that made it.
        rows: Number of rows.
        columns: Numbers by raw name, in the order in which the names first appear.
        lines: 1-based line of each row where the format has lines. Shape ``(rows,)``.
        config: Hyper-parameters that the file itself carries.
        skipped: What could not be read, with line and reason.
        notes: Remarks for the user that are not faults ("12 histograms left aside").
        dialects: Names of the dialects of which it speaks one, where the format tells: those of the frameworks that print
            a console's rows in this form, or the one that a manifest names. Empty where only the names can tell.
        resumes: Rows at which a resumed run goes on, in a format that says so; None where only the steps can tell.
        clock: Name of the column that says when each row was logged, in seconds, in a format that says so.
    """

    name: str
    reader: str
    rows: int
    columns: Mapping[str, RawColumn]
    lines: NDArray[np.int64] | None = None
    config: Mapping[str, object] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()
    resumes: tuple[int, ...] | None = None
    clock: str = ""


@runtime_checkable
class Reader(Protocol):
    """Reads one file format. Instances are stateless; a module offers one as a constant."""

    name: str
    """Kebab-case name, ``trainer-state``."""
    title: str
    """What it reads, in a few words."""
    priority: int
    """Asked in rising order; formats with a signature come before those that take any text."""

    def recognises(self, name: str, head: bytes) -> bool:
        """Whether a file called `name`, whose first bytes are `head`, is this format. Never raises."""
        ...

    def read(self, source: Source) -> Iterator[RawLog]:
        """Every log in the file, usually one. A torn last line is not a row yet.

        Raises:
            UnreadableLogError: When nothing in the file can be read; names file, line and the way out.
        """
        ...


@runtime_checkable
class GatheringReader(Reader, Protocol):
    """A reader whose runs may lie in several files of one folder, as event files do after a restart."""

    def gathers(self, name: str) -> bool:
        """Whether files of one folder that are called like `name` are parts of one run. Never raises.

        Those of them that the reader recognises come as one source, with its `parts` in the order of their names.
        """
        ...


class ColumnBuilder:
    """Gathers rows of mixed keys into columns, in time linear in the number of values."""

    def __init__(self) -> None:
        self._at: dict[str, list[int]] = {}
        self._values: dict[str, list[float]] = {}
        self._null: dict[str, list[int]] = {}
        self._lines: list[int] = []

    def __len__(self) -> int:
        return len(self._lines)

    def row(self, items: Iterable[tuple[str, float | None]], line: int) -> None:
        """Add one row. None stands for a ``null`` that the log wrote."""
        position = len(self._lines)
        self._lines.append(line)
        for key, value in items:
            at = self._at.get(key)
            if at is None:
                at = self._at[key] = []
                self._values[key] = []
            if value is None:
                self._null.setdefault(key, []).append(len(at))
                value = float("nan")
            at.append(position)
            self._values[key].append(value)

    def columns(self) -> dict[str, RawColumn]:
        """The columns gathered so far."""
        out = {}
        for key, at in self._at.items():
            null = None
            if key in self._null:
                null = np.zeros(len(at), bool)
                null[self._null[key]] = True
            out[key] = RawColumn(np.asarray(at, np.int64), np.asarray(self._values[key], np.float64), null)
        return out

    def lines(self) -> NDArray[np.int64]:
        """1-based line of each row."""
        return np.asarray(self._lines, np.int64)
