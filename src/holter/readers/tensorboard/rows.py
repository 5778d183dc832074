"""From scalars in the order of the file to rows with one step each.

A *stretch* is what the parser delivers: neighbouring records of one step and different tags. Stretches of one step become
one row, even when another step lies between them (an evaluation that arrives late). A tag that has several values at one
step needs as many rows. When a tag goes back, the run was resumed or another one began: the stretches from there on make
rows of their own, so that what was logged before and after the restart stays apart.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from holter.readers.base import RawColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows and the columns over them.

    Attributes:
        steps: Step of each row. Shape ``(rows,)``.
        wall_time: When its first value was written, seconds since 1970, NaN where unknown. Shape ``(rows,)``.
        columns: Values by tag, in the order in which the tags first appear.
    """

    steps: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    columns: Mapping[str, RawColumn]


@dataclass(slots=True, eq=False)
class _Blocks:
    """Blocks of stretches that hold the same tags."""

    firsts: list[int] = field(default_factory=list)
    values: list[NDArray[np.floating[Any]]] = field(default_factory=list)

    def joined(self, tags: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Stretch of each value, shape ``(n,)``, and the values, shape ``(tags, n)``."""
        at = np.concatenate([np.arange(f, f + v.shape[1]) for f, v in zip(self.firsts, self.values, strict=True)])
        values = np.empty((tags, len(at)))
        done = 0
        with np.errstate(invalid="ignore"):  # a signalling NaN is a value like any other
            for block in self.values:
                values[:, done : done + block.shape[1]] = block
                done += block.shape[1]
        return at, values


class Stretches:
    """Gathers scalars, one by one or in blocks, in time and memory linear in their number."""

    def __init__(self) -> None:
        self._steps: list[NDArray[np.int64]] = []
        self._walls: list[NDArray[np.float64]] = []
        self._open_steps = array("q")
        self._open_walls = array("d")
        self._count = 0
        self._newest: int | None = None
        self._newest_tags: set[str] = set()
        self._tags: dict[str, None] = {}
        self._loose: dict[str, tuple[array[int], array[float]]] = {}
        self._blocks: dict[tuple[str, ...], _Blocks] = {}

    def __len__(self) -> int:
        return self._count

    def close(self) -> None:
        """The next scalar begins a new stretch, whatever its step."""
        self._newest = None

    def opens(self, tag: str, step: int) -> bool:
        """Whether a scalar would begin a new stretch."""
        return step != self._newest or tag in self._newest_tags

    def open(self, step: int, wall_time: float) -> None:
        """Begin a stretch."""
        self._newest = step
        self._newest_tags = set()
        self._open_steps.append(step)
        self._open_walls.append(wall_time)
        self._count += 1

    def add(self, tag: str, value: float) -> None:
        """One scalar of the newest stretch."""
        self._newest_tags.add(tag)
        column = self._loose.get(tag)
        if column is None:
            column = self._loose[tag] = (array("q"), array("d"))
            self._tags.setdefault(tag)
        column[0].append(self._count - 1)
        column[1].append(value)

    def extend(
        self,
        tags: tuple[str, ...],
        steps: NDArray[np.int64],
        wall_times: NDArray[np.float64],
        values: NDArray[np.floating[Any]],
    ) -> None:
        """Many stretches of the same tags.

        Args:
            tags: The tags.
            steps: Step of each stretch. Shape ``(n,)``.
            wall_times: Seconds since 1970. Shape ``(n,)``.
            values: Shape ``(len(tags), n)``.
        """
        self._flush()
        blocks = self._blocks.get(tags)
        if blocks is None:
            blocks = self._blocks[tags] = _Blocks()
            self._tags.update(dict.fromkeys(tags))
        blocks.firsts.append(self._count)
        blocks.values.append(values)
        self._steps.append(steps)
        self._walls.append(wall_times)
        self._count += len(steps)
        self._newest, self._newest_tags = int(steps[-1]), set(tags)

    def append(self, later: Stretches) -> None:
        """Everything that `later` gathered, as if it had come here."""
        if later._steps:
            self._flush()
            self._steps += later._steps
            self._walls += later._walls
        self._open_steps.extend(later._open_steps)
        self._open_walls.extend(later._open_walls)
        self._tags.update(later._tags)
        for tag, (at, values) in later._loose.items():
            column = self._loose.setdefault(tag, (array("q"), array("d")))
            column[0].frombytes((np.array(at, np.int64) + self._count).tobytes())
            column[1].extend(values)
        for tags, blocks in later._blocks.items():
            mine = self._blocks.setdefault(tags, _Blocks())
            mine.firsts += [first + self._count for first in blocks.firsts]
            mine.values += blocks.values
        self._count += later._count
        self.close()

    def __deepcopy__(self, memo: dict[int, object]) -> Stretches:
        """Stretches that go on by themselves. Finished arrays are shared: nothing changes them."""
        out = Stretches()
        memo[id(self)] = out
        out.append(self)
        out._newest, out._newest_tags = self._newest, set(self._newest_tags)
        return out

    def _flush(self) -> None:
        if self._open_steps:
            self._steps.append(np.array(self._open_steps, np.int64))
            self._walls.append(np.array(self._open_walls, np.float64))
            self._open_steps, self._open_walls = array("q"), array("d")

    def rows(self) -> Rows:
        """The rows gathered so far."""
        self._flush()
        steps = np.concatenate(self._steps) if self._steps else np.empty(0, np.int64)
        walls = np.concatenate(self._walls) if self._walls else np.empty(0)
        columns = self._columns()
        if (np.diff(steps) > 0).all():
            return Rows(steps, walls, columns)
        return _merged(steps, walls, columns)

    def _columns(self) -> dict[str, RawColumn]:
        pieces: dict[str, list[RawColumn]] = {tag: [] for tag in self._tags}
        for tags, blocks in self._blocks.items():
            at, values = blocks.joined(len(tags))
            for tag, row in zip(tags, values, strict=True):
                pieces[tag].append(RawColumn(at, row))
        same: dict[bytes, NDArray[np.int64]] = {}
        for tag, (loose_at, loose_values) in self._loose.items():
            at = same.setdefault(loose_at.tobytes(), np.array(loose_at, np.int64))
            pieces[tag].append(RawColumn(at, np.array(loose_values)))
        return _joined(pieces)


def _joined(pieces: Mapping[str, Sequence[RawColumn]]) -> dict[str, RawColumn]:
    """One column a tag; columns over the same rows share the array that says so."""
    shared: dict[tuple[int, ...], tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
    out = {}
    for tag, some in pieces.items():
        if len(some) == 1:
            out[tag] = some[0]
            continue
        key = tuple(id(piece.at) for piece in some)
        if key not in shared:
            at = np.concatenate([piece.at for piece in some])
            order = np.argsort(at, kind="stable")
            shared[key] = at[order], order
        at, order = shared[key]
        out[tag] = RawColumn(at, np.concatenate([piece.values for piece in some])[order])
    return out


def _restarts(steps: NDArray[np.int64], columns: Iterable[NDArray[np.int64]]) -> Sequence[int]:
    """Stretches at which some tag is behind: the newest step back at or before the one where the tag shows it."""
    backs = np.flatnonzero(np.diff(steps) < 0) + 1
    found: set[int] = set()
    for at in columns:
        again = at[1:][np.diff(steps[at]) < 0]
        found.update(backs[np.searchsorted(backs, again, side="right") - 1].tolist())
    return sorted(found)


def _merged(steps: NDArray[np.int64], walls: NDArray[np.float64], columns: dict[str, RawColumn]) -> Rows:
    """One row for every step between two restarts, more where a tag has more values at it."""
    distinct = {id(column.at): column.at for column in columns.values()}
    part = np.zeros(len(steps), np.int64)
    part[_restarts(steps, distinct.values())] = 1
    part = np.cumsum(part)
    order = np.lexsort((steps, part))
    new = np.ones(len(steps), bool)
    new[1:] = (np.diff(steps[order]) != 0) | (np.diff(part[order]) != 0)
    group = np.empty(len(steps), np.int64)
    group[order] = np.cumsum(new) - 1

    occurrences = {key: _occurrence(group[at]) for key, at in distinct.items()}
    needed = np.ones(int(group.max()) + 1, np.int64)
    for key, at in distinct.items():
        np.maximum.at(needed, group[at], occurrences[key] + 1)
    first = np.cumsum(needed) - needed
    row_of = {key: first[group[at]] + occurrences[key] for key, at in distinct.items()}

    wall_time = np.full(int(needed.sum()), np.nan)
    for key, at in distinct.items():
        wall_time[row_of[key]] = walls[at]
    # The earliest stretch of a row says when it was written, whichever tags came later.
    wall_time[first[group[::-1]]] = walls[::-1]
    return Rows(
        np.repeat(steps[order][new], needed),
        wall_time,
        {tag: RawColumn(row_of[id(column.at)], column.values) for tag, column in columns.items()},
    )


def _occurrence(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many entries before it are of the same group. Equal groups are neighbours."""
    index = np.arange(len(group))
    start = np.where(np.concatenate(([True], np.diff(group) != 0)), index, 0)
    return index - np.maximum.accumulate(start)
