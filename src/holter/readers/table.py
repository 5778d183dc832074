"""Rows of mixed keys gathered into columns: rows that share their keys become arrays together.

Memory stays a small multiple of the columns: parsed rows are held only until a batch is full.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, cast

import numpy as np

from holter.errors import UnreadableLogError
from holter.language import said
from holter.readers.base import RawColumn
from holter.readers.numbers import Gap, mean_and_spread, scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

MOST_COLUMNS = 50_000
"""Distinct names that one log may use. The largest real logs (a norm for every layer) have some thousands."""
_BATCH = 1 << 17
"""Values held as Python objects before they become arrays."""
_SAMPLES = 20
_MOST_FORMS = 1000
"""Sets of names of which is remembered what is wanted of them."""
_FEW = 4
"""Rows of one key set in a batch below which arrays would cost more than they save."""


def refuse_names_of_data(file: str, names: int) -> None:
    """Refuse a log that uses as many different names as only data have.

    Raises:
        UnreadableLogError: When there are more than `MOST_COLUMNS`.
    """
    if names > MOST_COLUMNS:
        raise UnreadableLogError.of(
            file,
            said(
                "it uses more than {most:,} different names, so they seem to be data and not metrics.",
                most=MOST_COLUMNS,
            ),
            "Log values under fixed names, with the step as a value.",
        )


class Table:
    """Columns in the making.

    Attributes:
        texts: How many values that are no numbers each name had.
        samples: The first of those that are text, by name, each with its row.
    """

    def __init__(self, file: str, none: Gap = Gap.NULL, keep: Callable[[str], bool] | None = None) -> None:
        """Begin.

        Args:
            file: What messages call the log.
            none: What a None stands for in this format.
            keep: Which names are wanted; all, unless given.
        """
        self.file = file
        self.none = none
        self._keep = keep
        self._wanted: dict[tuple[str, ...], tuple[tuple[str, ...], list[int]]] = {}
        self.texts: Counter[str] = Counter()
        self.samples: dict[str, list[tuple[int, str]]] = {}
        self._lines = array("q")
        self._order: dict[str, None] = {}
        self._parts: dict[str, list[RawColumn]] = {}
        self._pending: dict[tuple[str, ...], tuple[list[int], list[Sequence[object]]]] = {}
        self._held = self._flushed = 0
        self._marks: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def row(self, keys: tuple[str, ...], values: Sequence[object], line: int) -> None:
        """Add a row.

        Args:
            keys: Names.
            values: As many values: numbers, None, or anything else, which is left aside unless it is text that stands for
                a number.
            line: 1-based line in the file.

        Raises:
            UnreadableLogError: When the log uses more names than any log does.
        """
        if self._keep is not None:
            keys, values = self._chosen(keys, values, self._keep)
        group = self._pending.get(keys)
        if group is None:
            group = self._pending[keys] = ([], [])
            self._order.update(dict.fromkeys(keys))
            refuse_names_of_data(self.file, len(self._order))
        group[0].append(len(self._lines))
        group[1].append(values)
        self._lines.append(line)
        self._held += len(keys)
        if self._held >= _BATCH:
            self._flush()

    def _chosen(
        self, keys: tuple[str, ...], values: Sequence[object], keep: Callable[[str], bool]
    ) -> tuple[tuple[str, ...], Sequence[object]]:
        """The wanted names of a row, and their values."""
        wanted = self._wanted.get(keys)
        if wanted is None:
            at = [i for i, key in enumerate(keys) if keep(key)]
            wanted = tuple(keys[i] for i in at), at
            if len(self._wanted) < _MOST_FORMS:
                self._wanted[keys] = wanted
        return wanted[0], [values[i] for i in wanted[1]]

    def __deepcopy__(self, memo: dict[int, object]) -> Table:
        """A table that goes on by itself. Finished arrays are shared: nothing changes them."""
        out = Table(self.file, self.none, self._keep)
        memo[id(self)] = out
        out.texts, out.samples = self.texts.copy(), {k: list(v) for k, v in self.samples.items()}
        out._lines, out._order = self._lines[:], dict(self._order)
        out._parts = {k: list(v) for k, v in self._parts.items()}
        out._pending = {k: (list(at), list(rows)) for k, (at, rows) in self._pending.items()}
        out._held, out._flushed, out._marks = self._held, self._flushed, dict(self._marks)
        return out

    def since(self, first: int) -> dict[str, RawColumn]:
        """The columns over the rows from `first` on, counted from there. Costs what the newest rows cost."""
        late = Table(self.file, self.none)
        if first < self._flushed:
            late._parts = {k: some for k, parts in self._parts.items() if (some := late_parts(parts, first))}
        late._order = dict(self._order)
        for keys, (positions, rows) in self._pending.items():
            begin = bisect_left(positions, first)
            if begin < len(positions):
                late._pending[keys] = ([at - first for at in positions[begin:]], rows[begin:])
        return late.columns()

    def _flush(self) -> None:
        loose: dict[str, list[tuple[int, object]]] = {}
        for keys, (positions, rows) in self._pending.items():
            if len(rows) < _FEW:
                for position, row in zip(positions, rows, strict=True):
                    for key, value in zip(keys, row, strict=True):
                        loose.setdefault(key, []).append((position, value))
                continue
            at = np.asarray(positions, np.int64)
            block = _block(rows)
            if block is not None:
                for key, values in zip(keys, np.ascontiguousarray(block.T), strict=True):
                    self._add(key, RawColumn(at, values))
                continue
            for key, column in zip(keys, zip(*rows, strict=True), strict=True):
                self._mixed(key, at, column)
        for key, entries in loose.items():
            self._mixed(key, np.asarray([p for p, _ in entries], np.int64), [v for _, v in entries])
        self._pending.clear()
        self._held = 0
        self._flushed = len(self._lines)

    def _mixed(self, key: str, at: NDArray[np.int64], column: Sequence[object]) -> None:
        """A column that may hold anything."""
        block = _array(column)
        if block is not None:
            gaps = np.array([value is None for value in column]) if None in column else None
            if gaps is None or self.none is Gap.NULL:
                self._add(key, RawColumn(at, block, gaps))
            elif not gaps.all():
                self._add(key, RawColumn(at[~gaps], block[~gaps]))
            return
        found = [value if value.__class__ is float else self._number(value) for value in column]
        if set(map(type, found)) == {float}:
            self._add(key, RawColumn(at, np.array(found, np.float64)))
            return
        spread = [(i, v) for i, v in enumerate(found) if v.__class__ is tuple]
        kept = [i for i, v in enumerate(found) if v.__class__ is not Gap or v is Gap.NULL]
        if spread:
            spreads = np.array([v[1] for _, v in spread], np.float64)
            self._add(f"{key}_std", RawColumn(at[[i for i, _ in spread]], spreads))
        if len(kept) < len(found):
            for index, value in enumerate(found):
                if value is Gap.OTHER:
                    self._text(key, int(at[index]), column[index])
        if not kept:
            return
        null = np.array([found[i] is Gap.NULL for i in kept], bool)
        values = [_NAN if v is Gap.NULL else v[0] if v.__class__ is tuple else v for v in (found[i] for i in kept)]
        self._add(key, RawColumn(at[kept], np.array(values, np.float64), null if null.any() else None))

    def _number(self, value: object) -> float | Gap | tuple[float, float]:
        """What a value that is no float stands for; a mean with its spread as two numbers."""
        if value is None:
            return self.none
        found = scalar(value)
        if found is Gap.OTHER and isinstance(value, str):
            return mean_and_spread(value) or found
        return found

    def _text(self, key: str, row: int, value: object) -> None:
        self.texts[key] += 1
        if not isinstance(value, str):
            return
        if key in SPLIT_NAMES and len(value) < 20:
            self._marks[row] = value.lower()
        samples = self.samples.setdefault(key, [])
        if len(samples) < _SAMPLES:
            samples.append((row, value[:80]))

    def _add(self, key: str, part: RawColumn) -> None:
        self._parts.setdefault(key, []).append(part)

    def columns(self) -> dict[str, RawColumn]:
        """The columns, in the order in which their names first appeared."""
        self._flush()
        shared: dict[tuple[int, ...], NDArray[np.int64]] = {}
        names = [k for k in self._order if k in self._parts] + [k for k in self._parts if k not in self._order]
        return {_printable(key): joined(self._parts[key], shared) for key in names}

    def lines(self, first: int = 0) -> NDArray[np.int64]:
        """1-based line of each row from `first` on."""
        return np.array(self._lines[first:], np.int64)

    def marked(self) -> dict[int, str]:
        """Rows whose split is written out as text (``"phase": "eval"``), and the text in lower case."""
        self._flush()
        return dict(self._marks)


SPLIT_NAMES = frozenset({"split", "phase", "mode", "log_type", "type", "stage", "kind", "subset"})
"""Names under which hand-written logs say whether a row is a training or an evaluation row."""


def _printable(name: str) -> str:
    """A name that can do nothing to a terminal: control characters become the replacement character."""
    return name if name.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in name)


_NAN = float("nan")
_PLAIN = {float, int, bool}


def _array(values: Sequence[object]) -> NDArray[np.float64] | None:
    """The values as an array when all of them are plain numbers, or None, which becomes NaN; or all of them numerals."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return _numerals(cast("Sequence[str]", values))
    if not kinds <= _PLAIN | {NoneType}:
        return None
    try:
        return np.array(values, np.float64)
    except OverflowError:
        return None


def _numerals(values: Sequence[str]) -> NDArray[np.float64] | None:
    """Texts as an array when all of them are numerals. Python reads more as a number than logs mean: ``1_000``, ``٣``."""
    together = "".join(values)
    if "_" in together or not together.isascii():
        return None
    try:
        return np.array(list(map(float, values)), np.float64)
    except ValueError:
        return None


def late_parts(parts: Sequence[RawColumn], first: int) -> list[RawColumn]:
    """What parts say of the rows from `first` on, counted from there."""
    return [part.between(first) for part in parts if part.at[-1] >= first]


def _block(rows: Sequence[Sequence[object]]) -> NDArray[np.float64] | None:
    """The rows as an array when all their values are plain numbers."""
    if not _PLAIN.issuperset(map(type, chain.from_iterable(rows))):
        return None
    try:
        return np.array(rows, np.float64)
    except OverflowError:
        return None


def joined(parts: Sequence[RawColumn], shared: dict[tuple[int, ...], NDArray[np.int64]]) -> RawColumn:
    """One column of its parts, by row; the newest value of a row wins. Equal arrays of rows are shared between columns."""
    identity = tuple(id(p.at) for p in parts)
    whole = parts[0]
    if len(parts) > 1:
        null = None
        if any(p.null is not None for p in parts):
            null = np.concatenate([np.zeros(len(p.at), bool) if p.null is None else p.null for p in parts])
        whole = RawColumn(np.concatenate([p.at for p in parts]), np.concatenate([p.values for p in parts]), null)
    at = whole.at
    if len(at) > 1 and not (at[1:] > at[:-1]).all():
        order = np.argsort(at, kind="stable")
        return whole.where(order[np.append(np.diff(at[order]) > 0, True)])
    return RawColumn(shared.setdefault(identity, at), whole.values, whole.null)
