"""A TensorBoard event file, written without TensorBoard. Its scalars have single precision."""

from __future__ import annotations

import struct
import time
from typing import TYPE_CHECKING

import numpy as np

from holter.export.base import Written, clock_of, rows_of, without_config
from holter.language import said
from holter.readers.tensorboard.crc32c import checksum, masked

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from holter.readers.base import RawLog

_VERSION = b"\x1a\x0dbrain.Event:2"
_WALL_TIME, _STEP, _SUMMARY = b"\x09", b"\x10", b"\x2a"
_VALUE, _TAG, _SIMPLE_VALUE = b"\x0a", b"\x0a", b"\x15"
_AXES = frozenset({"step", "wall_time"})
"""Columns that an event has as its own; what reads event files gives them back."""
_LARGEST = float(np.finfo(np.float32).max)


class EventFile:
    """One event a row, at the row's step, in a folder of its own."""

    name = "tensorboard"
    title = "a TensorBoard event file"
    suffixes = ()
    folder = True

    def write(self, log: RawLog, steps: NDArray[np.float64], path: Path) -> Written:
        """Write every row as an event; the column of the steps becomes the events' step."""
        clock = clock_of(log)
        now = time.time()
        path.mkdir(parents=True)
        file = path / f"events.out.tfevents.{int(now)}.holter"
        nulls = 0
        with file.open("xb") as out:
            out.write(_framed(_WALL_TIME + struct.pack("<d", now) + _VERSION))
            for number, row in enumerate(rows_of(log)):
                held = {name: value for name, value in row.items() if value is not None and name not in _AXES}
                nulls += sum(value is None for value in row.values())
                out.write(_framed(_event(clock.get(number, now), steps[number], held)))
        lost = [said("that {n} values were null and not absent", n=nulls)] if nulls else []
        rounded = sum(_rounded(c.values) for name, c in log.columns.items() if name not in _AXES)
        if rounded:
            lost.append(said("digits beyond single precision, in {n} values", n=rounded))
        fractional = int(np.count_nonzero(steps % 1))
        if fractional:
            lost.append(said("the fractions of {n} steps", n=fractional))
        return Written(path, (*lost, *without_config(log)))


def _event(wall_time: float, step: float, row: dict[str, float]) -> bytes:
    values = b"".join(_scalar(name, value) for name, value in row.items())
    head = _WALL_TIME + struct.pack("<d", wall_time) + _STEP + _varint(int(step) & 0xFFFF_FFFF_FFFF_FFFF)
    return head + _SUMMARY + _varint(len(values)) + values


def _scalar(name: str, value: float) -> bytes:
    tag = name.encode("utf-8", errors="replace")
    single = np.float32(max(min(value, _LARGEST), -_LARGEST)) if np.isfinite(value) else np.float32(value)
    content = _TAG + _varint(len(tag)) + tag + _SIMPLE_VALUE + struct.pack("<f", single)
    return _VALUE + _varint(len(content)) + content


def _rounded(values: NDArray[np.float64]) -> int:
    """How many values are not the same in single precision."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32).astype(np.float64)
    return int(np.count_nonzero((single != values) & ~np.isnan(values)))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _framed(record: bytes) -> bytes:
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked(checksum(length))) + record + struct.pack("<I", masked(checksum(record)))


EVENT_FILE = EventFile()
