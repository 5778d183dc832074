"""What an exporter is: a raw log in, a file or a folder out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from holter.errors import HolterError
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from holter.readers.base import RawLog

TIMES = ("_timestamp", "wall_time", "time")
"""Columns that hold when a row was written, the surest first: in some logs ``time`` is a duration."""


class ExportError(HolterError, ValueError):
    """A log that cannot be written where and as it was asked."""


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """What an exporter did.

    Attributes:
        path: The file or folder that holds the log now.
        lost: What of the log it does not hold, a sentence each.
    """

    path: Path
    lost: tuple[str, ...] = ()


@runtime_checkable
class Exporter(Protocol):
    """Writes one format. Instances are stateless; a module offers one as a constant."""

    name: str
    """Kebab-case name, as ``--to`` takes it."""
    title: str
    """What it writes, in a few words."""
    suffixes: tuple[str, ...]
    """Suffixes of destinations that mean this format."""
    folder: bool
    """Whether it writes a folder."""

    def write(self, log: RawLog, steps: NDArray[np.float64], path: Path) -> Written:
        """Write a log.

        Args:
            log: The log.
            steps: Step of each row, for formats that need one. Shape ``(rows,)``.
            path: The destination, which does not exist.

        Raises:
            ExportError: When it cannot be written; says the way out.
            OSError: When the disk does not take it.
        """
        ...


def rows_of(log: RawLog) -> Iterator[dict[str, float | None]]:
    """The rows of a log, one after another: values by name, None for a null, nothing for what is absent."""
    names = list(log.columns)
    columns = list(log.columns.values())
    if not columns:
        yield from ({} for _ in range(log.rows))
        return
    rows = np.concatenate([c.at for c in columns])
    order = np.argsort(rows, kind="stable")
    numbers = np.repeat(np.arange(len(columns)), [len(c.at) for c in columns])[order]
    values = np.concatenate([c.values for c in columns])[order]
    nulls = np.concatenate([np.zeros(len(c.at), bool) if c.null is None else c.null for c in columns])[order]
    bounds = np.searchsorted(rows[order], np.arange(log.rows + 1)).tolist()
    for first, end in pairwise(bounds):
        held = zip(numbers[first:end].tolist(), values[first:end].tolist(), nulls[first:end].tolist(), strict=True)
        yield {names[number]: None if null else value for number, value, null in held}


def clock_of(log: RawLog) -> dict[int, float]:
    """When each row was written, seconds since 1970, by number of the row; empty where the log does not say."""
    times = next((log.columns[name] for name in TIMES if name in log.columns), None)
    return dict(zip(times.at.tolist(), times.values.tolist(), strict=True)) if times is not None else {}


def without_config(log: RawLog) -> tuple[str, ...]:
    """That the hyper-parameters are lost, where there are some."""
    return (said("hyper-parameters of the run: {n}", n=len(log.config)),) if log.config else ()
