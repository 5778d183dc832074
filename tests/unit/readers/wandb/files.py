"""Writes ``.wandb`` files record by record, as W&B's client frames them; a second implementation, kept apart from the reader."""

import json
import struct
import zlib

BLOCK = 32768


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def item(key, value, *, nested=True):
    path = key if isinstance(key, tuple) else (key,)
    names = b"".join(field(2, part.encode()) for part in path) if nested else field(1, key.encode())
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return field(1, names + field(16, text.encode()))


def record(number, kind, content):
    return b"\x08" + varint(number) + field(kind, content)


def history(number, row, *, nested=True):
    items = b"".join(item(key, value, nested=nested) for key, value in row.items())
    return record(number, 2, items + field(2, b"\x08" + varint(number)))


def summary(number, row):
    return record(number, 3, b"".join(item(key, value) for key, value in row.items()))


def config(number, values):
    return record(number, 5, b"".join(item(key, value) for key, value in values.items()))


def run(number, title, values):
    return record(
        number,
        17,
        field(1, b"ab12") + field(4, b"".join(item(k, v) for k, v in values.items())) + field(8, title.encode()),
    )


def framed(records):
    out = bytearray(b":W&B\xe1\xbe\x00")
    for content in records:
        left, first = content, True
        while first or left:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            part, left = left[: room - 7], left[room - 7 :]
            kind = {(True, True): 1, (True, False): 2, (False, False): 3, (False, True): 4}[first, not left]
            out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + part), len(part), kind) + part
            first = False
    return bytes(out)
