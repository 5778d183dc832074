"""Where a run stands, by the end of its file: known long before a large log is read."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from holter.errors import HolterError
from holter.readers.growth import GrowingReader
from holter.readers.registry import readers_for
from holter.runs.step_axis import USUAL

if TYPE_CHECKING:
    from holter.readers.base import Source

TAIL = 1 << 14
"""Bytes at the end of a file that are read."""


def glimpse(source: Source) -> float | None:
    """The step of the last row of a log that is appended to line by line.

    The rows at the end are read as if they were all there are, behind the first line, which names the columns in some formats.
    Only a column that is called as steps usually are is believed: which dialect the log speaks is not asked here, because that
    costs more than everything else.

    Args:
        source: The log.

    Returns:
        None where the end of the file does not tell: it is packed or binary, written as a whole, or counts no steps.
    """
    newest = source.files[-1]
    try:
        reader = next(readers_for(newest.name, source.head()), None)
        if not isinstance(reader, GrowingReader) or (growing := reader.grow(source)) is None:
            return None
        size = newest.stat().st_size
        with newest.open("rb") as stream:
            head = stream.readline(TAIL)
            stream.seek(max(len(head), size - TAIL))
            tail = stream.read(TAIL)
        whole = len(head) + len(tail) >= size
        growing.feed(newest, head + (tail if whole else tail.partition(b"\n")[2]))
        columns = growing.logs()[-1].columns
    except (HolterError, OSError, IndexError):
        return None
    steps = next((columns[n] for n in map("".join, product(("", "train/"), USUAL)) if n in columns), None)
    known = steps.values[np.isfinite(steps.values)] if steps is not None else np.empty(0)
    return float(known[-1]) if len(known) else None
