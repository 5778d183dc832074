"""``run-*.swanlab`` and ``backup.swanlab``: the record of a SwanLab run that every mode but ``disabled`` keeps on disk."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import listed, phrase, said
from holter.readers.base import Skipped
from holter.readers.stores.points import Points, log_of
from holter.readers.swanlab.messages import Column, Media, Scalar, Title, message
from holter.readers.table import MOST_COLUMNS
from holter.readers.tensorboard.wire import MalformedError
from holter.readers.unpacking import damage, torn
from holter.readers.wandb.framing import Framing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawLog, Source

MAGIC = b":SWL"
_NAMED = 5
_DAMAGE_NAMED = 20


class SwanLab:
    """Reads ``.swanlab`` files."""

    name = "swanlab"
    title = "SwanLab run files (.swanlab), of cloud, local and offline runs"
    priority = 20

    def recognises(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the signature says it all
        """By the signature."""
        return head.startswith(MAGIC)

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log.

        Raises:
            UnreadableLogError: When there is no number in it.
        """
        framing = Framing()
        rows: dict[str, array[float]] = {}
        system, aside, title, strange = set[str](), Counter[str](), "", 0
        with source.open() as stream:
            for order, record in enumerate(framing.records(stream)):
                try:
                    sent = message(record)
                except MalformedError:
                    strange += 1
                    continue
                if isinstance(sent, Scalar):
                    # The order of the records tells which of two values at one step is the newer; their times may tie.
                    numbers = rows.get(sent.key)
                    if numbers is None:
                        numbers = rows[sent.key] = array("d")
                    numbers.extend((sent.step, sent.value, order))
                    if len(rows) > MOST_COLUMNS:
                        raise UnreadableLogError.of(
                            source.name,
                            said("it has more than {most:,} names, as no log has.", most=MOST_COLUMNS),
                            "Give fewer.",
                        )
                elif isinstance(sent, Column) and sent.is_system:
                    system.add(sent.key)
                elif isinstance(sent, Media):
                    aside[sent.key] += 1
                elif isinstance(sent, Title):
                    title = title or sent.name
            wrong, cut = damage(stream), torn(stream)
        skipped = _skipped(source.name, framing, wrong, strange)
        if not rows and skipped:
            raise UnreadableLogError.of(
                source.name,
                said(
                    "no number could be read from it. The first place that could not be read: {why}.",
                    why=phrase(skipped[0].why),
                ),
            )
        notes: list[str] = [said("SwanLab calls this run {name!r}", name=title)] if title else []
        points = {key: Points.one_after_another(rows.pop(key)) for key in list(rows)}
        measured = sum(len(points.pop(key).values) for key in system & points.keys())
        if measured:
            notes.append(said("measurements of the machine left aside, which count their own steps: {n}", n=measured))
        if aside:
            note = said(
                "left aside, without numbers: {names}"
                if len(aside) <= _NAMED
                else "left aside, without numbers: {names} and {n} more",
                names=listed(list(aside)[:_NAMED]),
                n=len(aside) - _NAMED,
            )
            notes.append(note)
        if framing.unfinished or cut:
            notes.append("the last record is not complete; the file is still being written, or was cut")
        yield log_of(
            points,
            name=source.name,
            reader=self.name,
            config={},
            notes=notes,
            skipped=skipped,
        )


def _skipped(file: str, framing: Framing, wrong: str | None, strange: int) -> list[Skipped]:
    """What could not be read of the file, with the place."""
    places = framing.damaged[:_DAMAGE_NAMED]
    skipped = [
        Skipped(file, None, said("damaged at byte {at:,}; what was written there is lost", at=at)) for at in places
    ]
    if len(framing.damaged) > len(places):
        skipped.append(Skipped(file, None, said("{n} more damaged places", n=len(framing.damaged) - len(places))))
    if wrong:
        skipped.append(Skipped(file, None, wrong))
    if strange:
        skipped.append(Skipped(file, None, said("records that are not SwanLab's: {n}", n=strange)))
    return skipped


SWANLAB = SwanLab()
