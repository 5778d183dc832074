"""CRC-32C (Castagnoli) in numpy, one message or many at once.

A CRC is affine in its message: what one byte adds depends on the byte and on how many bytes follow it, on nothing else.
One table per distance from the end therefore turns the bit-serial loop into look-ups that are XORed in any order.

References:
    Castagnoli, Bräuer, Herrmann, "Optimization of Cyclic Redundancy-Check Codes with 24 and 32 Parity Bits" (1993).
    TensorFlow's record format masks the sum: rotated right by 15 bits, plus a constant.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

POLYNOMIAL = 0x82F63B78
"""Castagnoli's polynomial, bits reversed."""
MASK_DELTA = 0xA282EAD8
SPAN = 512
"""Bytes that one pass of look-ups covers; a longer message is cut into pieces of this size."""
_GATHER = 1 << 15
"""Look-ups held in memory at a time."""
_SHORT = 128
"""Up to here a plain loop is faster than a call of numpy."""


def _byte_table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(POLYNOMIAL), table >> 1).astype(np.uint32)
    return table


_TABLE = _byte_table()
_STEPS: list[int] = _TABLE.tolist()


class _Distances:
    """What a byte adds to the register by the number of bytes after it, computed as far as it is asked for."""

    def __init__(self) -> None:
        self._tables = _TABLE[None]

    def upto(self, count: int) -> NDArray[np.uint32]:
        """Tables for the distances 0 to `count` - 1. Shape ``(count, 256)``, contiguous."""
        have = len(self._tables)
        if count > have:
            grown = np.empty((max(count, min(2 * have, SPAN)), 256), np.uint32)
            grown[:have] = self._tables
            for distance in range(have, len(grown)):
                before = grown[distance - 1]
                grown[distance] = (before >> np.uint32(8)) ^ _TABLE[before & np.uint32(255)]
            self._tables = grown
        return self._tables[:count]


_DISTANCES = _Distances()


def distance_tables(count: int) -> NDArray[np.uint32]:
    """What each byte value adds when 0, 1, ... `count` - 1 bytes follow it. Shape ``(count, 256)``."""
    return _DISTANCES.upto(count)


def checksum(message: bytes) -> int:
    """CRC-32C of a message."""
    if len(message) > _SHORT:
        return _long(message)
    register = 0xFFFFFFFF
    for byte in message:
        register = (register >> 8) ^ _STEPS[(register ^ byte) & 255]
    return register ^ 0xFFFFFFFF


def _long(message: bytes) -> int:
    """CRC-32C of a message of many pieces: the pieces by look-up, then joined one after the other."""
    tables = _DISTANCES.upto(SPAN)
    pieces = -(-len(message) // SPAN)
    padded = np.zeros(pieces * SPAN, np.uint8)
    # Zeros in front leave an all-zero register alone, so padding goes there and the initial register onto the message.
    start = len(padded) - len(message)
    padded[start:] = np.frombuffer(message, np.uint8)
    padded[start : start + 4] ^= 255
    offsets = np.arange(SPAN - 1, -1, -1, dtype=np.intp) * 256
    sums: list[int] = []
    batch = _GATHER // SPAN
    for first in range(0, pieces, batch):
        block = padded[first * SPAN : (first + batch) * SPAN].reshape(-1, SPAN)
        sums += np.bitwise_xor.reduce(tables.ravel()[block + offsets], axis=1).tolist()
    one, two, three, four = _past_a_piece()
    register = 0
    for piece in sums:
        register = (
            one[register & 255] ^ two[register >> 8 & 255] ^ three[register >> 16 & 255] ^ four[register >> 24] ^ piece
        )
    return register ^ 0xFFFFFFFF


@cache
def _past_a_piece() -> tuple[list[int], ...]:
    """What each of the register's bytes, the lowest first, adds when the bytes of a whole piece follow it."""
    tables = _DISTANCES.upto(SPAN)
    return tuple(tables[SPAN - 1 - k].tolist() for k in range(4))


def masked(crc: int) -> int:
    """The form in which records store a checksum."""
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF


def masked_words(crc: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """`masked` of every entry."""
    return (crc >> np.uint32(15) | crc << np.uint32(17)) + np.uint32(MASK_DELTA)


def checksums(data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint32]:
    """CRC-32C of many messages that lie in one buffer.

    Args:
        data: The buffer.
        starts: First byte of each message. Shape ``(n,)``.
        lengths: Bytes of each message. Shape ``(n,)``.

    Returns:
        Shape ``(n,)``.
    """
    out = np.empty(len(starts), np.uint32)
    alone = (lengths < 4) | (lengths > SPAN)
    for index in np.flatnonzero(alone).tolist():
        first = int(starts[index])
        out[index] = checksum(data[first : first + int(lengths[index])].tobytes())
    rest = np.flatnonzero(~alone)
    # Messages of like length share a pass, so that little of it falls on padding.
    rest = rest[np.argsort(lengths[rest], kind="stable")]
    while len(rest):
        widest = int(lengths[rest[-1]])
        take = rest[-max(1, _GATHER // widest) :]
        out[take] = _side_by_side(data, starts[take], lengths[take], widest)
        rest = rest[: -len(take)]
    return out


def _side_by_side(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], widest: int
) -> NDArray[np.uint32]:
    distance = np.arange(widest, dtype=np.int64)[:, None]
    at = starts + lengths - 1 - distance
    look_up = data[np.maximum(at, starts)].astype(np.intp)  # (widest, n)
    look_up[distance >= lengths] = 0
    look_up ^= np.where((distance < lengths) & (distance >= lengths - 4), 255, 0)
    look_up += distance * 256
    found: NDArray[np.uint32] = np.bitwise_xor.reduce(_DISTANCES.upto(widest).ravel()[look_up], axis=0)
    return found ^ np.uint32(0xFFFFFFFF)
