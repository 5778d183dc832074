"""The band around a mean over seeds, against the formula worked by hand."""

from __future__ import annotations

import math

import numpy as np

from holter.compare.band import AROUND, half_width, mean

T_2 = 4.302652729911275
"""Student's t, 97.5 %, two degrees of freedom; from a printed table."""


def test_the_band_of_a_constant_spread_is_students_interval() -> None:
    seeds = np.array([[1.0] * 6, [2.0] * 6, [3.0] * 6])
    assert np.allclose(half_width(seeds), T_2 * 1.0 / math.sqrt(3))
    assert np.allclose(mean(seeds), 2.0)


def test_the_noise_is_averaged_over_the_neighbours_and_the_mean_is_not() -> None:
    spread = np.ones(11)
    spread[5] = 4.0
    seeds = np.vstack([-spread, np.zeros(11), spread])
    variances = spread**2
    around = [variances[max(i - AROUND, 0) : i + AROUND + 1].mean() for i in range(11)]
    assert np.allclose(half_width(seeds), T_2 * np.sqrt(np.array(around) / 3))
    assert np.allclose(mean(seeds), 0.0)


def test_one_seed_has_no_band_and_a_stretch_without_values_no_mean() -> None:
    assert np.isnan(half_width(np.ones((1, 4)))).all()
    seeds = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan]])
    assert np.isnan(half_width(seeds)).tolist() == [False, True, True]
    assert mean(seeds)[:2].tolist() == [2.0, 5.0]
    assert math.isnan(mean(seeds)[2])


def coverage(draws: int, *, shared: float) -> float:
    """How often the band of four seeds holds the true mean 0; `shared` is the part of the variance that lasts a whole run."""
    generator = np.random.default_rng(0)
    held = []
    for _ in range(draws):
        seeds = math.sqrt(shared) * generator.normal(size=(4, 1)) + math.sqrt(1 - shared) * generator.normal(
            size=(4, 20)
        )
        held.append((np.abs(mean(seeds)) <= half_width(seeds)).mean())
    return float(np.mean(held))


def test_the_band_holds_the_true_mean_as_often_as_it_says_where_seeds_keep_their_distance() -> None:
    assert abs(coverage(2000, shared=1.0) - 0.95) < 0.02


def test_the_band_is_never_too_narrow() -> None:
    assert coverage(300, shared=0.0) > 0.95
    assert coverage(600, shared=0.5) > 0.94
