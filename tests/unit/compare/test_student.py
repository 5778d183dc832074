"""Student's t against printed tables, and the false discovery rate against a count."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holter.compare.student import critical, discovered, two_sided

TABLE = {  # two-sided 5 % points, as printed in every table of the t distribution
    1: 12.706,
    2: 4.303,
    3: 3.182,
    5: 2.571,
    10: 2.228,
    30: 2.042,
    math.inf: 1.960,
}


@pytest.mark.parametrize(("df", "expected"), TABLE.items())
def test_critical_values_are_those_of_the_tables(df: float, expected: float) -> None:
    assert critical(0.05, df) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("df", [1, 2.7, 8, 400])
@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-4])
def test_critical_value_and_probability_are_inverse(df: float, alpha: float) -> None:
    assert two_sided(critical(alpha, df), df) == pytest.approx(alpha, rel=1e-6)


def test_one_degree_of_freedom_is_the_cauchy_distribution() -> None:
    for t in (0.1, 1.0, 7.0):
        assert two_sided(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t), rel=1e-9)


def test_no_noise_at_all_is_certain_and_no_difference_is_none() -> None:
    assert two_sided(math.inf, 2) == 0
    assert two_sided(0, 2) == pytest.approx(1)


def test_false_discoveries_stay_rare_among_tests_of_nothing() -> None:
    generator = np.random.default_rng(3)
    wrong = sum(any(discovered(generator.random(40).tolist())) for _ in range(2000))
    assert wrong / 2000 == pytest.approx(0.05, abs=0.02)


def test_the_steps_of_the_procedure_are_those_worked_by_hand() -> None:
    # Ranks 1..5 get limits 0.01, 0.02, 0.03, 0.04, 0.05: the third passes, and carries the second with it.
    assert discovered([0.001, 0.025, 0.029, 0.2, 0.9]) == [True, True, True, False, False]
    assert discovered([]) == []
