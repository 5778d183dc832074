"""Records, one after another, made into a log: the part that every JSON format shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.errors import UnreadableLogError, reason
from holter.language import listed, phrase, said, some
from holter.readers.base import RawColumn, RawLog, Skipped
from holter.readers.evaluation_rows import marked_evaluation
from holter.readers.lines import MOST_SKIPPED
from holter.readers.numbers import Gap
from holter.readers.plausibility import NotALogError, is_axis, objection
from holter.readers.rows import CONFIG, TooDeepError, config_of, flat
from holter.readers.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

_SUMMARY = "train_runtime"
_NAMED = 20
"""How many names have a remark of their own."""
_NAMED_TOGETHER, _WIDEST_NAME = 5, 40
"""How many names stand in one remark, and the characters of a name in it."""


class Records:
    """A log in the making, record by record.

    Attributes:
        table: The rows so far.
        config: Hyper-parameters met on the way.
        skipped: What could not be read.
        notes: Remarks for the user.
    """

    def __init__(self, file: str, none: Gap = Gap.NULL, keep: Callable[[str], bool] | None = None) -> None:
        """Begin.

        Args:
            file: What messages call the log.
            none: What a None stands for in this format.
            keep: Which names are wanted; all, unless given.
        """
        self.file = file
        self.table = Table(file, none, keep)
        self.config: dict[str, object] = {}
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []
        self._more_skipped = 0

    def skip(self, line: int | None, why: str) -> None:
        """Note something that was not read; the hundredth and later ones are only counted."""
        if len(self.skipped) < MOST_SKIPPED:
            self.skipped.append(Skipped(self.file, line, why))
        else:
            self._more_skipped += 1

    def add(self, record: Mapping[str, object], line: int, *, nested: bool = True) -> None:
        """Add one record as a row.

        Args:
            record: Values by name.
            line: 1-based line in the file.
            nested: Whether it may hold objects; False when the caller knows that it does not.

        Raises:
            UnreadableLogError: When the log uses more names than any log does.
        """
        if nested:
            try:
                found = config_of(record)
                if found:
                    self.config.update(found)
                    record = {k: v for k, v in record.items() if k not in CONFIG or not isinstance(v, dict)}
                record = flat(record)
            except TooDeepError as error:
                self.skip(line, reason(error))
                return
        if _SUMMARY in record:
            record = self._without_summary(record)
        if not record:
            return
        self.table.row(tuple(record), list(record.values()), line)

    def _without_summary(self, record: Mapping[str, object]) -> dict[str, object]:
        """The row that a trainer writes at its end holds means over the whole run, which are no point of it."""
        told = {k: v for k, v in record.items() if k.startswith("train_")}
        values = listed(f"{k} {v}" for k, v in told.items())
        self.notes.append(said("the trainer's summary is not a row: {values}", values=values))
        rest = {k: v for k, v in record.items() if k not in told}
        return rest if any(not is_axis(k) for k in rest) else {}

    def log(self, name: str, reader: str, *, lines: bool = True, notes: Iterable[str] = ()) -> RawLog:
        """The finished log.

        Args:
            name: What to call it.
            reader: Name of the reader.
            lines: Whether the rows' lines are lines of the file.
            notes: Further remarks.

        Raises:
            UnreadableLogError: When it holds nothing that a training run logs.
        """
        columns = self.table.columns()
        self._refuse(columns)
        for key in [k for k in self.table.texts if k in columns][:_NAMED]:
            self._texts_among_numbers(key)
        columns = marked_evaluation(columns, len(self.table), self.table.marked())
        columns, kept = _without_blank_rows(columns, len(self.table))
        if not lines:
            self.skipped = [Skipped(s.file, None, s.why) for s in self.skipped]
        if self._more_skipped:
            more = said("{n} more places could not be read", n=self._more_skipped)
            self.skipped.append(Skipped(self.file, None, more))
        return RawLog(
            name=name,
            reader=reader,
            rows=int(kept.sum()),
            columns=columns,
            lines=self.table.lines()[kept] if lines else None,
            config=self.config,
            skipped=tuple(self.skipped),
            notes=(*self.notes, *notes, *self._left_aside(columns, int((~kept).sum()))),
        )

    def _refuse(self, columns: Collection[str]) -> None:
        wrong = objection(columns, self.table.texts) or self._labelled(columns)
        if wrong is None:
            return
        if self.skipped and not columns:
            first = self.skipped[0]
            wrong = said(
                "{what} The first place that could not be read: {place}: {why}.",
                what=phrase(wrong),
                place=first.place,
                why=phrase(first.why),
            )
        kind = UnreadableLogError if self.skipped else NotALogError
        raise kind.of(self.file, wrong, "A log needs rows with a step and numbers: loss, reward, kl, ...")

    def _labelled(self, columns: Collection[str]) -> str | None:
        """A table without steps whose rows are told apart by a text compares things; it does not run over time."""
        if any(map(is_axis, columns)):
            return None
        for key, samples in self.table.samples.items():
            labels = {text for _, text in samples}
            if self.table.texts[key] == len(self.table) > 1 and len(labels) == len(samples) and not _is_time(labels):
                return said(
                    "its rows have no step and are told apart by {metric} ({labels}): a comparison, not a run.",
                    metric=key,
                    labels=_some(sorted(labels)),
                )
        return None

    def _left_aside(self, columns: Collection[str], blank: int) -> Iterator[str]:
        names = [k for k in self.table.texts if k not in columns and f"eval_{k}" not in columns]
        if names:
            yield said("left aside, without numbers: {names}", names=_some(names))
        if blank:
            yield said("rows without a number left aside: {n}", n=blank)

    def _texts_among_numbers(self, key: str) -> None:
        numbers = self.table.lines()
        samples = self.table.samples.get(key, [])[:3]
        for row, value in samples:
            self.skip(int(numbers[row]), said("{metric}: {value!r} is not a number", metric=key, value=value))
        if self.table.texts[key] > len(samples):
            self.skip(None, said("{metric}: {n} values in all are not numbers", metric=key, n=self.table.texts[key]))


def _without_blank_rows(columns: dict[str, RawColumn], rows: int) -> tuple[dict[str, RawColumn], NDArray[np.bool_]]:
    """The columns over the rows that hold any number, and which rows do. Shape of the latter: ``(rows,)``."""
    kept = np.zeros(rows, bool)
    for at in {id(c.at): c.at for c in columns.values()}.values():
        kept[at] = True
    if kept.all():
        return columns, kept
    moved = np.cumsum(kept) - 1
    return {k: RawColumn(moved[c.at], c.values, c.null) for k, c in columns.items()}, kept


def _is_time(texts: Iterable[str]) -> bool:
    """Whether texts are dates or times of day."""
    return all(t[:1].isdigit() and any(c in t for c in ":-/") for t in texts)


def _some(names: Iterable[str]) -> str:
    return some([name[:_WIDEST_NAME] for name in names], _NAMED_TOGETHER)
