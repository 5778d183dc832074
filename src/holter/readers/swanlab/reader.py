"""``run-*.swanlab`` and ``backup.swanlab``: the record of a SwanLab run that every mode but ``disabled`` keeps on disk."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import phrase, said, some
from holter.readers.base import Skipped
from holter.readers.stores.points import SYSTEM, Points, log_of
from holter.readers.swanlab.messages import Column, Media, Scalar, Title, message
from holter.readers.table import refuse_names_of_data
from holter.readers.tensorboard.wire import MalformedError
from holter.readers.unpacking import damage, torn
from holter.readers.wandb.framing import Framing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawLog, Source

MAGIC = b":SWL"
_NAMED = 5


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
        framing, sent = Framing(), _Sent(source.name)
        with source.open() as stream:
            for record in framing.records(stream):
                sent.take(record)
            wrong, cut = damage(stream), torn(stream)
        skipped = _skipped(source.name, framing, wrong, sent.strange)
        if not sent.numbers and skipped:
            raise UnreadableLogError.of(
                source.name,
                said(
                    "no number could be read from it. The first place that could not be read: {why}.",
                    why=phrase(skipped[0].why),
                ),
                "Copy the file again.",
            )
        notes = list(sent.notes())
        if framing.unfinished or cut:
            notes.append("the last record is not complete; the file is still being written, or was cut")
        yield log_of(sent.points(), name=source.name, reader=self.name, config={}, notes=notes, skipped=skipped)


class _Sent:
    """What the records of a file say, one after another.

    Attributes:
        numbers: Step, value and place among the records of each number, by name.
        strange: Records that are none.
    """

    def __init__(self, file: str) -> None:
        self.numbers: dict[str, array[float]] = {}
        self.strange = 0
        self._file = file
        self._taken = 0
        self._system: set[str] = set()
        self._aside = Counter[str]()
        self._title = ""

    def take(self, record: bytes) -> None:
        """The next record.

        Raises:
            UnreadableLogError: When the log uses more names than any log does.
        """
        try:
            found = message(record)
        except MalformedError:
            self.strange += 1
            return
        if isinstance(found, Scalar):
            numbers = self.numbers.get(found.key)
            if numbers is None:
                numbers = self.numbers[found.key] = array("d")
                refuse_names_of_data(self._file, len(self.numbers))
            # The order of the records tells which of two values at one step is the newer; their times may tie.
            numbers.extend((found.step, found.value, self._taken))
            self._taken += 1
        elif isinstance(found, Column) and found.is_system:
            self._system.add(found.key)
        elif isinstance(found, Media):
            self._aside[found.key] += 1
        elif isinstance(found, Title):
            self._title = self._title or found.name

    def points(self) -> dict[str, Points]:
        """The numbers, those that are measured of the machine under names that say so. They are held here no longer."""
        return {
            f"{SYSTEM}{key}" if key in self._system else key: Points.one_after_another(self.numbers.pop(key))
            for key in list(self.numbers)
        }

    def notes(self) -> Iterator[str]:
        """What the user should know."""
        if self._title:
            yield said("SwanLab calls this run {name!r}", name=self._title)
        if self._aside:
            yield said("left aside, without numbers: {names}", names=some(list(self._aside), _NAMED))


def _skipped(file: str, framing: Framing, wrong: str | None, strange: int) -> list[Skipped]:
    """What could not be read of the file, with the place."""
    skipped = framing.skipped(file)
    if wrong:
        skipped.append(Skipped(file, None, wrong))
    if strange:
        skipped.append(Skipped(file, None, said("records that are not SwanLab's: {n}", n=strange)))
    return skipped


SWANLAB = SwanLab()
