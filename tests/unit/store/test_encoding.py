"""Rows as lines."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holter.store.encoding import decode, encode, number


def strictly(line):
    """What a strict JSON parser reads, with no tolerance for NaN tokens."""

    def refuse(token):
        raise AssertionError(f"{token} is not JSON")

    return json.loads(line, parse_constant=refuse)


def test_non_finite_numbers_null_and_absence_are_four_things():
    said = strictly(encode({"a": math.nan, "b": math.inf, "c": -math.inf, "d": None, "e": 0.0}))
    assert said == {"a": "NaN", "b": "Infinity", "c": "-Infinity", "d": None, "e": 0.0}
    assert {key: number(value) for key, value in said.items() if key in "bcde"} == {
        "b": math.inf,
        "c": -math.inf,
        "d": None,
        "e": 0.0,
    }
    assert math.isnan(number(said["a"]))


@given(st.dictionaries(st.text(max_size=8), st.floats() | st.integers(-(2**53), 2**53) | st.none(), max_size=8))
def test_every_number_comes_back_exactly(row):
    back = decode(encode(row))
    assert len(back) == len({key.encode("utf-8", "replace") for key in row})
    for key, value in row.items():
        found = number(back[key.encode("utf-8", "replace").decode()])
        if value is None:
            assert found is None
        else:
            assert found == value or (math.isnan(found) and math.isnan(value))


@given(
    st.recursive(st.floats() | st.text(max_size=5) | st.none() | st.integers() | st.booleans(), st.lists, max_leaves=5)
)
def test_any_value_makes_one_strict_line(value):
    line = encode({"value": value})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    strictly(line)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.float32(0.5), 0.5),
        (np.float64("nan"), "NaN"),
        (np.float32("inf"), "Infinity"),
        (np.int64(3), 3),
        (np.array([1.0, math.nan]), [1.0, "NaN"]),
        (2**70, float(2**70)),
        (10**400, "Infinity"),
        ([math.nan, {"x": -math.inf}], ["NaN", {"x": "-Infinity"}]),
        ("\ud800 broken", "? broken"),
        ({1: "a"}, {"1": "a"}),
        ({3, 1}, [1, 3]),
        (True, True),
    ],
)
def test_numbers_of_other_libraries_and_odd_values_are_kept(value, said):
    assert strictly(encode({"x": value, "loss": math.nan})) == {"x": said, "loss": "NaN"}


class Hostile:
    def __str__(self):
        raise RuntimeError("no")

    def item(self):
        raise RuntimeError("no")


def test_what_json_cannot_hold_does_not_cost_the_row():
    ring = {}
    ring["ring"] = ring
    said = strictly(encode({"loss": 1.5, "model": Hostile(), "ring": ring}))
    assert said["loss"] == 1.5
    assert said["model"] == "Hostile"


def test_a_tensor_is_its_number():
    torch = pytest.importorskip("torch")
    assert strictly(encode({"loss": torch.tensor(math.nan), "kl": torch.tensor(0.5, dtype=torch.bfloat16)})) == {
        "loss": "NaN",
        "kl": 0.5,
    }


@pytest.mark.parametrize("line", [b"[1]\n", b'"text"\n', b"{\n", b"\xff\n", b"3\n"])
def test_a_line_that_is_no_object_is_refused(line):
    with pytest.raises(ValueError):  # noqa: PT011 - orjson words it
        decode(line)
