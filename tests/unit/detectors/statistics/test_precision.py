"""Whether a zero in a log is one."""

import numpy as np
import pytest

from holter.detectors.statistics.precision import coarse, decimals
from holter.runs.build import run_of


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, 2.0], 0), ([0.5, 0.25], 2), ([0.007, 0.164], 3), ([1e-6], 6), ([1 / 3], 8), ([np.nan, 0.1], 1), ([], 0)],
)
def test_decimals_that_write_every_value(values, expected):
    assert decimals(np.asarray(values, np.float64)) == expected


def test_a_console_of_three_decimals_is_coarse():
    assert coarse(run_of([1, 2], {"grad_norm": [0.352, 0.335], "entropy": [0.442, 0.44], "lr": [1.23456e-6, 1e-6]}))


def test_one_full_number_shows_that_nothing_is_rounded():
    assert not coarse(run_of([1, 2], {"grad_norm": [0.352, 0.335], "entropy": [0.442, 0.4412345]}))


def test_a_log_of_integers_is_not_coarse():
    assert not coarse(run_of([1], {"loss": [0], "grad_norm": [0], "kl": [0]}))
