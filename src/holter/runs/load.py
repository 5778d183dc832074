"""From a path to runs: which files, which reader, which dialect."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holter.readers.base import Source
from holter.readers.registry import reader_for
from holter.runs.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holter.readers.base import Skipped
    from holter.runs.run import Run


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a path gave.

    Attributes:
        runs: The runs, in the order of their names.
        refused: Files that were not read, each with its reason.
    """

    runs: tuple[Run, ...]
    refused: tuple[Skipped, ...] = ()


def load_source(source: Source, *, speaks: str | None = None) -> Loaded:
    """The runs in one file or stream.

    Raises:
        UnreadableLogError: When it cannot be read; names file, line and the way out.
    """
    return Loaded(tuple(run for log in reader_for(source).read(source) for run in canonical(log, speaks=speaks)))


def load(paths: Iterable[str], *, speaks: str | None = None) -> Loaded:
    """The runs in several files."""
    runs = [run for path in paths for run in load_source(Source.of(Path(path)), speaks=speaks).runs]
    return Loaded(tuple(runs))
