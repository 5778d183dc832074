"""Tables in HTML, as notebooks show them: names and rows of cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

MOST_CELLS = 10_000_000
_CELLS = ("td", "th")


@dataclass(slots=True)
class HtmlTable:
    """A table.

    Attributes:
        names: Its header, the last row of it where there are several; empty where it has none.
        rows: Cells of every other row.
    """

    names: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[HtmlTable] = []
        self._open: list[HtmlTable] = []
        self._row: list[str] = []
        self._heads = 0
        self._cell: list[str] | None = None
        self._cells = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag == "table":
            self._open.append(HtmlTable())
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
            self.found.append(self._open.pop())

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def close(self) -> None:
        super().close()
        self._end_row()
        self.found += self._open
        self._open = []

    def _end_cell(self) -> None:
        if self._cell is not None and self._cells < MOST_CELLS:
            self._row.append(" ".join("".join(self._cell).split()))
            self._cells += 1
        self._cell = None

    def _end_row(self) -> None:
        self._end_cell()
        if self._row and self._open:
            table = self._open[-1]
            if self._heads == len(self._row) and not table.rows:
                table.names = self._row
            else:
                table.rows.append(self._row)
        self._row, self._heads = [], 0


def html_tables(text: str) -> list[HtmlTable]:
    """Every table in a piece of HTML, whole or cut, in the order of their ends."""
    parser = _Tables()
    parser.feed(text)
    parser.close()
    return parser.found
