"""A JSON document of which only a part is held: the elements of its long list come in blocks of whole ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from holter.errors import UnreadableLogError
from holter.language import said
from holter.readers.encoding import TOLD_BY, Decoder, encoding_of
from holter.readers.json_text import loads

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from typing import BinaryIO

LARGEST = 1 << 30
"""Bytes of a document that are held at the most."""
_BLOCK = 1 << 17
_WIDEST = 1 << 10
"""Bytes within which the name of a list, and the beginning of its first element, stand."""
_DEEPER = np.zeros(256, np.int8)
_DEEPER[[ord("{"), ord("[")]] = 1
_DEEPER[[ord("}"), ord("]")]] = -1
_STRUCTURE = _DEEPER != 0
_STRUCTURE[ord('"')] = True


def too_large(file: str) -> UnreadableLogError:
    """That more than `LARGEST` bytes of a document would have to be held."""
    return UnreadableLogError.of(
        file,
        said(
            "the JSON document is larger than {most} GiB, which would have to be held in memory whole.",
            most=LARGEST >> 30,
        ),
        "Write it as JSON lines: `jq -c '.[]' FILE > log.jsonl`.",
    )


class Document:
    """A document in UTF-8.

    Attributes:
        held: The part of it that is held.
    """

    def __init__(self, file: str, stream: BinaryIO, encoding: str | None = None) -> None:
        """Begin.

        Args:
            file: What messages call the document.
            stream: Its bytes.
            encoding: Their encoding, where it is known; else the first of them tell.
        """
        self._file, self._stream = file, stream
        first = stream.read(_BLOCK)
        self._decoder = Decoder(encoding or encoding_of(first[:TOLD_BY]))
        self._ended = not first
        self.held = self._decoder.feed(first)

    def more(self) -> bool:
        """Hold as much again; whether there was more.

        Raises:
            UnreadableLogError: When more than `LARGEST` bytes would be held.
        """
        if self._ended:
            return False
        read = self._stream.read(max(_BLOCK, len(self.held)))
        self._ended = not read
        self.held += self._decoder.feed(read, final=self._ended)
        if len(self.held) > LARGEST:
            raise too_large(self._file)
        return True

    def hold_all(self, most: int = LARGEST) -> bool:
        """Hold the rest; False, and only a part of it is held, where it is longer than `most` bytes.

        Raises:
            UnreadableLogError: When more than `LARGEST` bytes would be held.
        """
        while len(self.held) <= most:
            if not self.more():
                return True
        return False

    def search(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """The first match, with enough held behind it to tell how the document is laid out."""
        begin = 0
        while (found := pattern.search(self.held, begin)) is None or len(self.held) - found.end() < _WIDEST:
            begin = max(len(self.held) - _WIDEST, 0) if found is None else found.start()
            if not self.more():
                return found
        return found

    def drop(self, end: int) -> bytes:
        """The first bytes, which are not held any more."""
        gone, self.held = self.held[:end], self.held[end:]
        return gone


class Block(NamedTuple):
    """Whole elements of a list, or whole members of an object.

    Attributes:
        text: Their text, with the commas between and before them.
        ends: Where those that are objects or lists end in it.
    """

    text: bytes
    ends: list[int]

    def parsed(self) -> list[object] | None:
        """The elements; None where their text is no JSON."""
        try:
            found = loads(b"[" + self.text.lstrip(b", \t\r\n") + b"]")
        except ValueError:
            return None
        return found if isinstance(found, list) else None

    def members(self) -> dict[str, object] | None:
        """The members; None where their text is no JSON."""
        try:
            found = loads(b"{" + self.text.lstrip(b", \t\r\n") + b"}")
        except ValueError:
            return None
        return found if isinstance(found, dict) else None


def blocks(document: Document) -> Iterator[Block]:
    """What is in the list or object that begins where the held part of a document does.

    What is held afterwards begins with the closing bracket, or the document ended before it.
    """
    while True:
        ends, close = _ends(document.held)
        cut = close if close >= 0 else ends[-1] if ends else 0
        if document.held[:cut].strip():
            yield Block(document.drop(cut), ends)
        elif close >= 0:
            document.drop(cut)
        if close >= 0 or not document.more():
            return


def listed_texts(document: Document) -> Iterator[bytes]:
    """What is in the list of texts that begins where the held part of a document does, in parts of whole texts.

    What is held afterwards begins with the closing bracket, or the document ended before it.

    Raises:
        ValueError: When there is a list or an object in it.
    """
    while True:
        content = np.frombuffer(_without_escaped_quotes(document.held), np.uint8)
        at = np.flatnonzero(_STRUCTURE[content])
        signs = content[at]
        quotes = signs == ord('"')
        outside = np.cumsum(quotes) % 2 == 0
        closing = np.flatnonzero(outside & ~quotes)[:1]
        if len(closing):
            if signs[closing[0]] != ord("]"):
                raise ValueError("damaged: a list of texts holds something else")
            cut = int(at[closing[0]])
        else:
            ends = at[outside & quotes]
            cut = int(ends[-1]) + 1 if len(ends) else 0
        if document.held[:cut].strip():
            yield document.drop(cut)
        if len(closing) or not document.more():
            return


def text_pieces(document: Document) -> Iterator[bytes]:
    """The text of which the opening quote stands before the held part of a document, in pieces that cut no character.

    What is held afterwards begins with the closing quote, or the document ended before it.
    """
    while True:
        close = _without_escaped_quotes(document.held).find(b'"')
        # No escape has a blank in it.
        cut = close if close >= 0 else max(document.held.rfind(b" "), 0)
        if cut:
            yield document.drop(cut)
        if close >= 0 or not document.more():
            return


def _without_escaped_quotes(held: bytes) -> bytes:
    """As many bytes, in which every quote opens or closes a text."""
    # Backslashes come in pairs from the left; only one that is left over escapes the quote behind it.
    return held.replace(b"\\\\", b"  ").replace(b'\\"', b"  ") if b"\\" in held else held


def _ends(held: bytes) -> tuple[list[int], int]:
    """Where the elements end that are whole, and where the list itself is closed; -1 where it is not yet."""
    content = np.frombuffer(_without_escaped_quotes(held), np.uint8)
    at = np.flatnonzero(_STRUCTURE[content])
    signs = content[at]
    deeper = np.where(np.cumsum(signs == ord('"')) % 2, 0, _DEEPER[signs])
    depth = np.cumsum(deeper)
    closing = np.flatnonzero(depth < 0)[:1]
    inside = slice(0, int(closing[0])) if len(closing) else slice(None)
    ends = at[inside][(depth[inside] == 0) & (deeper[inside] < 0)] + 1
    return ends.tolist(), int(at[closing[0]]) if len(closing) else -1
