"""A table of metrics in HTML, row by row made into a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import said
from holter.readers.cells import is_header, own_names
from holter.readers.numbers import Gap
from holter.readers.records import Records
from holter.readers.table_text import value

if TYPE_CHECKING:
    from holter.readers.base import RawLog

NAME = "html-table"


class HtmlLog:
    """A table of metrics. A column without a name is an index."""

    def __init__(self, file: str, names: list[str]) -> None:
        self._file, self._width, self._rows = file, len(names), 0
        self._kept = [index for index, name in enumerate(names) if name]
        own, notes = own_names(names[index] for index in self._kept)
        self._names = tuple(own)
        self._records = Records(file, none=Gap.ABSENT)
        self._records.notes += notes

    @classmethod
    def of(cls, file: str, names: list[str]) -> HtmlLog | None:
        """The table with this header; None where it cannot be that of a log."""
        return cls(file, names) if names and is_header(names) else None

    def row(self, cells: list[str]) -> None:
        """Add a row."""
        self._rows += 1
        if len(cells) != self._width:
            why = said(
                "row {row} of a table has {n} cells where the header has {names}",
                row=self._rows,
                n=len(cells),
                names=self._width,
            )
            self._records.skip(None, why)
            return
        values = [value(cells[index]) for index in self._kept]
        self._records.table.row(self._names, [None if isinstance(v, Gap) else v for v in values], self._rows)

    def log(self) -> RawLog | None:
        """The log that it is; None where it is no log of training."""
        try:
            return self._records.log(self._file, NAME, lines=False)
        except UnreadableLogError:
            return None
