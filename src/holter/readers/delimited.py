"""CSV and its relatives: a header line, then rows of cells between commas, tabs, semicolons or bars.

An empty cell is absent, ``nan`` is a value. Spreadsheets of many countries write decimal commas and semicolons; digits in
groups are refused, because what they say would be a guess.
"""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING

import orjson

from holter.errors import UnreadableLogError
from holter.language import said
from holter.readers.cells import (
    DecimalSigns,
    Layout,
    is_header,
    is_number,
    layout,
    may_be_cut,
    own_names,
    refuse_grouped_digits,
    split,
)
from holter.readers.encoding import is_text
from holter.readers.exports import exported_logs, is_long, named_by_file, widened
from holter.readers.growth import GrowingLines
from holter.readers.lines import Lines, text
from holter.readers.numbers import Gap
from holter.readers.plausibility import objection
from holter.readers.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holter.readers.base import RawLog, Source
    from holter.readers.growth import Growing
    from holter.readers.lines import LineFeed
    from holter.readers.table import Table

_SUFFIXES = (".csv", ".tsv", ".tab")
_LOOKED_AT = 200
"""Lines that decide the layout."""
_BATCH = 512
_MOST_JOINED = 100
_REMEMBERED = 50
_NOT_PLAIN = (b'"', b"{", b"[", b"]", b"true", b"false", b"null")
"""What JSON would read as something that it is not in delimited text."""


class Delimited:
    """Reads ``.csv`` and ``.tsv`` files, and any text that is laid out like them."""

    name = "csv"
    title = "CSV, TSV and the like, with a header line; exports of W&B and TensorBoard"
    priority = 400

    def recognises(self, name: str, head: bytes) -> bool:
        """By suffix, or by a header that names a step or a metric of training over lines of numbers."""
        if not is_text(head):
            return False
        if name.lower().removesuffix(".gz").endswith(_SUFFIXES):
            return True
        lines = text(head).splitlines()
        if not head.endswith(b"\n") and len(lines) > _MOST_JOINED:
            lines = lines[:-1]
        return layout(lines[:_LOOKED_AT], strict=True) is not None

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log, or one for every run in an export of several.

        Raises:
            UnreadableLogError: When there is no header, nothing of a training run, or numbers whose digits are grouped.
        """
        lines, table = Lines(source), _Table(source)
        for number, line in lines:
            table.add(number, line)
        yield from table.logs(lines)

    def grow(self, source: Source) -> Growing:
        """One log, line by line."""
        return GrowingLines(source, self.name, lambda: _Table(source))


class _Table:
    """Lines of which the first ones say how they are laid out."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._first: list[tuple[int, bytes]] = []
        self._rows: _Rows | None = None

    def add(self, number: int, line: bytes) -> None:
        """One more line."""
        if self._rows is not None:
            self._rows.add(number, line)
            return
        self._first.append((number, line))
        if len(self._first) == _LOOKED_AT:
            self._begin()

    def _begin(self) -> _Rows:
        """The rows, once it is known how they are laid out.

        Raises:
            UnreadableLogError: When that cannot be told.
        """
        laid_out = self._layout(self._source, [text(line) for _, line in self._first])
        self._rows = _Rows(self._source, Records(self._source.name, none=Gap.ABSENT), laid_out)
        for number, line in self._first[laid_out.header + 1 :]:
            self._rows.add(number, line)
        self._first = []
        return self._rows

    def settle(self) -> Table | None:
        """The table of the lines so far."""
        so_far = deepcopy(self)
        try:
            rows = so_far._rows or so_far._begin()
        except UnreadableLogError:
            return None
        rows.finish(ended=True)
        return rows.records.table

    def logs(self, lines: Lines | LineFeed) -> Iterator[RawLog]:
        """One log, or one for every run in an export of several."""
        rows = self._rows or self._begin()
        rows.finish(ended=lines.ended)
        records, name = rows.records, self._source.name
        rows.signs.refuse_doubt(name)
        refuse_grouped_digits(name, records.table, records.table.columns())
        records.skipped += lines.skipped
        read = records.log(name, DELIMITED.name, notes=[*lines.notes, *rows.notes])
        yield from exported_logs(named_by_file(read))

    def _layout(self, source: Source, lines: list[str]) -> Layout:
        found = layout(lines, strict=False)
        if found is not None:
            return found
        filled = [line.strip() for line in lines if line.strip()]
        if len(filled) > 1 and is_header(filled[:1]) and all(map(is_number, filled[1:])):
            return Layout(",", next(i for i, line in enumerate(lines) if line.strip()), (filled[0],))
        if filled and all(is_number(c) for c in split(filled[0], ",")):
            why = "the columns have no names: its first line holds numbers."
        else:
            why = "no header line with rows of as many cells below it was found."
        raise UnreadableLogError.of(
            source.name, why, "Put a line of names first, such as `step,reward,kl,policy_loss,value_loss`."
        )


class _Rows:
    """Takes lines apart and adds them to the records."""

    def __init__(self, source: Source, records: Records, laid_out: Layout) -> None:
        self.source = source
        self.records = records
        self.delimiter = laid_out.delimiter
        self.notes: list[str] = []
        self.last_cells: deque[str] = deque(maxlen=_REMEMBERED)
        self.signs = DecimalSigns()
        self.waiting: list[tuple[int, bytes]] = []
        self._name(laid_out.names)

    def _name(self, header: Iterable[str]) -> None:
        self.header = tuple(header)
        names, notes = own_names(self.header)
        self.names = tuple(names)
        self.notes += notes
        self.long = is_long(self.header)

    def add(self, number: int, line: bytes) -> None:
        """One more line."""
        if line.strip():
            self.waiting.append((number, line))
        if len(self.waiting) > _BATCH:
            self._batch(self.waiting[:-1])
            self.waiting = self.waiting[-1:]

    def finish(self, *, ended: bool) -> None:
        """No more lines: the last one counts only as far as it is certainly whole.

        Args:
            ended: Whether it has its line end.
        """
        batch, self.waiting = self.waiting, []
        if batch and not ended and self.source.path is not None:
            *batch, last = batch
            self._batch(batch)
            self._last(*last)
        else:
            self._batch(batch)

    def _batch(self, batch: list[tuple[int, bytes]]) -> None:
        fast = None if self.long else self._as_json([line for _, line in batch])
        if fast is not None:
            row, names = self.records.table.row, self.names
            for (number, _), values in zip(batch, fast, strict=True):
                row(names, values, number)
            if batch and self.delimiter != ",":
                self._cells(batch[0][0], text(batch[0][1]))
            for _, line in batch[-_REMEMBERED:]:
                self.last_cells.append(line.rsplit(self.delimiter.encode(), 1)[-1].decode().strip())
            return
        lines = iter(batch)
        for number, line in lines:
            shown = text(line)
            if shown.count('"') % 2 == 0:
                self._row(number, self._cells(number, shown))
            else:
                self._open_quote(number, shown, lines)

    def _as_json(self, lines: list[bytes]) -> list[list[object]] | None:
        """The values of lines that hold nothing but plain numbers and gaps: such lines are nearly JSON."""
        body = b"\n".join(lines)
        if any(sign in body for sign in _NOT_PLAIN) or (self.delimiter != "," and b"," in body):
            return None
        body = b"[[" + body.replace(self.delimiter.encode(), b",").replace(b"\n", b"],[") + b"]]"
        for gap, filled in ((b",,", b",null,"), (b",,", b",null,"), (b"[,", b"[null,"), (b",]", b",null]")):
            body = body.replace(gap, filled)
        if b"nan" in body:
            body = body.replace(b",nan", b',"nan"').replace(b"[nan", b'["nan"')
        try:
            found: list[list[object]] = orjson.loads(body)
        except orjson.JSONDecodeError:
            return None
        n = len(self.names)
        return found if len(found) == len(lines) and all(len(row) == n for row in found) else None

    def _cells(self, number: int, shown: str) -> list[str]:
        cells = split(shown, self.delimiter)
        return cells if self.delimiter == "," else self.signs.plain(cells, number)

    def _open_quote(self, number: int, shown: str, more: Iterator[tuple[int, bytes]]) -> None:
        """Add a line with the lines that its open quote reaches over; each on its own where the quote is never closed."""
        together, taken = shown, [(number, shown)]
        for later, line in islice(more, _MOST_JOINED):
            taken.append((later, text(line)))
            together += "\n" + taken[-1][1]
            if together.count('"') % 2 == 0:
                self._row(number, self._cells(number, together))
                return
        self.records.skip(number, "a quote is opened and not closed")
        for later, alone in taken:
            self._row(later, self._cells(later, alone.replace('"', "")))

    def _row(self, number: int, cells: list[str]) -> None:
        while len(cells) > len(self.names) and not cells[-1]:
            cells.pop()
        if len(cells) < len(self.header) and not any(self.header[len(cells) :]):
            cells += [""] * (len(self.header) - len(cells))
        if tuple(cells) == self.header:
            self.notes.append(said("the header is repeated in line {line}: the file was appended to", line=number))
        elif len(cells) > 1 and is_header(cells) and len(set(cells)) == len(cells) and objection(cells) is None:
            self.notes.append(said("other columns begin in line {line}", line=number))
            self._name(cells)
        elif cells[0].startswith("#"):
            return
        elif len(cells) != len(self.names):
            self.records.skip(
                number, said("{n} cells where the header has {names}", n=len(cells), names=len(self.names))
            )
        elif self.long:
            widened(self.records, self.names, cells, number)
        else:
            self.records.table.row(self.names, cells, number)
            self.last_cells.append(cells[-1])

    def _last(self, number: int, line: bytes) -> None:
        """A last line without a line end: a hand-made file, or a file that is being written."""
        cells = self._cells(number, text(line))
        if len(cells) < len(self.names):
            self.notes.append("the last line is not finished yet, so it is not a row")
            return
        if len(cells) == len(self.names) and may_be_cut(cells[-1], self.last_cells):
            self.notes.append(
                said(
                    "the last line has no line end, so its last cell ({metric}) may be cut and was left out",
                    metric=self.names[-1],
                )
            )
            cells[-1] = ""
        self._row(number, cells)


DELIMITED = Delimited()
