"""A TensorBoard event file, written without TensorBoard. Its scalars have single precision."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from holter.export.base import Written, clock_of, rows_of, without_config
from holter.language import said
from holter.readers.tensorboard import encoding

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from holter.readers.base import RawLog

_AXES = frozenset({"step", "wall_time"})
"""Columns that an event has as its own; what reads event files gives them back."""


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
            out.write(encoding.framed(encoding.version(now)))
            for number, row in enumerate(rows_of(log)):
                held = {name: value for name, value in row.items() if value is not None and name not in _AXES}
                nulls += sum(value is None for value in row.values())
                out.write(encoding.framed(encoding.scalars(clock.get(number, now), steps[number], held)))
        lost = [said("that {n} values were null and not absent", n=nulls)] if nulls else []
        rounded = sum(_rounded(c.values) for name, c in log.columns.items() if name not in _AXES)
        if rounded:
            lost.append(said("digits beyond single precision, in {n} values", n=rounded))
        fractional = int(np.count_nonzero(steps % 1))
        if fractional:
            lost.append(said("the fractions of {n} steps", n=fractional))
        return Written(path, (*lost, *without_config(log)))


def _rounded(values: NDArray[np.float64]) -> int:
    """How many values are not the same in single precision."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32).astype(np.float64)
    return int(np.count_nonzero((single != values) & ~np.isnan(values)))


EVENT_FILE = EventFile()
