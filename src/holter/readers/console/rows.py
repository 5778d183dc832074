"""Lines of a console made into the rows of a log, one line after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.language import said
from holter.readers.console.gathering import Stream
from holter.readers.console.grammar import Standing, all_grammars
from holter.readers.console.progress_bar import HINT, ProgressBars
from holter.readers.console.scanner import Scanner
from holter.readers.console.text_lines import CUT_AT, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holter.readers.console.grammar import Grammar
    from holter.readers.console.scanner import Row
    from holter.readers.console.text_lines import Line

LONGEST = 1 << 20
"""Characters of the longest line that is looked at for a row."""

Key = tuple[str, int | None]
"""Family of grammars, and the rank whose rows they are."""


def grammars(*standings: Standing) -> list[Grammar]:
    """The grammars of some standings."""
    return [g for g in all_grammars().values() if g.standing in standings]


class Gathering:
    """The rows that some grammars find, by family and rank.

    Attributes:
        streams: The rows so far.
    """

    def __init__(self, file: str, *standings: Standing) -> None:
        self.streams: dict[Key, Stream] = {}
        self._file = file
        self._scanner = Scanner(grammars(*standings))
        self._bars = ProgressBars()
        self._newest: tuple[Stream, Row] | None = None
        self._last = 0

    @property
    def rows(self) -> int:
        """Rows that are certainly whole."""
        return sum(stream.rows for stream in self.streams.values())

    def line(self, line: Line) -> None:
        """One more line."""
        self._last = line.number
        if len(line.text) > LONGEST:
            return
        for row in self._scanner.feed(line):
            self._add(row)
        if HINT in line.text:
            self._bars.line(line.text)
            for stream in self.streams.values():
                stream.bars.line(line.text)

    def end(self, *, ended: bool) -> None:
        """The text ends here: rows that were open are whole.

        Args:
            ended: Whether its last line has its line end. Without one, the row in it may be cut.
        """
        for row in self._scanner.end():
            self._add(row)
        newest = self._newest
        if newest is not None and not ended and newest[1].last == self._last and not newest[1].grammar.shows_its_end:
            newest[0].drop_unfinished()
        for stream in self.streams.values():
            stream.flush()

    def remarks(self) -> list[str]:
        """What to say of the lines."""
        cut = self._scanner.cut
        if not cut:
            return []
        return [said("rows that W&B cut at {at} bytes: {n}; the value at the cut was left out", at=CUT_AT, n=cut)]

    def _add(self, row: Row) -> None:
        key = (row.grammar.family, row.line.rank)
        stream = self.streams.get(key)
        if stream is None:
            stream = self.streams[key] = Stream(self._file, row.grammar.standing, self._bars)
        stream.add(row)
        self._newest = stream, row


class Rows:
    """What a text says so far: in a framework's form, and, as long as there is nothing in one, in any."""

    def __init__(self, file: str) -> None:
        self._sure = Gathering(file, Standing.LOG, Standing.BAR)
        self._any: Gathering | None = Gathering(file, Standing.ANY)

    def add(self, number: int, line: bytes) -> None:
        """One more line."""
        for each in shown([(number, line)]):
            self._sure.line(each)
            if self._any is not None:
                self._any.line(each)
        if self._any is not None and self._sure.rows:
            self._any = None

    def end(self, *, ended: bool) -> Gathering:
        """The text ends here: the rows to believe."""
        self._sure.end(ended=ended)
        if self._any is None or self._sure.rows:
            return self._sure
        self._any.end(ended=ended)
        return self._any


def fullest(streams: Mapping[Key, Stream]) -> Key | None:
    """The stream that is the log: rather a framework's log than a bar, then the one with most rows, then the lowest rank."""

    def merit(key: Key) -> tuple[int, int, int]:
        stream = streams[key]
        return (stream.standing, -stream.rows, -1 if key[1] is None else key[1])

    return min((k for k, s in streams.items() if s.believed), key=merit, default=None)
