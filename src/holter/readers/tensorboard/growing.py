"""Event files that grow: what is new of a long log costs what is new."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from holter.language import phrase, said
from holter.readers.base import RawLog, Source
from holter.readers.tensorboard.gathered import Gathered
from holter.readers.tensorboard.reader import TENSORBOARD, TORN, columns_of, in_order, log_of
from holter.readers.tensorboard.rows import Stretches
from holter.readers.tensorboard.stream import EventStream

if TYPE_CHECKING:
    from pathlib import Path


class GrowingEvents:
    """The event files of one folder."""

    outlives_rotation = False

    def __init__(self, name: str, parts: tuple[Path, ...]) -> None:
        """Begin.

        Args:
            name: What messages call the log.
            parts: Its files, the oldest first.
        """
        self.parts = parts
        self._name = name
        self._gathered = Gathered()
        self._old = [Stretches() for _ in parts]
        self._new = [Stretches() for _ in parts]
        self._streams = [EventStream(Source.of(part).name, self._gathered) for part in parts]

    def join(self, part: Path) -> bool:
        """Where it is the newest, as that of a run that was resumed."""
        if in_order((*self.parts, part))[-1] != part:
            return False
        self.parts = (*self.parts, part)
        self._old.append(Stretches())
        self._new.append(Stretches())
        self._streams.append(EventStream(Source.of(part).name, self._gathered))
        return True

    def feed(self, part: Path, data: bytes) -> None:
        """More bytes of a file."""
        index = self.parts.index(part)
        self._gathered.stretches = self._new[index]
        self._streams[index].feed(data)

    def fresh(self) -> RawLog | None:
        """The scalars that came since the last call, in rows of their own: a step that goes on comes with what is new of it."""
        fresh = Stretches()
        for index, stream in enumerate(self._streams):
            self._gathered.stretches = self._new[index]
            stream.drain()
            new = self._new[index]
            if len(new):
                fresh.append(new)
                self._old[index].append(new)
                self._new[index] = Stretches()
        if not len(fresh):
            return None
        rows = fresh.rows()
        return RawLog(name=self._name, reader=TENSORBOARD.name, rows=len(rows.steps), columns=columns_of(rows))

    def logs(self) -> list[RawLog]:
        """What reading the files so far from the start gives."""
        return [deepcopy(self)._ended()]

    def _ended(self) -> RawLog:
        notes: list[str] = []
        whole = Stretches()
        for part, old, new, stream in zip(self.parts, self._old, self._new, self._streams, strict=True):
            self._gathered.stretches = new
            if stream.finish():
                notes.append(said("{place}: {why}", place=Source.of(part).name, why=phrase(TORN)))
            whole.append(old)
            whole.append(new)
        self._gathered.stretches = whole
        return log_of(self._gathered, self._name, (), notes)
