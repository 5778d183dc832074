"""Tensors of one number: where the number lies in the bytes and how it is written."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from holter.readers.tensorboard.wire import BYTES, FIXED32, FIXED64, VARINT, MalformedError, fields, signed, varint

_TENSOR_CONTENT = 4
_DTYPE, _SHAPE = 1, 2
_DIMENSION, _SIZE, _UNKNOWN_RANK = 2, 1, 3
_FLOAT, _DOUBLE, _STRING, _HALF, _BFLOAT16 = 1, 2, 7, 19, 14

_CONTENT = {
    _FLOAT: "<f4",
    _DOUBLE: "<f8",
    3: "<i4",
    4: "<u1",
    5: "<i2",
    6: "<i1",
    9: "<i8",
    10: "<u1",
    17: "<u2",
    _HALF: "<f2",
    22: "<u4",
    23: "<u8",
}
"""How ``tensor_content`` writes a number of each data type, in numpy's words."""
_STRUCTS = {
    form: struct.Struct("<" + letter)
    for form, letter in zip(
        ("<f2", "<f4", "<f8", "<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8"), "efdbhiqBHIQ", strict=True
    )
}
_PACKED = {5: ("<f4", FIXED32), 6: ("<f8", FIXED64)}
"""Fields that hold numbers of fixed width, float_val and double_val."""
_VARINTS = {7: True, 10: True, 11: False, 16: False, 17: False}
"""Fields that hold numbers of growing width (int, int64, bool, uint32, uint64) and whether they are signed."""
_HALF_VAL, _STRING_VAL = 13, 8


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a record.

    Attributes:
        value: What it is.
        at: Its first byte, where every number of this field is written with the same width; else None.
        form: numpy's name of how it is written at `at`.
    """

    value: float
    at: int | None = None
    form: str = ""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor, as far as a reader of scalars cares.

    Attributes:
        number: Its only number, or None when it has none, several, or is no number.
        text: Its only string, or None.
    """

    number: Number | None = None
    text: bytes | None = None


def tensor(data: bytes, at: int, end: int) -> Tensor:
    """Read a tensor.

    Raises:
        MalformedError: When the bytes are no tensor.
    """
    dtype, elements = 0, 1
    parts: list[tuple[int, int, int, int]] = []
    for number, kind, start, stop in fields(data, at, end):
        if number == _DTYPE and kind == VARINT:
            dtype, _ = varint(data, start, stop)
        elif number == _SHAPE and kind == BYTES:
            elements = _elements(data, start, stop)
        else:
            parts.append((number, kind, start, stop))
    if elements != 1:
        return Tensor()
    if dtype == _STRING:
        strings = [data[start:stop] for number, kind, start, stop in parts if number == _STRING_VAL and kind == BYTES]
        return Tensor(text=strings[0]) if len(strings) == 1 else Tensor()
    numbers = [n for part in parts for n in _numbers(data, dtype, *part)]
    return Tensor(number=numbers[0]) if len(numbers) == 1 else Tensor()


def _elements(data: bytes, at: int, end: int) -> int:
    """How many entries a shape has; 0 when it does not say."""
    count = 1
    for number, kind, start, stop in fields(data, at, end):
        if number == _UNKNOWN_RANK and kind == VARINT and varint(data, start, stop)[0]:
            return 0
        if number == _DIMENSION and kind == BYTES:
            size = 0
            for inner, inner_kind, first, last in fields(data, start, stop):
                if inner == _SIZE and inner_kind == VARINT:
                    size = signed(varint(data, first, last)[0])
            count *= max(size, 0)
    return count


def _numbers(data: bytes, dtype: int, field: int, kind: int, start: int, stop: int) -> list[Number]:
    """The numbers of one field, none for a field of another kind."""
    if field == _TENSOR_CONTENT and kind == BYTES:
        if dtype == _BFLOAT16:
            return [Number(_from_bits(bits, dtype)) for (bits,) in struct.iter_unpack("<H", data[start : stop & ~1])][
                :2
            ]
        return _fixed(data, _CONTENT.get(dtype, ""), start, stop)
    if field in _PACKED:
        form, alone = _PACKED[field]
        return _fixed(data, form, start, stop) if kind in (BYTES, alone) else []
    if field in _VARINTS or field == _HALF_VAL:
        return _growing(data, dtype, field, kind, start, stop)
    return []


def _fixed(data: bytes, form: str, start: int, stop: int) -> list[Number]:
    if not form:
        return []
    width = _STRUCTS[form].size
    if (stop - start) % width:
        raise MalformedError("a tensor whose numbers are cut")
    # Two are enough to know that it is not one number.
    ends = range(start, min(stop, start + 2 * width), width)
    return [Number(number_at(data, at, form), at, form) for at in ends]


def _growing(data: bytes, dtype: int, field: int, kind: int, start: int, stop: int) -> list[Number]:
    if kind not in (VARINT, BYTES):
        return []
    out: list[Number] = []
    while start < stop and len(out) < 2:
        value, start = varint(data, start, stop)
        if field == _HALF_VAL:
            out.append(Number(_from_bits(value & 0xFFFF, dtype)))
        else:
            out.append(Number(float(signed(value) if _VARINTS[field] else value)))
    return out


def number_at(data: bytes, at: int, form: str) -> float:
    """The number written at a position."""
    return float(_STRUCTS[form].unpack_from(data, at)[0])


def _from_bits(bits: int, dtype: int) -> float:
    """A 16-bit float given as its bits: bfloat16 is the upper half of a float32."""
    if dtype == _BFLOAT16:
        return number_at(struct.pack("<I", bits << 16), 0, "<f4")
    return number_at(struct.pack("<H", bits), 0, "<f2")
