"""Parses an event file as its bytes arrive: whole steps by template, everything else record by record.

Nothing is believed without its checksum. What is damaged is stepped over to the next sound header, and named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.errors import reason
from holter.language import phrase, said
from holter.readers.tensorboard.crc32c import checksums, masked_words
from holter.readers.tensorboard.event import event
from holter.readers.tensorboard.framing import FOOTER, HEADER, length_in, next_header
from holter.readers.tensorboard.layouts import wall_time
from holter.readers.tensorboard.template import FIRST_ROWS
from holter.readers.tensorboard.wire import MalformedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.readers.tensorboard.gathered import Gathered

_FIRST_BATCH, _BATCH, _LARGEST_BATCH = 4, 128, 4096
"""Records whose checksums are computed together; more of them while no template fits."""
_POOR = 32
"""A template that covers fewer records at a time costs more than it saves."""
_FIRST_PAUSE, _LONGEST_PAUSE = 32, 4096
"""Records that are read one by one after a poor template, doubled each time; less than a batch is none, as step 0 is odd."""


class EventStream:
    """One event file.

    Feed it bytes in pieces of any size; what it understands goes to `gathered` at once. A record that is not complete
    yet is kept until the rest of it comes.

    Attributes:
        position: Bytes dealt with. What lies behind is held until it is complete.
    """

    def __init__(self, name: str, gathered: Gathered) -> None:
        self._name = name
        self._to = gathered
        # Memory that is asked of the system and given back for every piece would cost as much as reading it.
        self._held = np.empty(0, np.uint8)
        self._size = 0
        self._needed = 0
        self.position = 0
        self._damaged_since: tuple[int, str] | None = None
        self._batch = _FIRST_BATCH
        self._pause = 0
        self._paused = 0
        gathered.stretches.close()

    def feed(self, data: bytes) -> None:
        """More bytes of the file."""
        size = self._size + len(data)
        if size > len(self._held):
            held = np.empty(size + size // 8, np.uint8)
            held[: self._size] = self._held[: self._size]
            self._held = held
        self._held[self._size : size] = np.frombuffer(data, np.uint8)
        self._size = size
        if size >= self._needed:
            self._go_on(patient=True)

    def drain(self) -> None:
        """Read every whole record that has arrived, without waiting for a whole step."""
        self._go_on(patient=False)
        self._held = self._held[: self._size].copy()

    def finish(self) -> int:
        """The file ends here.

        Returns:
            Bytes of a last record that was not written to its end.
        """
        self.drain()
        # A record cut in the middle of the file: another writer went on behind it.
        while self._damaged_since is None and next_header(self._held, 1) > 0:
            self._damaged_since = (self.position, "it is cut, and other records follow")
            self.drain()
        if self._damaged_since is not None:
            self._report(self.position + self._size)
            return 0
        return self._size

    def _go_on(self, *, patient: bool) -> None:
        self._needed = 0
        used = self._parse(self._held[: self._size], patient=patient)
        self._held[: self._size - used] = self._held[used : self._size]
        self._size -= used
        self.position += used

    def _parse(self, view: NDArray[np.uint8], *, patient: bool) -> int:
        self._to.templates.interrupt()
        data: bytes | None = None
        at = 0
        while True:
            if self._damaged_since is not None:
                at = self._resynchronised(view, at)
                if self._damaged_since is not None:
                    return at
            after = self._by_template(view, at)
            if after == at:
                if patient and len(view) - at < self._to.templates.longest:
                    return at
                data = view.tobytes() if data is None else data
                after = self._one_by_one(data, view, at)
                if after == at and self._damaged_since is None:
                    return at
            at = after

    def _by_template(self, view: NDArray[np.uint8], at: int) -> int:
        """The position after the steps that follow a known template."""
        if self._paused > 0:
            return at
        start = at
        while (template := self._to.templates.find(view, at)) is not None:
            rows, begin = 0, at
            block = template.block(view, at, rows=max(FIRST_ROWS, template.run))
            while block is not None:
                self._to.stretches.extend(template.tags, block.steps, block.wall_times, block.values)
                rows += len(block.steps)
                at = begin + rows * template.length
                block = template.block(view, at, rows=2 * rows) if block.more else None
            template.run = rows
            if not rows:
                break
            covered = rows * template.records
            self._to.records += covered
            self._pause = min(max(2 * self._pause, _FIRST_PAUSE), _LONGEST_PAUSE) if covered < _POOR else 0
            self._paused = self._pause if self._pause >= _BATCH else 0
            if self._paused:
                break
        if at > start:
            self._batch = _BATCH
            self._to.templates.interrupt()
        return at

    def _one_by_one(self, data: bytes, view: NDArray[np.uint8], at: int) -> int:
        """The position after the next records, up to where a template fits or something is damaged."""
        starts, lengths = self._frames(data, at)
        if not starts:
            return at
        firsts, sizes = np.array(starts), np.array(lengths)
        stored = view[(firsts + sizes)[:, None] + np.arange(FOOTER)].view("<u4").ravel()
        sound = masked_words(checksums(view, firsts, sizes)) == stored
        first = at
        for start, length, holds in zip(starts, lengths, sound.tolist(), strict=True):
            if not holds:
                self._damage(at, "its checksum does not hold")
                return at
            # No template fits the first one, or it would not have come here.
            if not self._record(data, view, at, length, may_decline=at > first):
                return at
            at = start + length + FOOTER
        self._batch = min(2 * self._batch, _LARGEST_BATCH)
        self._paused -= len(starts)
        return at

    def _frames(self, data: bytes, at: int) -> tuple[list[int], list[int]]:
        """First byte and length of the next records that are complete."""
        starts: list[int] = []
        lengths: list[int] = []
        while len(starts) < self._batch and at + HEADER <= len(data):
            length = length_in(data[at : at + HEADER])
            if length < 0:
                if not starts:
                    self._damage(at, "its length is damaged")
                break
            start = at + HEADER
            at = start + length + FOOTER
            if at > len(data):
                if not starts:
                    self._needed = at - start + HEADER
                break
            starts.append(start)
            lengths.append(length)
        return starts, lengths

    def _record(self, data: bytes, view: NDArray[np.uint8], at: int, length: int, *, may_decline: bool) -> bool:
        """Take in a sound record; False, and nothing is taken, where a template fits from here on."""
        to = self._to
        start = at + HEADER
        point = to.layouts.read(data, start, start + length)
        if point is None:
            return self._other_record(data, view, at, length, may_decline=may_decline)
        tag, step, value = point
        if to.stretches.opens(tag, step):
            if self._new_stretch(data, view, at) and may_decline:
                return False
            to.stretches.open(step, wall_time(data, start))
        to.stretches.add(tag, value)
        to.templates.note(at, length, (tag,))
        to.records += 1
        return True

    def _other_record(self, data: bytes, view: NDArray[np.uint8], at: int, length: int, *, may_decline: bool) -> bool:
        to = self._to
        payload = data[at + HEADER : at + HEADER + length]
        try:
            found = event(payload, to.plugins)
        except MalformedError as error:
            to.skip(self._name, self.position + at, said("it is no TensorBoard event ({error})", error=reason(error)))
            to.templates.interrupt()
            return True
        tags = tuple(s.tag for s in found.scalars)
        if tags and to.stretches.opens(tags[0], found.step) and self._new_stretch(data, view, at) and may_decline:
            return False
        for scalar in found.scalars:
            if to.stretches.opens(scalar.tag, found.step):
                to.stretches.open(found.step, found.wall_time)
            to.stretches.add(scalar.tag, scalar.number.value)
        to.take(found)
        to.records += 1
        to.layouts.learn(payload, found)
        if not tags or found.aside or len(set(tags)) < len(tags):
            to.templates.interrupt()
        else:
            to.templates.note(at, length, tags)
        return True

    def _new_stretch(self, data: bytes, view: NDArray[np.uint8], at: int) -> bool:
        """End the stretch before a position and begin another. Whether a template fits what begins."""
        templates = self._to.templates
        templates.end(data, self._to.plugins)
        templates.begin()
        return self._paused <= 0 and templates.find(view, at) is not None

    def _damage(self, at: int, why: str) -> None:
        self._damaged_since = (self.position + at, why)
        self._batch = _BATCH
        self._to.stretches.close()

    def _resynchronised(self, view: NDArray[np.uint8], at: int) -> int:
        """The next sound header behind the damage, or how far it was looked for."""
        assert self._damaged_since is not None
        begin = self._damaged_since[0] - self.position
        found = next_header(view, max(at, begin + 1))
        if found < 0:
            return max(at, len(view) - HEADER + 1)
        self._report(self.position + found)
        return found

    def _report(self, until: int) -> None:
        assert self._damaged_since is not None
        since, why = self._damaged_since
        self._to.skip(self._name, since, said("{why}; left out {n} bytes", why=phrase(why), n=until - since))
        self._damaged_since = None
