from __future__ import annotations

import numpy as np
import pytest

from holter.readers.tensorboard import crc32c
from tests.unit.readers.tensorboard import writing

RANDOM = np.random.default_rng(7).integers(0, 256, 5000, dtype=np.uint8)


@pytest.mark.parametrize(
    ("message", "expected"),
    # The first is the check value of the CRC catalogue, the others are RFC 3720, appendix B.4.
    [
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_published_check_values_come_out(message, expected):
    assert crc32c.checksum(message) == expected


@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 127, 128, 129, 511, 512, 513, 1024, 1025, 5000])
def test_every_length_agrees_with_the_bit_serial_loop(length):
    message = RANDOM[:length].tobytes()
    assert crc32c.checksum(message) == writing.crc32c(message)


def test_many_messages_at_once_agree_with_one_by_one():
    lengths = np.array([0, 1, 3, 4, 5, 60, 61, 60, 512, 513, 1500, 7])
    starts = np.array([0, 9, 40, 41, 300, 7, 3000, 11, 100, 2000, 3400, 4993])
    found = crc32c.checksums(RANDOM, starts, lengths)
    expected = [writing.crc32c(RANDOM[a : a + n].tobytes()) for a, n in zip(starts, lengths, strict=True)]
    assert found.tolist() == expected


def test_a_byte_adds_what_the_table_of_its_distance_says():
    message = bytearray(b"thirty-two bytes, or a few more.")
    before = writing.crc32c(bytes(message))
    for place in range(len(message)):
        changed = bytearray(message)
        changed[place] ^= 0xA5
        distance = len(message) - 1 - place
        assert before ^ writing.crc32c(bytes(changed)) == crc32c.distance_tables(distance + 1)[distance][0xA5]


def test_masking_is_the_same_for_one_and_for_many():
    words = np.array([0, 1, 0x7FFF, 0x8000, 0xFFFFFFFF, 0xE3069283], np.uint32)
    assert crc32c.masked_words(words).tolist() == [crc32c.masked(int(w)) for w in words]
    assert crc32c.masked(writing.crc32c(b"abc")).to_bytes(4, "little") == writing.masked(b"abc")
