"""The frame of a record, and the search for the next sound one.

A record is its length (eight bytes, little-endian), the masked checksum of the length, the bytes, and their masked checksum.

References:
    TensorFlow, "TFRecord and tf.train.Example": format details.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from holter.readers.tensorboard.crc32c import checksum, distance_tables, masked, masked_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEADER, FOOTER = 12, 4
"""Bytes before a record (length and its checksum) and behind it (checksum of the record)."""
LONGEST = 64 << 20
"""Bytes a record may have. A longer one is taken for damage: no event is that long, and nothing is read on its word."""
_LENGTH = 8
_WINDOW = 4 << 10
_WIDEST_WINDOW = 1 << 20


@lru_cache(maxsize=4096)
def length_in(header: bytes) -> int:
    """Bytes of the record behind a header; -1 when the header is damaged."""
    length, stored = struct.unpack("<QI", header)
    sound = length <= LONGEST and masked(checksum(header[:_LENGTH])) == stored
    return int(length) if sound else -1


def next_header(data: NDArray[np.uint8], at: int) -> int:
    """The first sound header at or after a position, -1 when there is none.

    Found by the header's own checksum, so that nothing between two records is taken for one.
    """
    window = _WINDOW
    while at + HEADER <= len(data):
        candidates = min(window, len(data) - at - HEADER + 1)
        found = _sound_headers(data[at : at + candidates + HEADER - 1], candidates)
        if len(found):
            return at + int(found[0])
        at += candidates
        # A next record is usually near; the search through a long damaged stretch should not be made of small steps.
        window = min(4 * window, _WIDEST_WINDOW)
    return -1


def _sound_headers(data: NDArray[np.uint8], count: int) -> NDArray[np.intp]:
    """Positions below `count` at which a header with a sound checksum begins."""
    # Lengths up to LONGEST leave the upper bytes empty; this alone rules out nearly every position.
    likely = data[3 : 3 + count] <= LONGEST >> 24
    for place in range(4, _LENGTH):
        likely &= data[place : place + count] == 0
    at = np.flatnonzero(likely)
    tables = distance_tables(_LENGTH)
    crc = np.full(len(at), checksum(bytes(_LENGTH)), np.uint32)
    stored = np.zeros(len(at), np.uint32)
    for place in range(4):
        crc ^= tables[_LENGTH - 1 - place][data[at + place]]
        stored |= data[at + _LENGTH + place].astype(np.uint32) << np.uint32(8 * place)
    found: NDArray[np.intp] = at[masked_words(crc) == stored]
    return found
