"""``run-*.wandb``: the history of a W&B run as its client writes it, online or offline, whether it ended or crashed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.readers.base import RawLog, Skipped
from holter.readers.plausibility import NotALogError, objection
from holter.readers.tensorboard.wire import MalformedError
from holter.readers.unpacking import damage, torn
from holter.readers.wandb.framing import MAGIC, Framing
from holter.readers.wandb.history import History
from holter.readers.wandb.messages import CONFIG, HISTORY, RUN, message, run, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawColumn, Source

_BOOKKEEPING = ("_step", "_runtime", "_timestamp")
_MEDIA = "/_type"
"""How W&B marks the description of something that it keeps in a file."""
_NAMED = 5
_DAMAGE_NAMED = 20


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
        framing, history = Framing(), History(source.name)
        config: dict[str, object] = {}
        title, strange = "", 0
        with source.open() as stream:
            for record in framing.records(stream):
                try:
                    number, at, end = message(record)
                    if number == HISTORY:
                        history.add(record, at, end)
                    elif number == CONFIG:
                        config.update(settings(record, at, end))
                    elif number == RUN:
                        title, first = run(record, at, end)
                        config = {**first, **config}
                except MalformedError:
                    strange += 1
            wrong, cut = damage(stream), torn(stream)
        columns = _without_media(history)
        skipped = [
            Skipped(source.name, None, f"damaged at byte {at:,}; what was written there is lost")
            for at in framing.damaged[:_DAMAGE_NAMED]
        ]
        if len(framing.damaged) > _DAMAGE_NAMED:
            skipped.append(Skipped(source.name, None, f"{len(framing.damaged) - _DAMAGE_NAMED} more damaged places"))
        if wrong:
            skipped.append(Skipped(source.name, None, wrong))
        if strange + history.damaged:
            skipped.append(Skipped(source.name, None, f"records that are not W&B's: {strange + history.damaged}"))
        _refuse(source.name, columns, skipped)
        yield RawLog(
            name=source.name,
            reader=self.name,
            rows=history.rows,
            columns=columns,
            config=config,
            skipped=tuple(skipped),
            notes=tuple(_notes(history, columns, title, unfinished=framing.unfinished or cut)),
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
    found = f" The first place that could not be read: {skipped[0].why}." if skipped else ""
    kind = UnreadableLogError if skipped else NotALogError
    raise kind.of(
        file,
        f"this W&B run logged no numbers.{found}",
        "Give the run's `files/output.log`, which holds what it printed.",
    )


def _notes(history: History, columns: dict[str, RawColumn], title: str, *, unfinished: bool) -> Iterator[str]:
    if title:
        yield f"W&B calls this run {title!r}"
    names = [key for key in history.aside if key not in columns]
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"left aside, without numbers: {', '.join(n[:40] for n in names[:_NAMED])}{more}"
    mixed = [key for key in history.aside if key in columns]
    if mixed:
        yield f"values that are no numbers were left aside: {sum(history.aside[k] for k in mixed)} ({', '.join(mixed[:_NAMED])})"
    if unfinished:
        yield "the last record is not complete; the file is still being written, or was cut"


WANDB = Wandb()
