"""Rows of a console gathered into logs: by family of grammars, without what other ranks say again."""

from __future__ import annotations

from array import array
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from holter.language import phrase, said
from holter.readers.base import RawColumn, RawLog
from holter.readers.cells import may_be_cut
from holter.readers.console.grammar import Standing
from holter.readers.console.progress_bar import ProgressBars
from holter.readers.plausibility import is_axis
from holter.readers.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from holter.readers.console.grammar import Values
    from holter.readers.console.scanner import Row

_STEPS = ("step", "global_step", "global_step/max_steps", "current_steps", "iteration")
_EPOCH = "epoch"
_NOT_REGULAR = ("eval_loss", "eval_runtime", "eval_reward", "train_runtime")
_REMEMBERED = 50
_AGAIN = 3


class Stream:
    """The rows of one family, as one rank printed them.

    Attributes:
        records: The rows so far.
        aside: Rows that another process printed as well.
        unfinished: Whether the text ends in the middle of a row.
        frameworks: Dialects of the frameworks that print rows of these forms.
    """

    def __init__(self, file: str, standing: Standing, bars: ProgressBars) -> None:
        """Begin.

        Args:
            file: What messages call the log.
            standing: Standing of the family's grammars.
            bars: The bars seen so far.
        """
        self.records = Records(file)
        self.standing = standing
        self.aside = 0
        self.unfinished = False
        self.rows = 0
        self.bars = ProgressBars(bars)
        self.frameworks: tuple[str, ...] = ()
        self._regular = array("b")
        self._lines = array("q")
        self._pending: tuple[Values, int, str] | None = None
        self._shapes: dict[tuple[str, ...], list[str]] = {}
        self._alone = self._precedes = False

    def add(self, row: Row) -> None:
        """Add a row, or what belongs to the row before or after it."""
        if row.grammar.frameworks != self.frameworks:
            self.frameworks = tuple(dict.fromkeys([*self.frameworks, *row.grammar.frameworks]))
        if row.values is None:
            self.records.skip(
                row.line.number, said("a row of metrics begins here that cannot be read: {why}", why=phrase(row.why))
            )
            return
        self._alone = self._alone or row.grammar.is_log(row.line.text)
        before = self._pending
        together = row.grammar.continues or self._precedes
        if before is not None and together and not before[0].keys() & row.values.keys():
            before[0].update(row.values)
            self._precedes = row.grammar.precedes
            return
        if before is not None and row.line.process != before[2] and _says_again(before[0], row.values):
            self.aside += 1
            return
        self.flush()
        self._pending = row.values, row.line.number, row.line.process
        self._precedes = row.grammar.precedes
        self.bars.row()

    def flush(self) -> None:
        """Put the newest row, to which nothing can be added any more, into the records."""
        if self._pending is None:
            return
        values, number, _ = self._pending
        self._pending = None
        self.rows += 1
        keys = tuple(values)
        self._regular.append(not any(k in values for k in _NOT_REGULAR))
        self._lines.append(number)
        self.records.add(values, number, nested=False)
        last = self._shapes.setdefault(keys, [])
        if len(last) < _REMEMBERED:
            last.append(str(values[keys[-1]]))

    @property
    def believed(self) -> bool:
        """Whether the rows are a log: of a form that other text has too, those that come again and again or stand alone."""
        if not self.rows:
            return False
        return self.standing < Standing.ANY or self._alone or max(map(len, self._shapes.values())) >= _AGAIN

    def drop_unfinished(self) -> None:
        """The newest row stands in a line that has no end yet. It stays where it is certain that nothing is missing of it."""
        if self._pending is None:
            return
        values = self._pending[0]
        keys = tuple(values)
        shape = self._shapes.get(keys)
        if self.rows and shape is None:
            self._pending, self.unfinished = None, True
        elif may_be_cut(str(values[keys[-1]]), shape or ()):
            del values[keys[-1]]
            if not values:
                self._pending, self.unfinished = None, True
                return
            self.records.notes.append(
                said(
                    "the last line has no line end, so its last value ({metric}) may be cut and was left out",
                    metric=keys[-1],
                )
            )

    def logs(self, name: str, reader: str, notes: Iterable[str]) -> Iterator[RawLog]:
        """The log of these rows, or one for every run where the text holds several that say no step.

        Raises:
            UnreadableLogError: When they are no log of a training run.
        """
        if self.unfinished:
            self.records.notes.append("the last line is not finished yet, so it is not a row")
        if self.aside:
            self.records.notes.append(
                said("rows that several processes printed were read once: {n} left aside", n=self.aside)
            )
        log = replace(self.records.log(name, reader, notes=notes), dialects=self.frameworks)
        if any(k in log.columns for k in _STEPS):
            yield log
            return
        steps = self.bars.steps(self._regular) if self.bars.rows == len(self._regular) else None
        if steps is not None:
            yield _with_steps(log, dict(zip(self._lines, steps.tolist(), strict=True)))
        else:
            yield from _runs(log)


def _says_again(before: Values, values: Values) -> bool:
    """Whether another process says the row before once more: the same names at the same step, or the same values."""
    if before.keys() != values.keys():
        return False
    steps = [k for k in before if k in _STEPS]
    return all(before[k] == values[k] for k in steps) if steps else before == values


def _with_steps(log: RawLog, by_line: dict[int, float]) -> RawLog:
    assert log.lines is not None
    steps = np.array([by_line.get(line, np.nan) for line in log.lines.tolist()], np.float64)
    known = np.flatnonzero(~np.isnan(steps))
    return replace(
        log,
        columns={"step": RawColumn(known, steps[known]), **log.columns},
        notes=(*log.notes, "the rows say no step; their steps are those of the progress bar beside them."),
    )


def _runs(log: RawLog) -> Iterator[RawLog]:
    """The log, cut where its epochs fall back: without steps nothing else tells several runs in one text."""
    epoch = log.columns.get(_EPOCH)
    starts = _falls(epoch, log.columns) if epoch is not None else []
    if not starts:
        yield log
        return
    bounds = [0, *starts, log.rows]
    for number, (first, end) in enumerate(pairwise(bounds), start=1):
        yield _part(log, first, end, f"{log.name} (run {number} of {len(starts) + 1})")


def _falls(epoch: RawColumn, columns: Mapping[str, RawColumn]) -> list[int]:
    """Rows at which the epoch falls back, where epochs repeat and so cannot serve as the steps."""
    fullest = max((c.at for k, c in columns.items() if not is_axis(k)), key=len, default=epoch.at[:0])
    own = epoch.values[np.isin(epoch.at, fullest)]
    if len(own) < 2 or not (np.diff(own) == 0).any():
        return []
    back = np.flatnonzero(np.diff(epoch.values) < 0) + 1
    return [int(r) for r in epoch.at[back]]


def _part(log: RawLog, first: int, end: int, name: str) -> RawLog:
    columns = {key: part for key, column in log.columns.items() if len((part := column.between(first, end)).at)}
    lines: NDArray[np.int64] | None = None if log.lines is None else log.lines[first:end]
    return replace(log, name=name, rows=end - first, columns=columns, lines=lines)
