"""A JSON document without its long texts: they stay in the file until they are wanted, and then come piece by piece."""

from __future__ import annotations

import itertools
import re
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from holter.readers.base import HEAD, Source
from holter.readers.encoding import TOLD_BY, UTF8, as_utf8, encoding_of
from holter.readers.json_blocks import LARGEST, Document, listed_texts, text_pieces, too_large
from holter.readers.json_document import whole
from holter.readers.json_text import loads

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONG = 1 << 16
"""Bytes of a text that is left in the file."""
_CHUNK = 1 << 20
_WIDEST = 1 << 10
"""Bytes within which the name of a text stands, and the beginning of the text."""
_VALUE = re.compile(rb'"(?:text|html|(?:text|image|application)/[\w.+-]+)"\s*:\s*(\[\s*(?=")|")')
_ENDS = re.compile(rb'(?:[^"\\]++|\\.)*+"', re.DOTALL)
_LIST_ENDS = re.compile(rb'(?:"(?:[^"\\]++|\\.)*+"\s*+,?+\s*+)*+\]', re.DOTALL)


class Texts:
    """The texts of a document, long ones read from the file each time.

    A text is one under the name of a media type, ``text`` or ``html``: a string, or a list of strings that belong together.
    """

    def __init__(self, source: Source, copy: IO[bytes] | None = None) -> None:
        """Begin.

        Args:
            source: The document, plain and in UTF-8.
            copy: The file that `source` is, where it lasts no longer than these texts.
        """
        self._source, self._copy = source, copy
        self._long: dict[str, tuple[int, bool]] = {}

    def pieces(self, value: object) -> Iterator[str]:
        """The pieces of a text, which may be anything in the document.

        Raises:
            ValueError: When the file is not any more what it was.
        """
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str):
                if each in self._long:
                    yield from self._read(*self._long[each])
                else:
                    yield each

    def _read(self, begin: int, listed: bool) -> Iterator[str]:  # noqa: FBT001 - as they were noted
        with self._source.open() as stream:
            stream.seek(begin)
            document = Document(self._source.name, stream, UTF8)
            for raw in listed_texts(document) if listed else text_pieces(document):
                yield from _parsed(raw, listed=listed)

    def leave(self, document: Document) -> bytes:
        """The document with a mark for every long text.

        Raises:
            ValueError: When a list of texts holds anything else, or one is no JSON.
            UnreadableLogError: When what remains is larger than `LARGEST`.
        """
        parts: list[bytes] = []
        passed = at = size = 0
        while True:
            found = _VALUE.search(document.held, at)
            if found is None:
                cut = max(len(document.held) - _WIDEST, at)
                parts.append(document.drop(cut))
                passed, at, size = passed + cut, 0, size + cut
                if size > LARGEST:
                    raise too_large(self._source.name)
                if not document.more():
                    return b"".join([*parts, document.held])
                continue
            begin, listed = found.end(), found[1] != b'"'
            short = (_LIST_ENDS if listed else _ENDS).match(document.held, begin, begin + _LONG)
            if short is not None:
                at = short.end()
            elif len(document.held) - begin >= _LONG:
                parts.append(document.drop(begin))
                mark = f"\0{len(self._long)}"
                self._long[mark] = passed + begin, listed
                written = mark.replace("\0", "\\u0000").encode()
                parts.append(b'"' + written + b'"' if listed else written)
                passed, at, size = passed + begin, 0, size + begin
                for raw in listed_texts(document) if listed else text_pieces(document):
                    _parsed(raw, listed=listed)
                    passed += len(raw)
            elif not document.more():
                return b"".join([*parts, document.held])


def _parsed(raw: bytes, *, listed: bool) -> list[str]:
    """The texts in a part of a list of them, or the piece of one.

    Raises:
        ValueError: When it is neither.
    """
    found = loads(b"[" + raw.lstrip(b", \t\r\n") + b"]" if listed else b'["' + raw + b'"]')
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError("damaged: a list of texts holds something else")
    return found


def without_long_texts(source: Source) -> tuple[object, Texts]:
    """A document with a mark for every long text, and what reads its texts.

    Raises:
        ValueError: When it is no JSON; the message says what was seen.
        UnreadableLogError: When more than `LARGEST` bytes would be held.
    """
    copy = None
    with source.open() as stream:
        # Only in a plain file a text can be found again without reading everything before it.
        plain = stream.seekable() and encoding_of(stream.read(HEAD)) == UTF8
    if not plain:
        try:
            copy = _copied(source)
            source = Source(source.name, path=Path(copy.name))
        except OSError:
            # There is no room for a copy on the disk; in memory there may be.
            source = Source(source.name, data=whole(source))
    texts = Texts(source, copy)
    try:
        with source.open() as stream:
            return loads(texts.leave(Document(source.name, stream, UTF8))), texts
    except ValueError:
        return loads(whole(source)), Texts(source, copy)


def _copied(source: Source) -> IO[bytes]:
    """A document unpacked and in UTF-8, in a file that is gone when it is closed.

    Raises:
        OSError: When the disk does not take it.
        UnreadableLogError: When it is larger than `LARGEST`.
    """
    copy = tempfile.NamedTemporaryFile(prefix="holter-")  # noqa: SIM115 - it outlives this function
    with source.open() as stream:
        head = stream.read(TOLD_BY)
        for piece in as_utf8(itertools.chain([head], iter(lambda: stream.read(_CHUNK), b"")), encoding_of(head)):
            copy.write(piece)
            if copy.tell() > LARGEST:
                raise too_large(source.name)
    copy.flush()
    return copy
