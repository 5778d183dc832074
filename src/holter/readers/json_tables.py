"""The tables in a JSON document: wherever in it rows or columns of numbers lie.

Scripts dump their history in every shape: a list of records, ``{"log_history": [...]}``, columns as lists, records under
their step (``{"10": {...}, "20": {...}}``), and several of these side by side.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, overload

import numpy as np

from holter.readers.plausibility import is_axis
from holter.readers.rows import CONFIG, DEEPEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Record = dict[str, object]
"""Values by name."""
Rows = Sequence[Record]
"""The records of one table."""
STEPS = re.compile(r"(?:(?:global_?)?step|iter(?:ation)?|update|episode|epoch)?[ _-]?(\d+)", re.IGNORECASE)
"""A key that is a step: ``10``, ``step_10``."""
STEP_NAMES = re.compile(r"(?:global_?)?step|iter(?:ation)?|update|episode|epoch|x", re.IGNORECASE)
"""What a point calls its step."""
_PART = re.compile(r"[/_ .]")
"""Parts a name has: ``eval_step`` counts steps, too."""
_VALUE = "value"
_CLOCKS = ("time", "timestamp", "wall_time", "wallTime")
_LATER = 1e8
"""Seconds since 1970 that no log's step reaches, and no log of such a model is older than."""
MOST_TABLES = 200
_FEWEST = 2
_LONG = 1000
"""Numbers from which on a list is kept as an array."""
_PLAIN = {int, float, bool, type(None)}


class Numbers:
    """A long list of numbers, and of None where the document says null, as an array: a quarter of a list's memory."""

    def __init__(self, values: Sequence[object]) -> None:
        self._array = np.array(values, np.float64)
        self._null = frozenset(i for i, value in enumerate(values) if value is None)

    def __len__(self) -> int:
        return len(self._array)

    def part(self, first: int, end: int) -> list[object]:
        """Some of the values."""
        out: list[object] = self._array[first:end].tolist()
        if self._null:
            out = [None if first + i in self._null else value for i, value in enumerate(out)]
        return out


def compact(value: object) -> object:
    """A value with the long lists of numbers in it, and the columns as pandas writes them, as `Numbers`."""
    plain: list[object] | None = value if isinstance(value, list) else None
    if isinstance(value, dict):
        if not _is_pandas(value) or not _PLAIN.issuperset(map(type, value.values())):
            return {key: compact(inner) for key, inner in value.items()}
        plain = list(value.values())
    if plain is not None and len(plain) >= _LONG and _PLAIN.issuperset(map(type, plain)):
        try:
            return Numbers(plain)
        except OverflowError:
            return value
    return value


class _Columns(Sequence[Record]):
    """Columns of one length as records, which are made when they are asked for."""

    def __init__(self, columns: Mapping[str, list[object] | Numbers], length: int) -> None:
        self._columns, self._length = columns, length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        return self._part(index, index + 1)[0]

    def __iter__(self) -> Iterator[Record]:
        for first in range(0, self._length, _LONG):
            yield from self._part(first, first + _LONG)

    def _part(self, first: int, end: int) -> list[Record]:
        parts = (c.part(first, end) if isinstance(c, Numbers) else c[first:end] for c in self._columns.values())
        return [dict(zip(self._columns, row, strict=True)) for row in zip(*parts, strict=True)]


def tables(document: object) -> dict[str, Rows]:
    """Records by the place in the document where they lie (``""`` is the document itself). One list is one table."""
    return dict(islice(_found(document, "", 0), MOST_TABLES))


def _found(value: object, place: str, depth: int) -> Iterator[tuple[str, Rows]]:
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        if value and all(isinstance(v, dict) for v in value):
            yield place, value
        return
    if not isinstance(value, dict):
        return
    steps = _by_step(value)
    if steps:
        yield place, steps
        return
    points = _by_point(value)
    if points:
        yield place, points
        return
    columns = _by_column(value)
    for number, records in enumerate(columns):
        if not _are_pairs(records):
            yield (f"{place} columns of {len(records)}".lstrip() if number else place), records
    if columns:
        return
    for key, inner in value.items():
        if key not in CONFIG:
            yield from _found(inner, f"{place}/{key}" if place else key, depth + 1)


def _by_step(value: Mapping[str, object]) -> list[Record]:
    """``{"10": {"loss": 1}, "20": {"loss": 2}}`` as records with a step."""
    if len(value) < _FEWEST:
        return []
    rows: list[Record] = []
    for key, record in value.items():
        row = at_step(key, record)
        if row is None:
            return []
        rows.append(row)
    return rows


def at_step(key: str, record: object) -> Record | None:
    """A record that stands under its step, with the step in it; None where the key is no step."""
    step = STEPS.fullmatch(key) if len(key) < 40 else None
    return {"step": float(step[1]), **record} if step is not None and isinstance(record, dict) else None


def are_points(value: object) -> bool:
    """Whether it is a list of points of one metric: ``[step, value]``, ``[time, step, value]``, objects of a step and a value."""
    return isinstance(value, list) and len(value) >= _FEWEST and all(point(each) is not None for each in value)


def point(value: object) -> tuple[object, object] | None:
    """Step and value of a point."""
    if isinstance(value, dict):
        steps = [k for k in value if STEP_NAMES.fullmatch(k)]
        rest = [k for k in value if k not in steps and k not in _CLOCKS]
        return (value[steps[0]], value[_VALUE]) if len(steps) == 1 and rest == [_VALUE] else None
    if not isinstance(value, list) or not all(isinstance(v, int | float) or v is None for v in value[-2:]):
        return None
    if len(value) == 2 or (len(value) == 3 and isinstance(value[0], int | float) and value[0] > _LATER):
        return (value[-2], value[-1]) if isinstance(value[-2], int | float) else None
    return None


def _by_point(value: Mapping[str, object]) -> list[Record]:
    """``{"loss": [[10, 1.5], [20, 1.2]], "kl": [...]}`` as records, one for every step where no metric has a step twice."""
    points = {key: column for key, column in value.items() if are_points(column)}
    rows: list[tuple[object, str, object]] = []
    whole = True
    for key, column in points.items():
        assert isinstance(column, list)
        found = [each for each in map(point, column) if each is not None]
        whole &= len({str(step) for step, _ in found}) == len(found)
        rows += [(step, key, number) for step, number in found]
    if not whole:
        return [{"step": step, key: number} for step, key, number in rows]
    by_step: dict[str, Record] = {}
    for step, key, number in rows:
        by_step.setdefault(str(step), {"step": step})[key] = number
    return list(by_step.values())


def _by_column(value: Mapping[str, object]) -> list[Rows]:
    """``{"step": [10, 20], "loss": [1, 2]}`` as records; columns as pandas writes them (``{"0": 10, "1": 20}``) too.

    Columns of one length are one table, the widest table first: evaluations are fewer than training steps.
    """
    by_length: dict[int, dict[str, list[object] | Numbers]] = {}
    for key, column in value.items():
        if isinstance(column, dict) and column and _is_pandas(column):
            column = list(column.values())
        if (isinstance(column, list) and not any(isinstance(v, list | dict) for v in column)) or isinstance(
            column, Numbers
        ):
            by_length.setdefault(len(column), {})[key] = column
    widest = sorted(
        ((n, same) for n, same in by_length.items() if n >= _FEWEST), key=lambda each: len(each[1]), reverse=True
    )
    if not widest or len(widest[0][1]) < _FEWEST:
        return []
    return [_Columns(same, length) for length, same in widest]


def _are_pairs(columns: Rows) -> bool:
    """Whether columns without a step are two long: as often a share and its whole, or the ends of an interval."""
    return len(columns) == _FEWEST and not any(is_axis(name) or is_axis(_PART.split(name)[-1]) for name in columns[0])


def _is_pandas(column: Mapping[str, object]) -> bool:
    return all(k.isdigit() and len(k) < 20 for k in column)


def joined(found: Mapping[str, Rows]) -> dict[str, Rows]:
    """Tables that share their steps, side by side as one table at the place of the first; the others on their own.

    Two tables share their steps when each has one row for every step, the steps are the same, and no other name is in both.
    """
    out: dict[str, Rows] = {}
    known: dict[str, tuple[list[object], set[str]]] = {}
    for place, records in found.items():
        steps = [r.get("step") for r in records]
        names = {k for r in records for k in r} - {"step"}
        unique = None not in steps and len({*map(str, steps)}) == len(steps)
        for first, (other, taken) in known.items():
            if unique and steps == other and not names & taken:
                out[first] = [{**a, **b} for a, b in zip(out[first], records, strict=True)]
                taken |= names
                break
        else:
            out[place] = records
            known[place] = (steps if unique else [], names)
    return out
