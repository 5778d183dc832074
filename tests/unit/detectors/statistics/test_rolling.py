"""Trailing statistics against a naive loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from holter.detectors.statistics.rolling import running_max, running_min, trailing_mad, trailing_mean, trailing_median

SERIES = hnp.arrays(np.float64, st.integers(0, 60), elements=st.floats(-1e6, 1e6))


def naive(x, length, lag, least, statistic):
    out = []
    for i in range(len(x)):
        window = x[max(0, i - lag - length + 1) : max(0, i - lag + 1)]
        out.append(statistic(window) if len(window) >= max(least, 1) else np.nan)
    return np.asarray(out)


@given(SERIES, st.integers(1, 12), st.integers(0, 5), st.integers(1, 6))
def test_median_of_the_window_that_ends_lag_before(x, length, lag, least):
    expected = naive(x, length, lag, min(least, length), np.median)
    np.testing.assert_allclose(trailing_median(x, length, lag, min(least, length)), expected)


@pytest.mark.parametrize("length", [*range(1, 48), 80])
def test_median_of_windows_of_every_length(length):
    x = np.random.default_rng(length).normal(size=200).round(1)
    x[[20, 150]] = np.inf, -np.inf
    expected = naive(x, length, 0, length, np.median)
    np.testing.assert_array_equal(trailing_median(x, length, least=length), expected)


@given(SERIES, st.integers(1, 12), st.integers(0, 5))
def test_deviation_from_the_median_in_units_of_a_normal(x, length, lag):
    expected = naive(x, length, lag, 1, lambda w: 1.4826 * np.median(np.abs(w - np.median(w))))
    np.testing.assert_allclose(trailing_mad(x, length, lag), expected, atol=1e-6)


@given(SERIES, st.integers(1, 12), st.integers(0, 5), st.integers(1, 6))
def test_mean_of_the_window_that_ends_lag_before(x, length, lag, least):
    expected = naive(x, length, lag, min(least, length), np.mean)
    np.testing.assert_allclose(trailing_mean(x, length, lag, min(least, length)), expected, atol=1e-3)


@given(SERIES, st.integers(2, 12), st.integers(2, 5), st.data())
def test_a_prefix_says_the_same_when_only_every_few_points_are_looked_at(x, length, every, data):
    cut = data.draw(st.integers(0, len(x)))
    whole = trailing_median(x, length, every=every)
    np.testing.assert_array_equal(trailing_median(x[:cut], length, every=every), whole[:cut])


def test_between_the_points_looked_at_the_last_answer_stands():
    x = np.asarray([1.0, 2, 3, 4, 5, 6, 7, 8])
    assert trailing_median(x, 2, every=4).tolist() == [1, 1.5, 1.5, 3.5, 3.5, 3.5, 3.5, 7.5]


def test_only_the_points_asked_for_are_answered():
    x = np.arange(10.0)
    asked = np.isin(np.arange(10), [1, 6])
    found = trailing_median(x, 3, where=asked)
    assert np.flatnonzero(~np.isnan(found)).tolist() == [1, 6]
    assert found[[1, 6]].tolist() == [0.5, 5.0]


def test_running_extremes_leave_nan_out():
    x = np.asarray([np.nan, 2.0, np.nan, 5.0, 1.0])
    assert running_max(x).tolist() == [-np.inf, 2, 2, 5, 5]
    assert running_min(x).tolist() == [np.inf, 2, 2, 2, 1]


@pytest.mark.parametrize("lag", [0, 2, 9])
def test_running_max_leaves_the_newest_out(lag):
    x = np.asarray([3.0, 1, 4, 1, 5])
    expected = [max([-np.inf, *x[: max(0, i - lag + 1)]]) for i in range(5)]
    assert running_max(x, lag).tolist() == expected
