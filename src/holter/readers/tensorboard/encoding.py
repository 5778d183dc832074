"""Event files as they are written: one frame a record, one event a row, without any message definitions.

The reader's counterpart. A row is one event with all its scalars: an event of each scalar, as `add_scalar` makes them, takes
twice the room and many times the time.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from holter.readers.tensorboard.crc32c import checksum, masked

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST = float(np.finfo(np.float32).max)
"""Scalars have single precision; a greater finite number is written as this one, not as an infinity."""
_VERSION = b"\x1a\x0dbrain.Event:2"
_WALL_TIME, _STEP, _SUMMARY = b"\x09", b"\x10", b"\x2a"
_VALUE, _TAG, _SIMPLE_VALUE, _TENSOR, _METADATA = b"\x0a", b"\x0a", b"\x15", b"\x42", b"\x4a"
_ONE_STRING = b"\x08\x07\x12\x04\x12\x02\x08\x01"
"""Of a tensor: strings, one of them."""
_STRING = b"\x42"
_TEXT_PLUGIN = b"\x0a\x06\x0a\x04text"
_KNOWN = 4096


def framed(record: bytes) -> bytes:
    """A record as it stands in the file: length, checksum, record, checksum."""
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked(checksum(length))) + record + struct.pack("<I", masked(checksum(record)))


def version(wall_time: float) -> bytes:
    """The event that a file begins with."""
    return _WALL_TIME + struct.pack("<d", wall_time) + _VERSION


def scalars(wall_time: float, step: float, row: Mapping[str, float]) -> bytes:
    """The event of a row: seconds since 1970, a step that loses its fraction, values by tag."""
    values = b"".join([_scalar(tag) + struct.pack("<f", _single(value)) for tag, value in row.items()])
    return _event(wall_time, step, values)


def text(wall_time: float, step: float, tag: str, said: str) -> bytes:
    """The event of a text, as TensorBoard's page of texts shows it."""
    content = _field(_TAG, tag.encode("utf-8", "replace")) + _field(_METADATA, _TEXT_PLUGIN)
    content += _field(_TENSOR, _ONE_STRING + _field(_STRING, said.encode("utf-8", "replace")))
    return _event(wall_time, step, _field(_VALUE, content))


def _event(wall_time: float, step: float, values: bytes) -> bytes:
    head = _WALL_TIME + struct.pack("<d", wall_time) + _STEP + _varint(int(step) & 0xFFFF_FFFF_FFFF_FFFF)
    return head + _field(_SUMMARY, values)


@lru_cache(maxsize=_KNOWN)
def _scalar(tag: str) -> bytes:
    """A scalar up to its four bytes, which is the same in every row."""
    content = _field(_TAG, tag.encode("utf-8", "replace")) + _SIMPLE_VALUE
    return _VALUE + _varint(len(content) + 4) + content


def _single(value: float) -> float:
    if -LARGEST <= value <= LARGEST or value != value or math.isinf(value):
        return value
    return math.copysign(LARGEST, value)


def _field(key: bytes, content: bytes) -> bytes:
    return key + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
