"""Records that look like one that was decoded before, read without decoding them again.

Between its step and its number, and behind the number, the record of a tag is the same every time.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from holter.readers.tensorboard.wire import MalformedError, signed, varint

if TYPE_CHECKING:
    from holter.readers.tensorboard.event import Event

_WALL_TIME_KEY, _STEP_KEY = 0x09, 0x10
_STEP_FIELD_AT = 9
"""Where the step's field begins behind a wall time of eight bytes and its key."""
_WALL_TIME = struct.Struct("<d")
_NUMBERS = {"<f4": struct.Struct("<f"), "<f8": struct.Struct("<d")}


class _Layout(NamedTuple):
    """Where the number lies behind the step, how it is written, and the tags by the bytes around it."""

    at: int
    number: struct.Struct
    tags: dict[bytes, str]


class Layouts:
    """Layouts of records of one scalar that begin with wall time and step.

    The commonest records of an irregular file pass here one by one, so a record that has the step of the one before is told
    by its bytes, and the wall time is read only for those that ask for it.

    Attributes:
        tags: Tags of the layouts so far.
    """

    def __init__(self) -> None:
        self.tags: set[str] = set()
        self._by_rest: dict[int, list[_Layout]] = {}
        self._step_field = bytes([_STEP_KEY, 0])
        self._step = 0

    def read(self, data: bytes, start: int, end: int) -> tuple[str, int, float] | None:
        """Tag, step and value of the scalar in a record, None when its layout is not known."""
        at = start + _STEP_FIELD_AT
        if not data.startswith(self._step_field, at) and not self._next_step(data, at, end):
            return None
        at += len(self._step_field)
        for offset, form, tags in self._by_rest.get(end - at, ()):
            number = at + offset
            tag = tags.get(data[at:number] + data[number + form.size : end])
            if tag is not None and data[start] == _WALL_TIME_KEY:
                return tag, self._step, form.unpack_from(data, number)[0]
        return None

    def _next_step(self, data: bytes, at: int, end: int) -> bool:
        """Take a record's step for that of the records to come. Whether a step's field is where it should be."""
        if at >= end or data[at] != _STEP_KEY:
            return False
        try:
            step, after = varint(data, at + 1, end)
        except MalformedError:
            return False
        self._step_field, self._step = data[at:after], signed(step)
        return True

    def learn(self, payload: bytes, said: Event) -> None:
        """Remember the layout of a decoded record, if it is one of these."""
        if said.wall_at != 1 or said.step_range[0] != _STEP_FIELD_AT + 1 or said.aside or len(said.scalars) != 1:
            return
        (scalar,) = said.scalars
        form = _NUMBERS.get(scalar.number.form)
        after_step = said.step_range[1]
        if form is None or scalar.number.at is None or scalar.number.at < after_step:
            return
        self.tags.add(scalar.tag)
        offset = scalar.number.at - after_step
        layouts = self._by_rest.setdefault(len(payload) - after_step, [])
        same = [layout for layout in layouts if (layout.at, layout.number) == (offset, form)]
        if not same:
            same = [_Layout(offset, form, {})]
            layouts += same
        same[0].tags[payload[after_step : scalar.number.at] + payload[scalar.number.at + form.size :]] = scalar.tag


def wall_time(data: bytes, start: int) -> float:
    """Wall time of a record whose layout is known."""
    return float(_WALL_TIME.unpack_from(data, start + 1)[0])
