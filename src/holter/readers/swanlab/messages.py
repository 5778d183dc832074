"""What the records of a SwanLab run file say, in both forms that its clients have written.

Since 0.10 a record is a protocol buffer; before, it is JSON. Either way a scalar is one number of one name at one step, and
a file says once, by its columns, which names are measurements of the machine.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from holter.errors import reason
from holter.readers.json_text import loads
from holter.readers.lines import text
from holter.readers.numbers import scalar
from holter.readers.tensorboard.wire import BYTES, FIXED64, VARINT, MalformedError, fields, signed, varint

if TYPE_CHECKING:
    from collections.abc import Mapping

_START, _COLUMN, _SCALAR, _MEDIA = 10, 12, 13, 14
_RUN_NAME = 4
_COLUMN_CLASS, _COLUMN_KEY = 1, 3
_SYSTEM = 2
_KEY, _STEP, _VALUE = 1, 2, 5
_double = struct.Struct("<d").unpack_from


class Scalar(NamedTuple):
    """One number."""

    key: str
    step: int
    value: float


class Column(NamedTuple):
    """A name, once."""

    key: str
    is_system: bool
    """Whether it is measured of the machine, against a count of its own."""


class Title(NamedTuple):
    """What the run is called."""

    name: str


class Media(NamedTuple):
    """A picture, a text or the like, which is no number."""

    key: str


Message = Scalar | Column | Title | Media


def message(record: bytes) -> Message | None:
    """What a record says; None where it is nothing that a log needs.

    Raises:
        MalformedError: When it is neither of SwanLab's forms.
    """
    return _from_json(record) if record[:1] == b"{" else _from_protocol_buffer(record)


def _from_protocol_buffer(record: bytes) -> Message | None:
    for number, kind, at, end in fields(record, 0, len(record)):
        if kind != BYTES:
            continue
        if number == _SCALAR:
            return _scalar(record, at, end)
        if number == _COLUMN:
            said = _values(record, at, end)
            return Column(_text(said, _COLUMN_KEY), said.get(_COLUMN_CLASS) == _SYSTEM)
        if number == _MEDIA:
            return Media(_text(_values(record, at, end), _KEY))
        if number == _START:
            return Title(_text(_values(record, at, end), _RUN_NAME))
    return None


def _scalar(record: bytes, at: int, end: int) -> Scalar:
    key, step, value = "", 0, 0.0
    for number, kind, first, last in fields(record, at, end):
        if number == _KEY and kind == BYTES:
            key = text(record[first:last])
        elif number == _STEP and kind == VARINT:
            step = signed(varint(record, first, last)[0])
        elif number == _VALUE and kind == BYTES:
            # A protocol buffer leaves out what is zero, so a value without a number is the number 0.
            value = next((_double(record, a)[0] for _, k, a, _ in fields(record, first, last) if k == FIXED64), 0.0)
    return Scalar(key, step, value)


def _values(record: bytes, at: int, end: int) -> dict[int, int | bytes]:
    """The numbers and byte strings of a message by field."""
    out: dict[int, int | bytes] = {}
    for number, kind, first, last in fields(record, at, end):
        if kind == BYTES:
            out[number] = record[first:last]
        elif kind == VARINT:
            out[number] = varint(record, first, last)[0]
    return out


def _text(said: Mapping[int, int | bytes], number: int) -> str:
    found = said.get(number)
    return text(found) if isinstance(found, bytes) else ""


def _from_json(record: bytes) -> Message | None:
    try:
        said = loads(record.rstrip(b"\n"))
    except ValueError as error:
        raise MalformedError(reason(error)) from None
    if not isinstance(said, dict) or not isinstance(said.get("data"), dict):
        raise MalformedError("no record of a model")
    kind, data = said.get("model_type"), said["data"]
    key = str(data.get("key", ""))
    if kind == "Scalar":
        metric = data.get("metric")
        value = scalar(metric.get("data")) if isinstance(metric, dict) else None
        step = data.get("step")
        if not isinstance(value, float) or not isinstance(step, int) or abs(step) >= 1 << 63:
            raise MalformedError("a scalar without a number and a step")
        return Scalar(key, step, value)
    if kind == "Column":
        return Column(key, data.get("cls") == "SYSTEM")
    if kind == "Media":
        return Media(key)
    if kind == "Experiment":
        return Title(str(data.get("name") or ""))
    return None
