"""Protocol-buffer wire format: field numbers, wire types and byte ranges, without any message definitions.

References:
    protobuf.dev, "Encoding".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIDTHS = {FIXED64: 8, FIXED32: 4}
_LONGEST_VARINT = 10


class MalformedError(ValueError):
    """Bytes that are no message, or not the one that was expected."""


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """An unsigned number and the position after it.

    Raises:
        MalformedError: When it runs over `end` or over ten bytes.
    """
    value = 0
    for index in range(at, min(at + _LONGEST_VARINT, end)):
        byte = data[index]
        value |= (byte & 127) << 7 * (index - at)
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, index + 1
    raise MalformedError("a number that does not end")


def signed(value: int) -> int:
    """A 64-bit two's complement number as Python's int."""
    return value - (1 << 64) if value >= 1 << 63 else value


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Field number, wire type, first byte and end of every field's value, in the order of the bytes.

    The range of a length-delimited field is its content, without the length.

    Raises:
        MalformedError: When a field runs over `end`, or its wire type does not exist.
    """
    while at < end:
        key, at = varint(data, at, end)
        kind = key & 7
        if kind == VARINT:
            _, stop = varint(data, at, end)
        elif kind == BYTES:
            length, at = varint(data, at, end)
            stop = at + length
        elif kind in _WIDTHS:
            stop = at + _WIDTHS[kind]
        else:
            raise MalformedError(said("wire type {kind}", kind=kind))
        if stop > end or not key >> 3:
            raise MalformedError("a field that runs over its message")
        yield key >> 3, kind, at, stop
        at = stop
