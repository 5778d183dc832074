"""Console output: the rows of metrics that trainers print, out of everything else they print."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from holter.readers.console.gathering import Stream
from holter.readers.console.grammar import Standing, all_grammars
from holter.readers.console.progress_bar import HINT, ProgressBars
from holter.readers.console.scanner import Scanner
from holter.readers.console.text_lines import CUT_AT, shown
from holter.readers.encoding import is_text
from holter.readers.foreign import foreign
from holter.readers.lines import Lines
from holter.readers.plausibility import NotALogError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holter.readers.base import RawLog, Source
    from holter.readers.console.grammar import Grammar
    from holter.readers.console.scanner import Row

_SUFFIXES = (".log", ".out", ".txt", ".md", ".markdown", ".err", ".console", ".stdout", ".stderr")
_NAMES = frozenset({"stdout", "stderr", "console", "log", "output", "nohup.out"})
_LONGEST = 1 << 20
"""Characters of the longest line that is looked at for a row."""


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
        lines = Lines(source)
        streams = _gathered(lines, source.name, _grammars(Standing.LOG, Standing.BAR))
        if not any(s.rows for s in streams.values()):
            lines = Lines(source)
            streams = _gathered(lines, source.name, _grammars(Standing.ANY))
        key = _fullest(streams)
        if key is None:
            raise NotALogError.of(
                source.name,
                "no line in it is a row of metrics of a form that is known.",
                "`holter list readers` shows the formats. Of a run whose console output this is, give the file that the "
                "trainer wrote: trainer_state.json, event files, JSON lines.",
            )
        stream = streams[key]
        stream.records.skipped += lines.skipped
        yield from stream.logs(source.name, self.name, [*lines.notes, *_about_others(key, streams)])


Key = tuple[str, int | None]
"""Family of grammars, and the rank whose rows they are."""


def _grammars(*standings: Standing) -> list[Grammar]:
    return [g for g in all_grammars().values() if g.standing in standings]


def _has_row(head: bytes) -> bool:
    """Whether a framework's row is among the first lines of a text."""
    scanner = Scanner(_grammars(Standing.LOG))
    lines = shown(enumerate(head.splitlines(), start=1))
    return any(row.values for line in lines for row in scanner.feed(line)) or any(row.values for row in scanner.end())


def _gathered(lines: Lines, file: str, grammars: list[Grammar]) -> dict[Key, Stream]:
    """The rows of a text by family and rank."""
    scanner = Scanner(grammars)
    streams: dict[Key, Stream] = {}
    bars = ProgressBars()
    newest: tuple[Stream, Row] | None = None

    def add(row: Row) -> tuple[Stream, Row]:
        key = (row.grammar.family, row.line.rank)
        if key not in streams:
            streams[key] = Stream(file, row.grammar.standing, bars)
        streams[key].add(row)
        return streams[key], row

    last = 0
    for line in shown(lines):
        last = line.number
        if len(line.text) > _LONGEST:
            continue
        for row in scanner.feed(line):
            newest = add(row)
        if HINT in line.text:
            bars.line(line.text)
            for stream in streams.values():
                stream.bars.line(line.text)
    for row in scanner.end():
        newest = add(row)
    if newest is not None and not lines.ended and newest[1].last == last and not newest[1].grammar.shows_its_end:
        newest[0].drop_unfinished()
    for stream in streams.values():
        stream.flush()
    if scanner.cut:
        lines.notes.append(f"rows that W&B cut at {CUT_AT} bytes: {scanner.cut}; the value at the cut was left out")
    return streams


def _fullest(streams: Mapping[Key, Stream]) -> Key | None:
    """The stream that is the log: rather a framework's log than a bar, then the one with most rows, then the lowest rank."""

    def merit(key: Key) -> tuple[int, int, int]:
        stream = streams[key]
        return (stream.standing, -stream.rows, -1 if key[1] is None else key[1])

    return min((k for k, s in streams.items() if s.believed), key=merit, default=None)


def _about_others(key: Key, streams: Mapping[Key, Stream]) -> Iterator[str]:
    """Rows that are not in the log: of other ranks, and of other frameworks in the same text."""
    others = [(k, s.rows) for k, s in streams.items() if k != key and s.rows]
    ranks = sum(rows for k, rows in others if k[0] == key[0])
    if ranks:
        yield f"rows of other ranks left aside: {ranks}" + (f" (rank {key[1]} was read)" if key[1] is not None else "")
    for family in dict.fromkeys(k[0] for k, _ in others if k[0] != key[0]):
        yield f"rows in the form of {family} left aside: {sum(rows for k, rows in others if k[0] == family)}"


CONSOLE = Console()
