from __future__ import annotations

import math
import struct

import pytest

from holter.readers.tensorboard.event import event
from holter.readers.tensorboard.wire import MalformedError
from tests.unit.readers.tensorboard import writing as w

FLOAT, DOUBLE, INT32, UINT8, STRING, INT64, BOOL, BFLOAT16, HALF, UINT64 = 1, 2, 3, 4, 7, 9, 10, 14, 19, 23
CONTENT, FLOAT_VAL, DOUBLE_VAL, INT_VAL, STRING_VAL, INT64_VAL, BOOL_VAL, HALF_VAL, UINT64_VAL = (
    4, 5, 6, 7, 8, 10, 11, 13, 17,
)  # fmt: skip


def only(value: bytes) -> float:
    said = event(w.event(3, value), {})
    assert said.aside == []
    (scalar,) = said.scalars
    assert scalar.tag == "x"
    return scalar.number.value


@pytest.mark.parametrize(
    ("dtype", "field", "content", "expected"),
    [
        (FLOAT, FLOAT_VAL, struct.pack("<f", 0.1), struct.unpack("<f", struct.pack("<f", 0.1))[0]),
        (FLOAT, CONTENT, struct.pack("<f", -2.5), -2.5),
        (DOUBLE, DOUBLE_VAL, struct.pack("<d", 0.1), 0.1),
        (DOUBLE, CONTENT, struct.pack("<d", 1e300), 1e300),
        (INT32, INT_VAL, w.varint(-7), -7.0),
        (INT32, CONTENT, struct.pack("<i", -7), -7.0),
        (UINT8, INT_VAL, w.varint(200), 200.0),
        (UINT8, CONTENT, b"\xc8", 200.0),
        (INT64, INT64_VAL, w.varint(1 << 40), float(1 << 40)),
        (INT64, CONTENT, struct.pack("<q", -(1 << 40)), float(-(1 << 40))),
        (UINT64, UINT64_VAL, w.varint((1 << 64) - 1), float((1 << 64) - 1)),
        (BOOL, BOOL_VAL, b"\x01", 1.0),
        (BOOL, CONTENT, b"\x00", 0.0),
        (HALF, HALF_VAL, w.varint(0x3E00), 1.5),
        (HALF, CONTENT, struct.pack("<e", 1.5), 1.5),
        (BFLOAT16, HALF_VAL, w.varint(0x3FC0), 1.5),
        (BFLOAT16, CONTENT, b"\xc0\x3f", 1.5),
    ],
)
def test_a_tensor_of_one_number_is_a_scalar_in_every_form(dtype, field, content, expected):
    assert only(w.tensor("x", dtype, field, content)) == expected
    assert only(w.tensor("x", dtype, field, content, shape=b"", plugin="scalars")) == expected
    one_by_one = b"\x12\x02\x08\x01" * 2  # two dimensions of size 1
    assert only(w.tensor("x", dtype, field, content, shape=one_by_one)) == expected


@pytest.mark.parametrize("value", [math.inf, -math.inf, 0.0, 3.4e38, 1e-45])
def test_float32_values_come_back_exactly(value):
    assert only(w.simple("x", value)) == struct.unpack("<f", struct.pack("<f", value))[0]


def test_nan_is_a_value():
    assert math.isnan(only(w.simple("x", math.nan)))
    assert math.isnan(only(w.tensor("x", FLOAT, FLOAT_VAL, b"\x01\x00\xa0\x7f")))  # a signalling NaN


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (w.histogram("x"), "histogram"),
        (w.text("x", "hello"), "text"),
        (w.tensor("x", STRING, STRING_VAL, b"hello", shape=b""), "text"),
        (w.tensor("x", FLOAT, FLOAT_VAL, bytes(8), shape=b"\x12\x02\x08\x02"), "tensor"),
        (w.tensor("x", FLOAT, FLOAT_VAL, bytes(8), shape=b""), "tensor"),
        (w.tensor("x", FLOAT, FLOAT_VAL, bytes(4), shape=b"\x18\x01"), "tensor"),
        (w.tensor("x", 8, 9, bytes(16)), "tensor"),
        (w.tensor("x", FLOAT, FLOAT_VAL, bytes(4), plugin="pr_curves"), "precision-recall curve"),
        (w.tensor("x", FLOAT, FLOAT_VAL, bytes(4), plugin="projector"), "projector record"),
        (w.part(1, b"x") + w.part(4, b"\x08\x01"), "image"),
    ],
)
def test_what_is_no_scalar_is_named_and_left_aside(value, kind):
    said = event(w.event(3, value), {})
    assert said.scalars == []
    assert [(a.kind, a.tag) for a in said.aside] == [(kind, "x")]


def test_a_plugin_named_once_holds_for_the_later_records_of_its_tag():
    plugins: dict[str, str] = {}
    event(w.event(1, w.tensor("x", FLOAT, FLOAT_VAL, bytes(4), plugin="histograms")), plugins)
    later = event(w.event(2, w.tensor("x", FLOAT, FLOAT_VAL, bytes(4))), plugins)
    assert later.scalars == []
    assert later.aside[0].kind == "histogram"


@pytest.mark.parametrize("step", [0, 1, 127, 128, 1 << 40, (1 << 63) - 1, -1, -(1 << 63)])
def test_every_64_bit_step_is_read(step):
    assert event(w.event(step, w.simple("x", 1.0)), {}).step == step


def test_a_record_without_wall_time_has_none():
    assert math.isnan(event(w.event(1, w.simple("x", 1.0), wall_time=None), {}).wall_time)


def test_unknown_fields_are_passed_over():
    more = w.part(99, b"later") + b"\xa1\x06" + bytes(8) + b"\xa5\x06" + bytes(4) + b"\xa0\x06\x05"
    said = event(w.event(4, w.simple("x", 2.0) + more, more=more), {})
    assert (said.step, said.scalars[0].number.value) == (4, 2.0)


@pytest.mark.parametrize(
    "payload",
    [
        b"\x09\x00",
        b"\x10\xff",
        b"\x10" + b"\xff" * 10 + b"\x01",
        b"\x2a\x7f\x00",
        b"\x0b",
        b"\x00",
        b"\x08\x01",
        b"\x12\x03abc",
        w.part(5, w.part(2, b"")),
        w.part(1, b"an example of another record file"),
        w.event(1, w.tensor("x", FLOAT, FLOAT_VAL, bytes(3))),
    ],
)
def test_bytes_that_are_no_event_are_refused(payload):
    with pytest.raises(MalformedError):
        event(payload, {})
