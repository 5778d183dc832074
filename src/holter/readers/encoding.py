"""Which encoding a text is in. Windows tools write UTF-16 and byte order marks, Chinese Excel writes GB18030."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UTF8 = "utf-8"
TOLD_BY = 1 << 16
"""Bytes at the beginning of a text that decide its encoding."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHINESE = re.compile("[\u4e00-\u9fff]")
_NOT_TEXT = bytes(set(range(32)) - {8, 9, 10, 12, 13, 27}) + b"\x7f"


def encoding_of(head: bytes) -> str:
    """The encoding of a text whose first bytes are `head`: by its mark, else by what decodes; UTF-8 when nothing does."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if len(head) >= 4 and b"\0" in head:
        odd, even = head[1::2].count(0), head[::2].count(0)
        if min(odd, even) == 0 and max(odd, even) > 0.4 * len(head) / 2:
            return "utf-16-le" if odd else "utf-16-be"
    if _decodes(head, UTF8) is None and is_text(head):
        chinese = _decodes(head, "gb18030")
        if chinese is not None and len(_CHINESE.findall(chinese)) > 1:
            return "gb18030"
    return UTF8


def _decodes(head: bytes, encoding: str) -> str | None:
    """The text, or None. A character that the end of `head` cuts is no fault."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return None


def as_utf8(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The same text in UTF-8, without a byte order mark. UTF-8 passes as it is, invalid bytes included."""
    if encoding == UTF8:
        yield from chunks
        return
    decoder = Decoder(encoding)
    for chunk in chunks:
        yield decoder.feed(chunk)
    yield decoder.feed(b"", final=True)


class Decoder:
    """Makes UTF-8 of a text that comes in pieces."""

    def __init__(self, encoding: str) -> None:
        self._mark = codecs.BOM_UTF8 if encoding == "utf-8-sig" else b""
        self._decode = None
        if encoding not in (UTF8, "utf-8-sig"):
            self._decode = codecs.getincrementaldecoder(encoding)(errors="replace").decode

    def feed(self, data: bytes, *, final: bool = False) -> bytes:
        """A piece in UTF-8, without the byte order mark. UTF-8 passes as it is, invalid bytes included."""
        if self._decode is not None:
            return self._decode(data, final).encode(UTF8, errors="replace")
        if self._mark and data:
            data, self._mark = data.removeprefix(self._mark), b""
        return data


def is_text(head: bytes) -> bool:
    """Whether bytes look like text in an encoding whose ASCII is ASCII: no control characters that text does not use.

    Below the first line zeros are allowed: a machine that dies while a file grows leaves blocks of them.
    """
    first, _, rest = head.partition(b"\n")
    together = first + rest.replace(b"\0", b"")
    return len(together.translate(None, _NOT_TEXT)) == len(together)
