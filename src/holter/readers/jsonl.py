"""JSON Lines: one object a line, as trainers write them while they run.

Also lines of Python dictionaries as ``print`` shows them. A line that is broken costs that line; an unfinished last line is
not a row yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError, reason
from holter.language import phrase, said
from holter.readers.console.text_lines import MESSAGES
from holter.readers.encoding import is_text
from holter.readers.foreign import is_notebook
from holter.readers.growth import GrowingLines
from holter.readers.json_document import JSON_DOCUMENT, in_blocks, logs
from holter.readers.json_tables import tables
from holter.readers.json_text import loads_record
from holter.readers.lines import Lines
from holter.readers.plausibility import NotALogError, OtherFormatError
from holter.readers.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawLog, Source
    from holter.readers.growth import Growing
    from holter.readers.lines import LineFeed
    from holter.readers.table import Table

_SUFFIXES = (".jsonl", ".ndjson", ".jsonlines")


class Jsonl:
    """Reads ``.jsonl`` files, and any file whose first line is an object."""

    name = "jsonl"
    title = "JSON Lines, one object a line"
    priority = 200

    def recognises(self, name: str, head: bytes) -> bool:
        """By suffix, or by a first line that is a whole object, or the beginning of one that `head` cuts."""
        if not is_text(head) or is_notebook(head):
            return False
        if name.lower().removesuffix(".gz").endswith(_SUFFIXES):
            return True
        first, ended, _ = head.lstrip().partition(b"\n")
        if first[:1] != b"{" or not first[1:].strip():
            return False
        if not ended:
            return True
        try:
            return isinstance(loads_record(first.strip()), dict)
        except ValueError:
            return False

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log.

        Raises:
            UnreadableLogError: When no line is a record of a training run.
        """
        if b"\n" not in source.head():
            # A document written into one line is no long row, and not held whole.
            document = in_blocks(source)
            if document is not None:
                yield from document
                return
        lines, rows = Lines(source), _Rows(source)
        add = rows.add
        for number, line in lines:
            add(number, line)
        yield from rows.logs(lines)

    def grow(self, source: Source) -> Growing:
        """One log, line by line."""
        return GrowingLines(source, self.name, lambda: _Rows(source))


class _Rows:
    """Makes records of lines."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._records = Records(source.name, keep=source.keep)
        self._broken: tuple[int, str] | None = None
        self._others = 0
        self._only: dict[str, object] | None = None

    def add(self, number: int, line: bytes) -> None:
        """One more line."""
        stripped = line.strip()
        if not stripped:
            return
        records = self._records
        if self._broken is not None:
            records.skip(*self._broken)
            self._broken = None
        try:
            record = loads_record(stripped)
        except ValueError as error:
            self._broken = number, reason(error)
            self._others += 1
            return
        if type(record) is dict:
            if self._only is None and not len(records.table):
                self._only = record
            records.add(record, number, nested=stripped.find(b"{", 1) > 0)
        else:
            records.skip(number, said("a row is an object with names, not {kind}", kind=phrase(_kind(record))))

    def settle(self) -> Table:
        """The table of the records."""
        return self._records.table

    def logs(self, lines: Lines | LineFeed) -> Iterator[RawLog]:
        """One log, or those of a single object that holds tables."""
        records, source, others = self._records, self._source, self._others
        if self._broken is not None:
            if lines.ended or not len(records.table):
                records.skip(*self._broken)
            else:
                records.notes.append("the last line is not finished yet, so it is not a row")
        if others > len(records.table) and not source.name.lower().removesuffix(".gz").endswith(_SUFFIXES):
            raise OtherFormatError.of(
                source.name,
                said("{others} of its lines are no records, and {n} are.", others=others, n=len(records.table)),
                "If it is a log in JSON lines all the same, give it a name that ends in `.jsonl`.",
            )
        records.skipped += lines.skipped
        if len(records.table) <= 1 and self._only is not None and tables(self._only):
            yield from logs(source, JSON_DOCUMENT.name, self._only, tuple(lines.notes))
            return
        if not len(records.table) and not records.skipped and not records.config:
            raise UnreadableLogError.of(source.name, "it holds no record, so there is nothing to read yet.")
        try:
            log = records.log(source.name, JSONL.name, notes=lines.notes)
        except NotALogError as error:
            if any(key in records.table.texts for key in MESSAGES):
                raise OtherFormatError(*error.args) from error
            raise
        yield log


def _kind(value: object) -> str:
    return {list: "a list", str: "a text", type(None): "null"}.get(type(value), "a number")


JSONL = Jsonl()
