"""Console output: the rows of metrics that trainers print, out of everything else they print."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import PurePath
from typing import TYPE_CHECKING

from holter.language import said
from holter.readers.console.grammar import Standing
from holter.readers.console.rows import Rows, fullest, grammars
from holter.readers.console.scanner import Scanner
from holter.readers.console.text_lines import shown
from holter.readers.encoding import is_text
from holter.readers.foreign import foreign
from holter.readers.growth import GrowingLines
from holter.readers.lines import Lines
from holter.readers.plausibility import OtherFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holter.readers.base import RawLog, Source
    from holter.readers.console.gathering import Stream
    from holter.readers.console.rows import Key
    from holter.readers.growth import Growing
    from holter.readers.lines import LineFeed
    from holter.readers.table import Table

_SUFFIXES = (".log", ".out", ".txt", ".md", ".markdown", ".err", ".console", ".stdout", ".stderr")
_NAMES = frozenset({"stdout", "stderr", "console", "log", "output", "nohup.out"})


class Console:
    """Reads what a trainer printed: ``output.log``, ``train.log``, ``slurm-7.out``, a terminal pasted into a text."""

    name = "console"
    title = "console output with rows of metrics: verl, TRL, OpenRLHF, NeMo-RL, slime, DeepSpeed-Chat and others"
    priority = 850

    def recognises(self, name: str, head: bytes) -> bool:
        """By a suffix of text that may have rows below its head, or by a row in the head; never source code."""
        if not is_text(head):
            return False
        file = PurePath(name.lower().removesuffix(".gz"))
        if file.suffix in _SUFFIXES or re.fullmatch(r"\.o?\d+", file.suffix) or file.name in _NAMES:
            return True
        return foreign(head) is None and (not file.suffix or _has_row(head))

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log, of the framework that printed most rows; several where several runs in one text say no step.

        Raises:
            UnreadableLogError: When no line is a row of metrics.
        """
        lines, rows = Lines(source), _Rows(source.name)
        for number, line in lines:
            rows.add(number, line)
        yield from rows.logs(lines)

    def grow(self, source: Source) -> Growing:
        """One log, line by line."""
        return GrowingLines(source, self.name, lambda: _Rows(source.name))


class _Rows(Rows):
    """The rows of a text, and the log that they are."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._file = file

    def settle(self) -> Table | None:
        """The table of the rows so far, those included to which something may yet be added."""
        streams = deepcopy(self).end(ended=True).streams
        key = fullest(streams)
        return streams[key].records.table if key is not None else None

    def logs(self, lines: Lines | LineFeed) -> Iterator[RawLog]:
        """The log, or several runs."""
        gathering = self.end(ended=lines.ended)
        streams = gathering.streams
        key = fullest(streams)
        if key is None:
            raise OtherFormatError.of(
                self._file,
                "no line in it is a row of metrics of a form that is known.",
                "`holter list readers` shows the formats. Of a run whose console output this is, give the file that the "
                "trainer wrote: trainer_state.json, event files, JSON lines.",
            )
        stream = streams[key]
        stream.records.skipped += lines.skipped
        notes = [*lines.notes, *gathering.remarks(), *_about_others(key, streams)]
        yield from stream.logs(self._file, CONSOLE.name, notes)


def _has_row(head: bytes) -> bool:
    """Whether a framework's row is among the first lines of a text."""
    scanner = Scanner(grammars(Standing.LOG))
    lines = shown(enumerate(head.splitlines(), start=1))
    return any(row.values for line in lines for row in scanner.feed(line)) or any(row.values for row in scanner.end())


def _about_others(key: Key, streams: Mapping[Key, Stream]) -> Iterator[str]:
    """Rows that are not in the log: of other ranks, and of other frameworks in the same text."""
    others = [(k, s.rows) for k, s in streams.items() if k != key and s.rows]
    ranks = sum(rows for k, rows in others if k[0] == key[0])
    if ranks:
        yield said(
            "rows of other ranks left aside: {n}"
            if key[1] is None
            else "rows of other ranks left aside: {n} (rank {rank} was read)",
            n=ranks,
            rank=key[1],
        )
    for family in dict.fromkeys(k[0] for k, _ in others if k[0] != key[0]):
        rows = sum(rows for k, rows in others if k[0] == family)
        yield said("rows in the form of {family} left aside: {n}", family=family, n=rows)


CONSOLE = Console()
