"""A second implementation of the format, slow and plain: bit by bit, byte by byte, sharing nothing with the reader."""

from __future__ import annotations

import struct


def crc32c(data: bytes) -> int:
    """Bit-serial CRC-32C."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def record(payload: bytes) -> bytes:
    length = struct.pack("<Q", len(payload))
    return length + masked(length) + payload + masked(payload)


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def part(field: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def event(step: int, *values: bytes, wall_time: float | None = 1.7e9, more: bytes = b"") -> bytes:
    said = b"" if wall_time is None else b"\x09" + struct.pack("<d", wall_time)
    said += b"\x10" + varint(step) if step else b""
    said += part(5, b"".join(part(1, v) for v in values)) if values else b""
    return said + more


def simple(tag: str | bytes, value: float) -> bytes:
    name = tag.encode() if isinstance(tag, str) else tag
    return part(1, name) + b"\x15" + struct.pack("<f", value)


def tensor(tag: str, dtype: int, field: int, content: bytes, *, shape: bytes | None = None, plugin: str = "") -> bytes:
    said = b"\x08" + varint(dtype)
    said += b"" if shape is None else part(2, shape)
    value = part(1, tag.encode()) + part(8, said + part(field, content))
    return value + (part(9, part(1, part(1, plugin.encode()))) if plugin else b"")


def text(tag: str, content: str) -> bytes:
    return tensor(tag, 7, 8, content.encode(), shape=b"", plugin="text")


def histogram(tag: str) -> bytes:
    return part(1, tag.encode()) + part(5, b"\x09" + struct.pack("<d", 0.0))


VERSION = record(event(0, more=part(3, b"brain.Event:2")))


def scalars(rows: list[tuple[int, dict[str, float]]], wall_time: float = 1.7e9) -> bytes:
    """A file with one record for each value, as torch writes it. Wall time rises by a second a row."""
    return VERSION + b"".join(
        record(event(step, simple(tag, value), wall_time=wall_time + second))
        for second, (step, values) in enumerate(rows)
        for tag, value in values.items()
    )
