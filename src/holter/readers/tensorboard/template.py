"""The layout of one logged step, and the test of many steps at once against it.

A training loop logs the same tags in the same order at every step, so an event file is a run of byte strings that differ
only in wall time, step, value and checksum. A template is one such string: later steps are XORed with it, what must not
differ is compared, the checksums follow from the differences, and the values are read where the template has its own.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from holter.readers.tensorboard.crc32c import checksum, distance_tables, masked_words
from holter.readers.tensorboard.framing import FOOTER, HEADER

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from holter.readers.tensorboard.event import Event

_BLOCK = 512 << 10
"""Bytes compared at a time, so that they stay in a core's cache."""
_FIRST_ROWS = 8
"""Rows of the first block: a short run of rows must not cost the comparison of a long one."""
_LONGEST_RECORD = 8 << 10
"""Bytes of a record that a template takes: the look-up tables of its checksum grow with it, a kilobyte a byte."""
_LONGEST_STEP = 512 << 10
"""Bytes of a step that is worth a template. A longer one is read record by record as fast, and would have to be waited for."""
_WALL_TIME_BYTES = 8
_CONTINUES = 0x80


@dataclass(frozen=True, slots=True)
class Placed:
    """A decoded record and where it lies.

    Attributes:
        at: First byte of its frame.
        length: Bytes of the record without the frame.
        event: What it says.
    """

    at: int
    length: int
    event: Event

    @property
    def end(self) -> int:
        """The byte after its frame."""
        return self.at + HEADER + self.length + FOOTER

    @property
    def step_width(self) -> int:
        """Bytes of its step."""
        first, end = self.event.step_range
        return end - first

    @property
    def fits(self) -> bool:
        """Whether it holds nothing but numbers that are written with the same width every time."""
        said = self.event
        return bool(
            said.scalars
            and self.length <= _LONGEST_RECORD
            and not said.aside
            and said.version is None
            and said.wall_at is not None
            and all(s.number.at is not None for s in said.scalars)
        )


def learnable(records: Sequence[Placed]) -> bool:
    """Whether neighbours of one step can make a template: no tag twice, and one way of writing the step.

    Writers do neither, but nothing in the format forbids it.
    """
    tags = [s.tag for r in records for s in r.event.scalars]
    return (
        records[-1].end - records[0].at <= _LONGEST_STEP
        and all(record.fits for record in records)
        and len({record.step_width for record in records}) == 1
        and len(set(tags)) == len(tags)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Steps that follow a template.

    Attributes:
        steps: Shape ``(n,)``.
        wall_times: Of each step's first record, seconds since 1970. Shape ``(n,)``.
        values: Shape ``(tags, n)``.
        more: Whether the next step may follow the template as well.
    """

    steps: NDArray[np.int64]
    wall_times: NDArray[np.float64]
    values: NDArray[np.floating[Any]]
    more: bool


class _Bytes:
    """Where the bytes of one record of the row lie that differ from step to step.

    Attributes:
        wall_time: First byte of the wall time.
        step: The bytes of the step, none for step 0.
        numbers: The bytes of each number.
        end: The byte after the record, where its checksum is stored.
    """

    def __init__(self, record: Placed, start: int) -> None:
        self.begin = record.at - start + HEADER
        self.end = self.begin + record.length
        said = record.event
        assert said.wall_at is not None, "a record that fits has a wall time"
        self.wall_time = self.begin + said.wall_at
        self.step = list(range(*(self.begin + at for at in said.step_range)))
        self.numbers = [
            _span(self.begin + s.number.at, np.dtype(s.number.form).itemsize)
            for s in said.scalars
            if s.number.at is not None
        ]

    @property
    def free(self) -> list[int]:
        """All of them but the stored checksum."""
        return [*_span(self.wall_time, _WALL_TIME_BYTES), *self.step, *itertools.chain(*self.numbers)]


class _Sums:
    """How to check the records that have the same number of free bytes.

    Attributes:
        at: Positions of the free bytes in the row. Shape ``(bytes, records)``.
        tables: Start of each byte's table among the flattened distance tables. Shape ``(bytes, records)``.
        own: Checksums of the row that others are compared with. Shape ``(records,)``.
        newest: Checksums of the rows of the newest block. Shape ``(rows, records)``.
        stored: Positions of the bytes of the stored checksums. Shape ``(records * 4,)``.
    """

    def __init__(self, row: bytes, records: Sequence[_Bytes]) -> None:
        self.at = np.array([r.free for r in records], np.intp).T
        ends = np.array([r.end for r in records], np.intp)
        self.tables = (ends - 1 - self.at) * 256
        self.own = np.array([checksum(row[r.begin : r.end]) for r in records], np.uint32)
        self.newest = self.own[None]
        self.stored = np.array([_span(r.end, FOOTER) for r in records], np.intp).ravel()


class _Form:
    """Where the numbers of one form lie.

    Attributes:
        form: numpy's name of the form.
        rows: Which of the template's numbers they are. Shape ``(numbers,)``.
        at: Positions of their bytes in the row. Shape ``(numbers * width,)``.
    """

    def __init__(self, form: str, numbers: Sequence[tuple[int, list[int]]]) -> None:
        self.form = form
        self.rows = np.array([index for index, _ in numbers], np.intp)
        self.at = np.array([at for _, at in numbers], np.intp).ravel()


def _span(first: int, width: int) -> list[int]:
    return list(range(first, first + width))


T = TypeVar("T")


def _by_key(items: Iterable[tuple[Hashable, T]]) -> dict[Hashable, list[T]]:
    groups: dict[Hashable, list[T]] = {}
    for key, item in items:
        groups.setdefault(key, []).append(item)
    return groups


class Template:
    """The layout of neighbouring records of one step and different tags.

    Attributes:
        tags: The tags, in the order of the numbers.
        records: Records of a step.
        length: Bytes of a step.
        header: The first bytes of a step.
    """

    def __init__(self, data: bytes, records: Sequence[Placed]) -> None:
        """Learn from records that were found sound.

        Args:
            data: The buffer they lie in.
            records: Neighbours of one step that are `learnable`.
        """
        row = data[records[0].at : records[-1].end]
        scalars = [s for r in records for s in r.event.scalars]
        self.tags = tuple(s.tag for s in scalars)
        self.records = len(records)
        self.length = len(row)
        self.header = row[:HEADER]
        self._row = np.frombuffer(row, np.uint8)
        parts = [_Bytes(record, records[0].at) for record in records]
        self._fixed = np.full(len(row), 255, np.uint8)
        for part in parts:
            self._fixed[[*part.free, *_span(part.end, FOOTER)]] = 0
            # The bits that say where the step's bytes end stay fixed, and with them its width.
            self._fixed[part.step] = _CONTINUES
        self._wall_at = parts[0].wall_time
        self._step_at = np.array([part.step for part in parts], np.intp).T  # (bytes, records)
        self._sums = [_Sums(row, group) for group in _by_key((len(p.free), p) for p in parts).values()]
        self._tables = distance_tables(max(int(s.tables.max()) for s in self._sums) // 256 + 1).ravel()
        numbers = enumerate(at for part in parts for at in part.numbers)
        by_form = _by_key((scalar.number.form, number) for scalar, number in zip(scalars, numbers, strict=True))
        self._forms = [_Form(str(form), group) for form, group in by_form.items()]
        self._dtype: type[np.floating[Any]] = np.float32 if by_form.keys() == {"<f4"} else np.float64

    def begins(self, data: NDArray[np.uint8], at: int) -> bool:
        """Whether a step at a position has the template's layout; its checksums are not looked at."""
        here = data[at : at + self.length]
        return len(here) == self.length and not ((here ^ self._row) & self._fixed).any()

    def block(self, data: NDArray[np.uint8], at: int, *, rows: int = _FIRST_ROWS) -> Block | None:
        """The steps from a position on that follow the template, sound checksums included.

        Args:
            data: The buffer.
            at: Where the first step would begin.
            rows: How many steps to look at; no more than the buffer and the cache hold.

        Returns:
            None when the first step does not follow it.
        """
        asked = min((len(data) - at) // self.length, rows, max(1, _BLOCK // self.length))
        if asked < 1:
            return None
        found = data[at : at + asked * self.length].reshape(asked, self.length)
        differ = found ^ self._row
        count = _rows_before(differ & self._fixed)
        if count:
            count = _true_before(self._sound(differ[:count], found[:count]))
        if not count:
            return None
        self._move_to(found[count - 1], count - 1)
        return self._read(found[:count], more=count == asked)

    def _sound(self, differ: NDArray[np.uint8], found: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which rows have one step throughout and checksums that hold. Shape ``(rows,)``."""
        sound = np.ones(len(found), bool)
        # Most bytes of wall time and step are the same all over a block, and an unchanged byte changes no checksum.
        changed = np.bitwise_or.reduce(differ, axis=0)
        for place in np.flatnonzero(changed[self._step_at].any(axis=1)):
            here = differ.take(self._step_at[place], axis=1)
            sound &= (here == here[:, :1]).all(axis=1)
        for sums in self._sums:
            crc = np.repeat(sums.own[None], len(found), axis=0)
            for place in np.flatnonzero(changed[sums.at].any(axis=1)):
                crc ^= self._tables[differ.take(sums.at[place], axis=1) + sums.tables[place]]
            stored = found.take(sums.stored, axis=1).view("<u4")
            sound &= (masked_words(crc) == stored).all(axis=1)
            sums.newest = crc
        return sound

    def _move_to(self, row: NDArray[np.uint8], index: int) -> None:
        """Compare with a sound row of the newest block from now on: the nearer in time, the fewer bytes change."""
        self._row = row.copy()
        for sums in self._sums:
            sums.own = sums.newest[index]

    def _read(self, found: NDArray[np.uint8], *, more: bool) -> Block:
        steps = np.zeros(len(found), np.uint64)
        for place, positions in enumerate(self._step_at):
            byte = found[:, positions[0]].astype(np.uint64) & np.uint64(~_CONTINUES & 255)
            steps |= byte << np.uint64(7 * place)
        walls = np.ascontiguousarray(found[:, self._wall_at : self._wall_at + _WALL_TIME_BYTES]).view("<f8").ravel()
        values = np.empty((len(self.tags), len(found)), self._dtype)
        with np.errstate(invalid="ignore"):  # a signalling NaN is a value like any other
            for form in self._forms:
                values[form.rows] = found.take(form.at, axis=1).view(form.form).T
        return Block(steps.view(np.int64), walls, values, more)


def _rows_before(differ: NDArray[np.uint8]) -> int:
    """Rows before the first one with a byte that is not 0. `differ` is contiguous."""
    flat = differ.ravel()
    whole = len(flat) // 8 * 8
    if not flat[:whole].view(np.uint64).any() and not flat[whole:].any():
        return len(differ)
    return int(np.argmax(differ.any(axis=1)))


def _true_before(flags: NDArray[np.bool_]) -> int:
    return len(flags) if flags.all() else int(np.argmin(flags))
