"""The lines of a log, numbered, whatever their encoding, line ends and length.

A line that is absurdly long is passed over without ever being held in memory, and said so.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from holter.readers.base import Skipped
from holter.readers.encoding import UTF8, as_utf8, encoding_of
from holter.readers.unpacking import damage, torn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import Source

LONGEST = 16 << 20
"""Bytes of the longest line that is read. A row of 100,000 metrics has 4 MB."""
MOST_SKIPPED = 100
"""How many skipped places of one kind are named one by one."""
_CHUNK = 1 << 20


class Lines:
    """Iterates once over ``(number, line)``: 1-based, UTF-8 bytes without the line end.

    Attributes:
        skipped: What was not read, filled while iterating.
        notes: Remarks on the text as a whole, filled while iterating.
        ended: Whether the newest line that was given out had its line end. A growing file's last line may not.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []
        self.ended = True
        self._replaced = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        with self.source.open() as stream:
            first = stream.read(_CHUNK)
            encoding = encoding_of(first)
            if encoding not in (UTF8, "utf-8-sig"):
                self.notes.append(f"read as {encoding.upper()}")
            yield from self._split(as_utf8(_chain(first, iter(partial(stream.read, _CHUNK), b"")), encoding))
            wrong = damage(stream)
            if wrong:
                self.skipped.append(Skipped(self.source.name, None, wrong))
            if torn(stream):
                self.notes.append("the packed data ends early, as in a file that is still being written")
            if self._replaced:
                self.notes.append(f"lines with bytes that are not UTF-8, which were replaced: {self._replaced}")

    def _split(self, chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
        number, rest, lost = 1, b"", False
        end = b"\n"
        for index, chunk in enumerate(chunks):
            if index == 0 and b"\n" not in chunk and b"\r" in chunk.rstrip(b"\r"):
                end = b"\r"
            if lost or len(rest) + chunk.find(end) > LONGEST or (end not in chunk and len(rest) + len(chunk) > LONGEST):
                if not lost:
                    self._too_long(number)
                cut = chunk.find(end)
                lost, rest = cut < 0, b""
                if lost:
                    continue
                chunk = chunk[cut + 1 :]
                number += 1
            *whole, rest = (rest + chunk).split(end)
            for line in whole:
                self._replaced += not (line.isascii() or is_utf8(line))
                yield number, line.removesuffix(b"\r")
                number += 1
        if rest:
            self.ended = False
            self._replaced += not is_utf8(rest)
            yield number, rest.removesuffix(b"\r")

    def _too_long(self, number: int) -> None:
        self.skipped.append(
            Skipped(self.source.name, number, f"the line is longer than {LONGEST >> 20} MiB, which no row of a log is")
        )


def _chain(first: bytes, more: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from more


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
