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
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from holter.readers.tensorboard.event import Event

_BLOCK = 512 << 10
"""Bytes compared at a time, so that they stay in a core's cache."""
FIRST_ROWS = 8
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
        step: First byte of the step.
        step_width: Bytes of the step, none for step 0.
        numbers: First byte of each number, and how it is written.
        end: The byte after the record, where its checksum is stored.
    """

    def __init__(self, record: Placed, start: int) -> None:
        self.begin = record.at - start + HEADER
        self.end = self.begin + record.length
        said = record.event
        assert said.wall_at is not None, "a record that fits has a wall time"
        self.wall_time = self.begin + said.wall_at
        self.step = self.begin + said.step_range[0]
        self.step_width = record.step_width
        self.numbers = [(self.begin + s.number.at, s.number.form) for s in said.scalars if s.number.at is not None]

    @property
    def forms(self) -> tuple[str, ...]:
        """How its numbers are written."""
        return tuple(form for _, form in self.numbers)


class _Tables:
    """What bytes at some places of the records of a group add to the records' checksums."""

    def __init__(self, at: NDArray[np.intp], ends: NDArray[np.intp]) -> None:
        """Find the tables.

        Args:
            at: The byte of each record. Shape ``(records,)``.
            ends: The byte after each record. Shape ``(records,)``.
        """
        distance = ends - 1 - at
        tables = distance_tables(int(distance.max()) + 1)
        self._all = tables.ravel()
        self._starts = distance[:, None] * 256
        # As a rule a number lies equally far from the end of every record, and then all use the same small table.
        self._one = tables[distance[0]] if (distance == distance[0]).all() else None

    def added(self, differ: NDArray[np.uint8]) -> NDArray[np.uint32]:
        """What differences add. Shape ``(records or 1, rows)``.

        Args:
            differ: Shape ``(records or 1, rows)``.
        """
        added: NDArray[np.uint32]
        added = self._one.take(differ) if self._one is not None else self._all.take(differ + self._starts)
        return added


class _Words:
    """Words of one width, one in every record of a group.

    Attributes:
        at: First byte of each record's word in the row. Shape ``(records,)``.
        form: numpy's name of the words as whole numbers.
        own: The words of the row that others are compared with. Shape ``(records, 1)``.
    """

    def __init__(self, row: NDArray[np.uint8], at: Sequence[int], ends: NDArray[np.intp], width: int) -> None:
        """Find the words in a row.

        Args:
            row: The row.
            at: First byte of each record's word.
            ends: The byte after each record.
            width: Bytes of a word: 1, 2, 4 or 8.
        """
        self.at = np.array(at, np.intp)
        self.form = f"<u{width}"
        self.own = taken(row[None], self.at, self.form)
        self._tables = [_Tables(self.at + place, ends) for place in range(width)]

    def add_to(self, crc: NDArray[np.uint32], words: NDArray[np.unsignedinteger[Any]]) -> None:
        """What words that differ from the row's own change in the checksums of their records.

        Args:
            crc: Shape ``(records, rows)``; changed in place.
            words: Shape ``(records, rows)``.
        """
        differ = words ^ self.own
        # Most bytes of wall times are the same all over a block, and an unchanged byte changes no checksum.
        changed = np.bitwise_or.reduce(differ.ravel()).reshape(1).view(np.uint8)
        each = differ.view(np.uint8).reshape(*differ.shape, len(self._tables))
        for place in np.flatnonzero(changed).tolist():
            crc ^= self._tables[place].added(each[..., place])


class _Steps:
    """The steps of the records of a group: bytes that are the same in all of them.

    Attributes:
        at: Their bytes in the row. Shape ``(width, records)``.
        own: The bytes of the row that others are compared with. Shape ``(width,)``.
    """

    def __init__(self, row: NDArray[np.uint8], at: Sequence[int], ends: NDArray[np.intp], width: int) -> None:
        """Find them in a row; a width of 0 is step 0, which is not written."""
        self.at = np.array(at, np.intp) + np.arange(width)[:, None]
        self.own = row[self.at[:, 0]]
        self._tables = [_Tables(places, ends) for places in self.at]
        self._words = list(_words(width))

    def add_to(self, crc: NDArray[np.uint32], said: NDArray[np.uint8]) -> None:
        """What steps that differ from the row's own change in the checksums.

        Args:
            crc: Shape ``(records, rows)``; changed in place.
            said: The rows' steps. Shape ``(width, rows)``.
        """
        for differ, tables in zip(said ^ self.own[:, None], self._tables, strict=True):
            if differ.any():
                crc ^= tables.added(differ[None])

    def are_one(self, found: NDArray[np.uint8], first: int) -> NDArray[np.bool_]:
        """Which rows have one step in all of the records. Shape ``(rows,)``.

        Args:
            found: The rows.
            first: Where the first record of a row has its step.
        """
        same = np.ones(len(found), bool)
        for offset, form in self._words:
            there = taken(found, np.array([first + offset]), form)
            same &= (taken(found, self.at[offset], form) == there).all(axis=0)
        return same


class _Group:
    """The records of a row whose numbers are written alike.

    Attributes:
        wall_times: Their wall times.
        steps: Their steps.
        numbers: Their first numbers, their second ones, and so on.
        forms: How those are written.
        rows: Which of the template's numbers those are. Shape ``(records,)`` each.
        sums: Checksums of the row that others are compared with. Shape ``(records,)``.
        newest: Checksums of the rows of the newest block. Shape ``(records, rows)``.
        stored: First bytes of the stored checksums. Shape ``(records,)``.
    """

    def __init__(self, row: bytes, records: Sequence[tuple[int, _Bytes]]) -> None:
        """Find them in a row.

        Args:
            row: The row.
            records: The records, each with the number of its first number among the template's.
        """
        parts = [record for _, record in records]
        view = np.frombuffer(row, np.uint8)
        self.stored = np.array([r.end for r in parts], np.intp)
        self.wall_times = _Words(view, [r.wall_time for r in parts], self.stored, _WALL_TIME_BYTES)
        self.steps = _Steps(view, [r.step for r in parts], self.stored, parts[0].step_width)
        self.forms = parts[0].forms
        self.numbers = [
            _Words(view, [r.numbers[index][0] for r in parts], self.stored, np.dtype(form).itemsize)
            for index, form in enumerate(self.forms)
        ]
        self.rows = [np.array([first + index for first, _ in records], np.intp) for index in range(len(self.forms))]
        self.sums = np.array([checksum(row[r.begin : r.end]) for r in parts], np.uint32)
        self.newest = self.sums[:, None]

    @property
    def words(self) -> list[_Words]:
        """All words."""
        return [*self.numbers, self.wall_times]

    def move_to(self, row: NDArray[np.uint8], index: int) -> None:
        """Compare with a row of the newest block from now on."""
        self.sums = self.newest[:, index]
        self.steps.own = row[self.steps.at[:, 0]]
        for words in self.words:
            words.own = taken(row[None], words.at, words.form)


def _words(width: int) -> Iterator[tuple[int, str]]:
    """The fewest words that cover as many bytes: where each begins, and its form."""
    at = 0
    for size in (8, 4, 2, 1):
        while width - at >= size:
            yield at, f"<u{size}"
            at += size


def taken(rows: NDArray[np.uint8], at: NDArray[np.intp], form: str) -> NDArray[Any]:
    """Words that begin at the same places in every row. Shape ``(words, rows)``.

    Args:
        rows: Shape ``(rows, length)``, contiguous.
        at: First byte of each word. Shape ``(words,)``.
        form: numpy's name of the words.
    """
    count, length = rows.shape
    width = np.dtype(form).itemsize
    # A row is as many overlapping words as bytes. Only this type may begin at any byte without being read byte by byte.
    overlapping: NDArray[np.void] = np.ndarray((length - width + 1, count), f"V{width}", rows, strides=(1, length))
    return overlapping[at].view(form)


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
        run: Steps that followed it the last time without another one between them: as many may follow the next time.
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
        self.run = FIRST_ROWS
        # What is as large as a block is asked of the system once: memory that comes and goes costs as much as the comparison.
        self._scratch = np.empty(0, np.uint8)
        self._row = np.frombuffer(row, np.uint8)
        parts = [_Bytes(record, records[0].at) for record in records]
        first = itertools.accumulate((len(part.numbers) for part in parts), initial=0)
        self._groups = [
            _Group(row, group)
            for group in _by_key((p.forms, (n, p)) for n, p in zip(first, parts, strict=False)).values()
        ]
        self._fixed = np.full(len(row), 255, np.uint8)
        for group in self._groups:
            for words in group.words:
                self._fixed[words.at[:, None] + np.arange(np.dtype(words.form).itemsize)] = 0
            self._fixed[group.stored[:, None] + np.arange(FOOTER)] = 0
            # The bits that say where the step's bytes end stay fixed, and with them its width.
            self._fixed[group.steps.at] = _CONTINUES
        self._wall_at = parts[0].wall_time
        self._step_at = range(parts[0].step, parts[0].step + parts[0].step_width)
        forms = {form for part in parts for form in part.forms}
        self._dtype: type[np.floating[Any]] = np.float32 if forms == {"<f4"} else np.float64

    def begins(self, data: NDArray[np.uint8], at: int) -> bool:
        """Whether a step at a position has the template's layout; its checksums are not looked at."""
        here = data[at : at + self.length]
        return len(here) == self.length and not ((here ^ self._row) & self._fixed).any()

    def block(self, data: NDArray[np.uint8], at: int, *, rows: int) -> Block | None:
        """The steps from a position on that follow the template, sound checksums included.

        Args:
            data: The buffer. Nothing that is returned lies in it.
            at: Where the first step would begin.
            rows: How many steps to look at; no more than the buffer and the cache hold.

        Returns:
            None when the first step does not follow it.
        """
        asked = min((len(data) - at) // self.length, rows, max(1, _BLOCK // self.length))
        if asked < 1:
            return None
        found = data[at : at + asked * self.length].reshape(asked, self.length)
        if self._scratch.size < found.size:
            self._scratch = np.empty(found.size, np.uint8)
        differ = self._scratch[: found.size].reshape(found.shape)
        np.bitwise_xor(found, self._row, out=differ)
        differ &= self._fixed
        count = _rows_before(differ)
        if not count:
            return None
        values = np.empty((len(self.tags), count), self._dtype)
        sound = _true_before(self._sound(found[:count], values))
        if not sound:
            return None
        self._move_to(found[sound - 1], sound - 1)
        return self._read(found[:sound], values if sound == count else values[:, :sound].copy(), more=sound == asked)

    def _sound(self, found: NDArray[np.uint8], values: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
        """Which rows have one step throughout and checksums that hold. Shape ``(rows,)``.

        Args:
            found: The rows.
            values: Gets their numbers.
        """
        sound = np.ones(len(found), bool)
        said = np.ascontiguousarray(found[:, self._step_at].T)
        for group in self._groups:
            crc = np.repeat(group.sums[:, None], len(found), axis=1)
            for words, form, rows in zip(group.numbers, group.forms, group.rows, strict=True):
                numbers = taken(found, words.at, words.form)
                words.add_to(crc, numbers)
                with np.errstate(invalid="ignore"):  # a signalling NaN is a value like any other
                    values[rows] = numbers.view(form)
            group.wall_times.add_to(crc, taken(found, group.wall_times.at, group.wall_times.form))
            group.steps.add_to(crc, said)
            sound &= group.steps.are_one(found, self._step_at.start)
            sound &= (masked_words(crc) == taken(found, group.stored, "<u4")).all(axis=0)
            group.newest = crc
        return sound

    def _move_to(self, row: NDArray[np.uint8], index: int) -> None:
        """Compare with a sound row of the newest block from now on: the nearer in time, the fewer bytes change."""
        self._row = row.copy()
        for group in self._groups:
            group.move_to(self._row, index)

    def _read(self, found: NDArray[np.uint8], values: NDArray[np.floating[Any]], *, more: bool) -> Block:
        steps = np.zeros(len(found), np.uint64)
        for place, position in enumerate(self._step_at):
            byte = found[:, position].astype(np.uint64) & np.uint64(~_CONTINUES & 255)
            steps |= byte << np.uint64(7 * place)
        walls = found[:, self._wall_at : self._wall_at + _WALL_TIME_BYTES].copy().view("<f8").ravel()
        return Block(steps.view(np.int64), walls, values, more)


def _rows_before(differ: NDArray[np.uint8]) -> int:
    """Rows before the first one with a byte that is not 0. `differ` is contiguous."""
    flat = differ.ravel()
    whole = len(flat) // 8 * 8
    if not np.bitwise_or.reduce(flat[:whole].view(np.uint64)) and not flat[whole:].any():
        return len(differ)
    return int(np.argmax(differ.any(axis=1)))


def _true_before(flags: NDArray[np.bool_]) -> int:
    return len(flags) if flags.all() else int(np.argmin(flags))
