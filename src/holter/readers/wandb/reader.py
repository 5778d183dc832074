"""``run-*.wandb``: the history of a W&B run as its client writes it, online or offline, whether it ended or crashed."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import phrase, said, some
from holter.readers.base import RawLog, Skipped
from holter.readers.plausibility import NotALogError, objection
from holter.readers.tensorboard.wire import MalformedError
from holter.readers.unpacking import damage, torn
from holter.readers.wandb.framing import MAGIC, Framing
from holter.readers.wandb.history import History
from holter.readers.wandb.messages import CONFIG, HISTORY, RUN, message, run, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holter.readers.base import RawColumn, Source
    from holter.readers.growth import Growing

_BOOKKEEPING = ("_step", "_runtime", "_timestamp")
_MEDIA = "/_type"
"""How W&B marks the description of something that it keeps in a file."""
_CHUNK = 1 << 20
_NAMED, _WIDEST_NAME = 5, 40


class Wandb:
    """Reads ``.wandb`` files."""

    name = "wandb"
    title = "W&B run files (.wandb), of online, offline and crashed runs"
    priority = 20

    def recognises(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the signature says it all
        """By the signature."""
        return head.startswith(MAGIC)

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log.

        Raises:
            UnreadableLogError: When there is no row in it.
        """
        file = _File(source)
        with source.open() as stream:
            for data in iter(partial(stream.read, _CHUNK), b""):
                file.take(data)
            wrong, cut = damage(stream), torn(stream)
        yield file.end(wrong, cut=cut)

    def grow(self, source: Source) -> Growing:
        """One log, block by block."""
        return _File(source)


class _File:
    """A file as far as it has been read."""

    outlives_rotation = False

    def __init__(self, source: Source) -> None:
        self.parts = source.files
        self._name = source.name
        self._framing, self._history = Framing(), History(source.name)
        self._config: dict[str, object] = {}
        self._title, self._strange = "", 0
        self._given = 0
        self._touched = False

    def join(self, part: Path) -> bool:  # noqa: ARG002 - there is one file
        """Never."""
        return False

    def feed(self, part: Path, data: bytes) -> None:  # noqa: ARG002 - there is one file
        """More bytes of the file."""
        self.take(data)

    def take(self, data: bytes) -> None:
        """More bytes, from wherever."""
        self._touched = True
        self._take(self._framing.feed(data))

    def _take(self, records: Iterator[bytes]) -> None:
        for record in records:
            try:
                number, at, end = message(record)
                if number == HISTORY:
                    self._history.add(record, at, end)
                elif number == CONFIG:
                    self._config.update(settings(record, at, end))
                elif number == RUN:
                    self._title, first = run(record, at, end)
                    self._config = {**first, **self._config}
            except MalformedError:
                self._strange += 1

    def fresh(self) -> RawLog | None:
        """The rows that came since the last call."""
        if not self._touched:
            return None
        self._touched = False
        so_far = deepcopy(self)
        so_far._take(so_far._framing.finish())
        columns = so_far._history.columns(self._given)
        first, self._given = self._given, so_far._history.rows
        if self._given <= first:
            return None
        return RawLog(name=self._name, reader=WANDB.name, rows=self._given - first, columns=columns)

    def logs(self) -> list[RawLog]:
        """The log of the bytes so far."""
        return [deepcopy(self).end(None, cut=False)]

    def end(self, wrong: str | None, *, cut: bool) -> RawLog:
        """The file ends here.

        Args:
            wrong: What is wrong with the packed data that it came from.
            cut: Whether they end early.

        Raises:
            UnreadableLogError: When there is no row in it.
        """
        framing, history = self._framing, self._history
        self._take(framing.finish())
        columns = _without_media(history)
        skipped = framing.skipped(self._name)
        if wrong:
            skipped.append(Skipped(self._name, None, wrong))
        if self._strange + history.damaged:
            strange = said("records that are not W&B's: {n}", n=self._strange + history.damaged)
            skipped.append(Skipped(self._name, None, strange))
        _refuse(self._name, columns, skipped)
        return RawLog(
            name=self._name,
            reader=WANDB.name,
            rows=history.rows,
            columns=columns,
            config=self._config,
            skipped=tuple(skipped),
            notes=tuple(_notes(history, columns, self._title, unfinished=framing.unfinished or cut)),
        )


def _without_media(history: History) -> dict[str, RawColumn]:
    """The columns without those that describe a picture, a table or a histogram: its size, its width."""
    columns = history.columns()
    media = tuple(name.removesuffix(_MEDIA) + "/" for name in history.aside if name.endswith(_MEDIA))
    return {key: column for key, column in columns.items() if not key.startswith(media)} if media else columns


def _refuse(file: str, columns: dict[str, RawColumn], skipped: list[Skipped]) -> None:
    own = [key for key in columns if key not in _BOOKKEEPING]
    if own:
        wrong = objection(columns)
        if wrong is not None:
            raise NotALogError.of(file, wrong, "A log needs rows with numbers: loss, reward, kl, ...")
        return
    kind = UnreadableLogError if skipped else NotALogError
    raise kind.of(
        file,
        said(
            "this W&B run logged no numbers. The first place that could not be read: {why}.", why=phrase(skipped[0].why)
        )
        if skipped
        else "this W&B run logged no numbers.",
        "Give the run's `files/output.log`, which holds what it printed.",
    )


def _notes(history: History, columns: dict[str, RawColumn], title: str, *, unfinished: bool) -> Iterator[str]:
    if title:
        yield said("W&B calls this run {name!r}", name=title)
    names = [key for key in history.aside if key not in columns]
    if names:
        yield said("left aside, without numbers: {names}", names=some([n[:_WIDEST_NAME] for n in names], _NAMED))
    mixed = [key for key in history.aside if key in columns]
    if mixed:
        yield said(
            "values that are no numbers were left aside: {n} ({names})",
            n=sum(history.aside[k] for k in mixed),
            names=some(mixed, _NAMED),
        )
    if unfinished:
        yield "the last record is not complete; the file is still being written, or was cut"


WANDB = Wandb()
