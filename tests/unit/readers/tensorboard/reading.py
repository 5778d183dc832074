"""Short ways to read bytes in a test."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from holter.readers.base import Source
from holter.readers.tensorboard.gathered import Gathered
from holter.readers.tensorboard.reader import TENSORBOARD
from holter.readers.tensorboard.stream import EventStream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holter.readers.base import RawLog

Point = tuple[int, str]


def read(data: bytes) -> RawLog:
    (log,) = TENSORBOARD.read(Source("events.out.tfevents.1.host", data=data))
    return log


def steps(log: RawLog) -> list[int]:
    return [int(s) for s in log.columns["step"].values] if log.rows else []


def series(log: RawLog, tag: str) -> list[tuple[int, float]]:
    """Step and value of every point of a tag, in the order of the rows."""
    column = log.columns[tag]
    assert list(column.at) == sorted(set(column.at.tolist()))
    numbers = steps(log)
    return [(numbers[row], value) for row, value in zip(column.at.tolist(), column.values.tolist(), strict=True)]


def everything(log: RawLog) -> dict[str, list[tuple[int, bytes]]]:
    """Every point of every tag, values as bits, so that NaN equals itself."""
    tags = [name for name in log.columns if name not in ("step", "wall_time")]
    return {tag: [(step, bits(value)) for step, value in series(log, tag)] for tag in tags}


def bits(value: float) -> bytes:
    return struct.pack("<d", math.nan if math.isnan(value) else value)


def in_pieces(data: bytes, sizes: Iterable[int]) -> tuple[Gathered, int]:
    """What comes out when the bytes arrive in pieces; and the bytes of a torn last record."""
    gathered = Gathered()
    stream = EventStream("piecewise", gathered)
    at = 0
    for size in sizes:
        stream.feed(data[at : at + size])
        at += size
    stream.feed(data[at:])
    return gathered, stream.finish()
