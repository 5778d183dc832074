"""Sparklines keep what matters."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holter.reports.sparkline import BLOCKS, NOT_FINITE, bin_of, sparkline


def test_a_spike_survives_any_width():
    x = np.zeros(10_000)
    x[7_777] = 1.0
    line = sparkline(x, 40)
    assert line.count(BLOCKS[-1]) == 1
    assert line[bin_of(7_777, 10_000, 40)] == BLOCKS[-1]


def test_a_flat_line_is_in_the_middle():
    assert set(sparkline(np.full(9, 3.0))) == {BLOCKS[4]}


def test_what_is_not_finite_is_marked():
    assert sparkline(np.array([1.0, np.nan, 2.0, np.inf])) == BLOCKS[0] + NOT_FINITE + BLOCKS[-1] + NOT_FINITE
    assert sparkline(np.array([np.nan, np.nan])) == NOT_FINITE * 2


def test_nothing_is_an_empty_line():
    assert sparkline(np.array([])) == ""


@given(st.lists(st.floats(width=32), max_size=200), st.integers(1, 60))
def test_any_floats_make_a_line_of_the_right_length(values, width):
    line = sparkline(np.array(values, np.float64), width)
    assert len(line) == min(width, len(values))
    assert set(line) <= set(BLOCKS) | {NOT_FINITE}


@given(st.integers(1, 500), st.integers(1, 60))
def test_bins_are_those_of_the_line(count, width):
    bins = np.array_split(np.arange(count), min(width, count))
    for number, members in enumerate(bins):
        assert all(bin_of(int(m), count, width) == number for m in members)
