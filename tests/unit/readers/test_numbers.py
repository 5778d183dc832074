"""What stands for a number, and what it is."""

import math

import pytest

from holter.readers.numbers import THOUSANDS, Gap, mean_and_spread, number, scalar


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.0666", 0.0666),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("1e-05", 1e-05),
        ("+3", 3.0),
        ("5/3766", 5.0),
        ("45%", 0.45),
        ("12.5 %", 0.125),
        ("np.float64(0.1)", 0.1),
        ("tensor(0.5, device='cuda:0')", 0.5),
        ("Array(1.5, dtype=float32)", 1.5),
        ("−3.5", -3.5),
        ("Infinity", math.inf),
        ("-inf", -math.inf),
        ("∞", math.inf),
        ("1.#INF", math.inf),
        ("-.inf", -math.inf),
        ("true", 1.0),
        ("1e999", math.inf),
    ],
)
def test_text_that_stands_for_a_number(text, expected):
    assert number(text) == expected


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "np.float64(nan)", "-nan(ind)", "1.#QNAN", "-1.#IND", ".nan"])
def test_nan_is_a_number(text):
    assert math.isnan(number(text))


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("null", Gap.NULL),
        ("None", Gap.NULL),
        ("", Gap.ABSENT),
        ("  ", Gap.ABSENT),
        ("-", Gap.ABSENT),
        ("n/a", Gap.ABSENT),
        ("No Log", Gap.ABSENT),
        ("abc", Gap.OTHER),
        ("1_000", Gap.OTHER),
        ("0x10", Gap.OTHER),
        ("٣", Gap.OTHER),
        ("1,5", Gap.OTHER),
        ("1.2.3", Gap.OTHER),
        ("tensor([1, 2])", Gap.OTHER),
        ("print(5)", Gap.OTHER),
        ("2024/05/01", Gap.OTHER),
        ("5" * 500, None),
    ],
)
def test_text_that_stands_for_none(text, gap):
    assert number(text) is gap if gap else number(text) == math.inf


def test_null_text_lists_and_booleans_are_told_apart():
    assert scalar(None) is Gap.NULL
    assert scalar([1.0]) is Gap.OTHER
    assert scalar(True) == 1.0
    assert scalar(10**400) == math.inf
    assert scalar(-(10**400)) == -math.inf
    assert scalar(2**53 + 1) == float(2**53 + 1)


@pytest.mark.parametrize("text", ["1,234", "1,234,567.5", "-12,345", "1.234.567", "1 234", "1'234", "1 234,5"])
def test_grouped_digits_are_recognised(text):
    assert THOUSANDS.fullmatch(text)


@pytest.mark.parametrize("text", ["0,123", "1,23", "1234,567", "1.234", "12", "1,2345"])
def test_plain_digits_are_not_grouped(text):
    assert not THOUSANDS.fullmatch(text)


def test_a_mean_with_its_spread():
    assert mean_and_spread("0.5|0.25") == (0.5, 0.25)
    assert mean_and_spread("1.5 ± 0.5") == (1.5, 0.5)
    assert mean_and_spread("1.5 +/- 0.5") == (1.5, 0.5)
    assert mean_and_spread("a|b") is None
    assert mean_and_spread("1|2|3") is None
