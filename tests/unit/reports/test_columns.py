"""Columns of numbers: every form decodes to what went in, and thinning keeps every extreme."""

import base64
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holter.reports.html.columns import column
from holter.reports.html.thinning import middles, thinned


def decoded(c: dict) -> list[float]:
    """A second decoder, value by value."""
    for name, kind in (("f64", "<f8"), ("f32", "<f4")):
        if name in c:
            return np.frombuffer(base64.b64decode(c[name]), kind).astype(float).tolist()
    differences = next(
        (
            np.frombuffer(base64.b64decode(c[n]), t).tolist()
            for n, t in (("u8", "u1"), ("u16", "<u2"), ("u32", "<u4"))
            if n in c
        ),
        [c.get("by")] * (c["n"] - 1),
    )
    out = [c["start"]] if c["n"] else []
    for d in differences:
        out.append(out[-1] + d)
    return [float(x) for x in out]


def width_of(n: int, most: int) -> int:
    """Width of the stretches that `n` values are thinned by."""
    return next(w for w in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256) if w >= n / (most // 3))


@pytest.mark.parametrize(
    ("values", "form"),
    [
        ([], "by"),
        ([7.0], "by"),
        ([3.0, 3.0, 3.0], "by"),
        ([10.0, 20.0, 30.0], "by"),
        ([0.0, 1.0, 5.0, 260.0], "u8"),
        ([0.0, 1.0, 300.0], "u16"),
        ([0.0, 1.0, 70_000.0], "u32"),
        ([0.5, 0.25, -1.5], "f32"),
        ([1.0, float("nan"), float("inf")], "f32"),
        ([1e300, 1.0, 5.0], "f64"),
        ([1e-300, 1.0, 5.0], "f64"),
        ([1.7e9 + 0.25, 1.7e9 + 0.5, 1.7e9], "f64"),
    ],
)
def test_a_column_takes_the_shortest_form_that_keeps_it(values, form):
    told = column(np.array(values))
    assert form in told
    assert told["n"] == len(values)
    assert np.array_equal(decoded(told), values, equal_nan=True)


@given(st.lists(st.floats(width=64), max_size=30))
def test_seven_digits_of_any_number_survive(values):
    told = decoded(column(np.array(values, float)))
    assert np.array_equal(np.isnan(told), np.isnan(values))
    spread = max((abs(v) for v in values if np.isfinite(v)), default=0.0)
    for got, was in zip(told, values, strict=True):
        assert got == was or np.isnan(was) or abs(got - was) <= 1e-7 * max(abs(was), spread * 1e-3)


@given(
    st.lists(st.one_of(st.floats(-100, 100), st.just(float("nan")), st.just(float("inf"))), min_size=1, max_size=300),
    st.integers(4, 50),
)
def test_thinning_keeps_ends_extremes_and_what_is_not_finite(values, most):
    x = np.array(values)
    kept = thinned(x, most)
    assert kept[0] == 0
    assert kept[-1] == len(x) - 1
    assert (np.diff(kept) > 0).all()
    finite = x[np.isfinite(x)]
    if len(finite):
        assert finite.min() in x[kept]
        assert finite.max() in x[kept]
    assert np.isnan(x).any() == np.isnan(x[kept]).any()
    assert np.isinf(x).any() == np.isinf(x[kept]).any()


@given(st.lists(st.one_of(st.floats(-100, 100), st.just(float("nan"))), min_size=1, max_size=300), st.integers(6, 50))
def test_the_line_through_the_extremes_is_the_median_of_each_stretch(values, most):
    x = np.array(values)
    at, medians = middles(x, most)
    if len(x) <= most:
        assert not len(at)
        return
    width = width_of(len(x), most)
    parts = [x[i : i + width] for i in range(0, len(x), width)]
    assert len(medians) == len(parts)
    for middle, where, (i, part) in zip(medians, at, enumerate(parts), strict=True):
        finite = part[np.isfinite(part)]
        assert i * width <= where < (i + 1) * width
        assert np.isnan(middle) if not len(finite) else math.isclose(middle, float(np.median(finite)), abs_tol=1e-12)


def test_a_single_spike_in_a_hundred_thousand_rows_survives():
    x = np.sin(np.arange(100_000) / 500)
    x[77_123] = 40.0
    x[12_001] = np.nan
    kept = thinned(x)
    assert 77_123 in kept
    assert 12_001 in kept
    assert len(kept) < 2200


@given(st.integers(10, 400), st.integers(1, 40), st.integers(6, 60))
def test_a_series_that_grows_keeps_what_was_kept_of_it_until_its_stretches_become_wider(n, more, most):
    x = np.sin(np.arange(n + more) * 1.7) * np.arange(n + more)
    width = width_of(n, most)
    assume(n > most and width == width_of(n + more, most))
    whole = n // width
    assert middles(x, most)[1][:whole].tolist() == middles(x[:n], most)[1][:whole].tolist()
    before, after = (kept[kept < whole * width] for kept in (thinned(x[:n], most), thinned(x, most)))
    assert set(after) <= set(before)
    assert len(before) <= len(after) + 1  # the last row was kept for being the last
