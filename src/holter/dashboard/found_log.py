"""A log below the folder as the fleet keeps it: its files, and what came of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from holter.dashboard.entry import Entry
    from holter.monitor.pulse import PulseTaker
    from holter.readers.base import Skipped, Source
    from holter.runs.load import Choices

Signature = tuple[tuple[str, int, int], ...]
"""Path, size and time of change of files."""


@dataclass(slots=True, eq=False)
class FoundLog:
    """The sources of one run, and what came of them.

    Attributes:
        choices: The sources, the best first.
        entries: The runs in it, one that is unread until it is read.
        seen: Its files at the last look.
        read: Its files when it was last read; None before it was.
        reader: Which reader reads it on and has kept what it understood; None before it was read a second time.
        troubles: Why sources of it could not be read.
        reading_due: Monotonic time before which it is not read again, seconds.
        diagnosis_due: The same for judging.
        busy: Whether it is being read.
        judging: Ids of its runs that are being judged.
        takers: Who takes the pulses of its runs, by id.
        pulsed: What its pulses were taken of.
        taken: When, seconds since 1970.
        shown: Ids of its runs that were published last.
    """

    choices: Choices
    entries: list[Entry]
    reader: int | None = None
    seen: Signature = ()
    read: Signature | None = None
    troubles: tuple[Skipped, ...] = ()
    reading_due: float = 0.0
    diagnosis_due: float = 0.0
    busy: bool = False
    judging: set[str] = field(default_factory=set)
    takers: dict[str, PulseTaker] = field(default_factory=dict)
    pulsed: object = None
    taken: float = 0.0
    shown: frozenset[str] = frozenset()

    @property
    def stale(self) -> bool:
        """Whether its files changed since it was read."""
        return self.seen != self.read

    @property
    def newest(self) -> int:
        """When its newest file changed."""
        return max((mtime for _, _, mtime in self.seen), default=0)


def key_of(choices: Choices) -> str:
    """The same for the same sources."""
    return "\0".join(source.name for source, _ in choices)


def signature_of(sources: Sequence[Source]) -> Signature:
    """Path, size and time of change of every file of a run."""
    return tuple(each for source in sources for each in signature_of_files(source.files))


def signature_of_files(paths: Sequence[Path]) -> Signature:
    """The same of these files, as far as they are there."""
    out: list[tuple[str, int, int]] = []
    for here in paths:
        with suppress(OSError):
            for file in sorted(here.iterdir()) if here.is_dir() else [here]:
                status = file.stat()
                out.append((str(file), status.st_size, status.st_mtime_ns))
    return tuple(out)
