"""Tables in HTML, as notebooks show them: names and rows of cells."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST_CELLS = 10_000_000
_CELLS = ("td", "th")
_PIECE = 1 << 16
"""Characters that are looked at together."""


class Rows(Protocol):
    """What takes the rows of a table."""

    def row(self, cells: list[str]) -> None:
        """The next row."""
        ...


T = TypeVar("T", bound=Rows)


class _Table(Generic[T]):
    """A table that is open: its header so far, the last row of it where there are several; and who takes its rows."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.begun = False
        self.rows: T | None = None


class _Tables(HTMLParser, Generic[T]):
    def __init__(self, begin: Callable[[list[str]], T | None]) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[T] = []
        self._begin = begin
        self._open: list[_Table[T]] = []
        self._row: list[str] = []
        self._heads = 0
        self._cell: list[str] | None = None
        self._cells = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag == "table":
            self._open.append(_Table())
            self._row, self._heads = [], 0
        elif tag == "tr":
            self._end_row()
        elif tag in _CELLS and self._open:
            self._end_cell()
            self._cell = []
            self._heads += tag == "th"
        elif tag == "br" and self._cell is not None:
            self._cell.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _CELLS:
            self._end_cell()
        elif tag == "tr":
            self._end_row()
        elif tag == "table" and self._open:
            self._end_row()
            self._end_table(self._open.pop())

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def close(self) -> None:
        super().close()
        self._end_row()
        for table in self._open:
            self._end_table(table)
        self._open = []

    def _end_table(self, table: _Table[T]) -> None:
        if table.rows is not None:
            self.found.append(table.rows)

    def _end_cell(self) -> None:
        if self._cell is not None and self._cells < MOST_CELLS:
            self._row.append(" ".join("".join(self._cell).split()))
            self._cells += 1
        self._cell = None

    def _end_row(self) -> None:
        self._end_cell()
        if self._row and self._open:
            table = self._open[-1]
            if self._heads == len(self._row) and not table.begun:
                table.names = self._row
            else:
                if not table.begun:
                    table.begun, table.rows = True, self._begin(table.names)
                if table.rows is not None:
                    table.rows.row(self._row)
        self._row, self._heads = [], 0


def html_tables(pieces: Iterable[str], begin: Callable[[list[str]], T | None]) -> list[T]:
    """Every table with a row in a text of HTML, whole or cut, in the order of their ends.

    Args:
        pieces: The text.
        begin: Asked with the header of a table before its first row, empty where it has none: gives what takes its rows, or
            None where nobody wants them.

    Returns:
        What took the rows.
    """
    parser = _Tables(begin)
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        # What the parser keeps because it is not closed yet is gone through again with every call.
        if size >= max(_PIECE, len(parser.rawdata)):
            parser.feed("".join(held))
            held, size = [], 0
    parser.feed("".join(held))
    parser.close()
    return parser.found
