"""Two series row by row: a value on the row itself, or the newest one before it."""

import numpy as np

from holter.detectors.statistics.alignment import newest_on_rows, on_rows
from holter.runs.build import run_of

SERIES = run_of([1.0, 2.0, 3.0, 4.0], {"reward": [None, 5.0, None, 7.0]}).get("reward")
ROWS = np.arange(4)


def test_only_rows_that_hold_a_value_have_one():
    assert np.array_equal(on_rows(SERIES, ROWS), [np.nan, 5, np.nan, 7], equal_nan=True)


def test_the_newest_value_is_kept_until_another_comes():
    assert np.array_equal(newest_on_rows(SERIES, ROWS), [np.nan, 5, 5, 7], equal_nan=True)


def test_no_series_has_no_values():
    assert np.isnan(on_rows(None, ROWS)).all()
    assert np.isnan(newest_on_rows(None, ROWS)).all()
