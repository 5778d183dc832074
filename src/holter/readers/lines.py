"""The lines of a log, numbered, whatever their encoding, line ends and length.

A line that is absurdly long is passed over without ever being held in memory, and said so.
"""

from __future__ import annotations

import html
import re
from functools import partial
from typing import TYPE_CHECKING

from holter.language import said
from holter.readers.base import Skipped
from holter.readers.encoding import TOLD_BY, UTF8, Decoder, encoding_of
from holter.readers.unpacking import damage, torn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import Source

LONGEST = 16 << 20
"""Bytes of the longest line that is read. A row of 100,000 metrics has 4 MB."""
MOST_SKIPPED = 100
"""How many skipped places of one kind are named one by one."""
_CHUNK = 1 << 20
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78]")
_CURLY = re.compile("[{,] *[‘’“”]")
_ESCAPED = re.compile(r"[{,] *&(?:quot|#0?39|#x27|apos);")
_STRAIGHT = str.maketrans("‘’“”", "''\"\"")


class LineFeed:
    """Takes a text in pieces of any size and gives out its lines: 1-based numbers, UTF-8 bytes without the line end.

    Attributes:
        skipped: What was not read, so far.
        notes: Remarks on the text as a whole, so far.
        ended: Whether the newest line that was given out had its line end. A growing file's last line may not.
    """

    def __init__(self, name: str, *, plain: bool = False) -> None:
        """Begin.

        Args:
            name: What messages call the text.
            plain: Whether its writer is known to write UTF-8 and line feeds, so that nothing is told from its first piece.
        """
        self.name = name
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []
        self.ended = True
        self._replaced = 0
        self._decoder: Decoder | None = Decoder(UTF8) if plain else None
        self._end = b"\n" if plain else b""
        self._number, self._rest, self._lost = 1, b"", False

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """More of the text: the lines that it ends. The first piece decides the encoding and the kind of line ends."""
        if self._decoder is None:
            encoding = encoding_of(data[:TOLD_BY])
            self._decoder = Decoder(encoding)
            if encoding not in (UTF8, "utf-8-sig"):
                self.notes.append(said("read as {encoding}", encoding=encoding.upper()))
        return self._split(self._decoder.feed(data))

    def finish(self) -> Iterator[tuple[int, bytes]]:
        """The text ends here: the last line, where it has no line end."""
        if self._decoder is not None:
            yield from self._split(self._decoder.feed(b"", final=True))
        if self._rest:
            self.ended = False
            self._replaced += not is_utf8(self._rest)
            yield self._number, self._rest.removesuffix(b"\r")
        if self._replaced:
            self.notes.append(said("lines with bytes that are not UTF-8, which were replaced: {n}", n=self._replaced))

    def _split(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        if not chunk:
            return
        if not self._end:
            self._end = b"\r" if b"\n" not in chunk and b"\r" in chunk.rstrip(b"\r") else b"\n"
        end = self._end
        first = chunk.find(end)
        if self._lost or len(self._rest) + (len(chunk) if first < 0 else first) > LONGEST:
            if not self._lost:
                self._too_long(self._number)
            self._lost, self._rest = first < 0, b""
            if self._lost:
                return
            chunk = chunk[first + 1 :]
            self._number += 1
        *whole, self._rest = (self._rest + chunk).split(end)
        number = self._number
        self._number += len(whole)
        for line in whole:
            self._replaced += not (line.isascii() or is_utf8(line))
            yield number, line.removesuffix(b"\r")
            number += 1

    def _too_long(self, number: int) -> None:
        why = said("the line is longer than {most} MiB, which no row of a log is", most=LONGEST >> 20)
        self.skipped.append(Skipped(self.name, number, why))


class Lines:
    """Iterates once over the lines of a source, as `LineFeed` gives them out.

    Attributes:
        skipped: What was not read, filled while iterating.
        notes: Remarks on the text as a whole, filled while iterating.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._feed = LineFeed(source.name)
        self.skipped, self.notes = self._feed.skipped, self._feed.notes

    @property
    def ended(self) -> bool:
        """Whether the newest line that was given out had its line end."""
        return self._feed.ended

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        with self.source.open() as stream:
            for chunk in iter(partial(stream.read, _CHUNK), b""):
                yield from self._feed.feed(chunk)
            wrong = damage(stream)
            if wrong:
                self.skipped.append(Skipped(self.source.name, None, wrong))
            if torn(stream):
                self.notes.append("the packed data ends early, as in a file that is still being written")
            yield from self._feed.finish()


def with_straight_quotes(line: str) -> str:
    """The line with straight quotes around the names in it, which a web page or a word processor made curly or escaped."""
    if "&" in line and _ESCAPED.search(line):
        line = html.unescape(line)
    return line.translate(_STRAIGHT) if not line.isascii() and _CURLY.search(line) else line


def without_colours(line: str) -> str:
    """A line without what a terminal takes for a command: colours, a new title of its window, another set of characters."""
    return _ESCAPES.sub("", line) if "\x1b" in line else line


def is_utf8(data: bytes) -> bool:
    """Whether all of the bytes are UTF-8."""
    try:
        data.decode(UTF8)
    except UnicodeDecodeError:
        return False
    return True


def text(line: bytes) -> str:
    """A line as text, with a replacement character for bytes that are not UTF-8."""
    return line.decode(UTF8, errors="replace")
