"""Noise has the moments that it promises; agreement of groups is what counting groups gives."""

import numpy as np
import pytest

from holter.simulation.completions import agreement, normal_tail
from holter.simulation.noise import autocorrelated, heavy, lognormal, mean_of_batch, share_of


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_autocorrelated_noise_has_unit_variance_and_the_asked_correlation(rho):
    x = autocorrelated(np.random.default_rng(1), 60_000, rho)
    assert x.std() == pytest.approx(1, abs=0.05)
    assert np.corrcoef(x[1:], x[:-1])[0, 1] == pytest.approx(rho, abs=0.02)


def test_lognormal_factor_has_mean_one():
    assert lognormal(np.random.default_rng(2), 100_000, 0.4).mean() == pytest.approx(1, abs=0.01)


def test_heavy_factor_has_median_one_and_outliers_that_a_lognormal_lacks():
    x = heavy(np.random.default_rng(3), 50_000, 0.3)
    assert np.median(x) == pytest.approx(1, abs=0.01)
    assert np.log(x).max() > 6 * np.log(x).std()


def test_mean_of_a_batch_spreads_like_a_binomial_mean():
    x = mean_of_batch(np.random.default_rng(4), np.full(50_000, 0.3), 64)
    assert x.mean() == pytest.approx(0.3, abs=0.002)
    assert x.std() == pytest.approx((0.3 * 0.7 / 64) ** 0.5, rel=0.03)


def test_shares_draw_from_a_stream_of_their_own():
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    share_of(one, np.full(10, 0.1), 50)
    share_of(other, np.full(10, 0.9), 50)
    assert one.normal() == other.normal()


def test_normal_tail_at_known_points():
    assert normal_tail(np.asarray([0.0, 1.6448536, -1.6448536])) == pytest.approx([0.5, 0.05, 0.95], abs=1e-6)


def test_groups_of_equal_prompts_agree_with_the_textbook_probability():
    assert agreement(np.asarray([0.18]), 2, 0.0) == pytest.approx([0.18**2 + 0.82**2])


@pytest.mark.parametrize(("p", "group", "difficulty"), [(0.3, 4, 1.0), (0.7, 8, 0.5), (0.5, 2, 3.0)])
def test_groups_of_unequal_prompts_agree_as_often_as_counted(p, group, difficulty):
    rng = np.random.default_rng(6)
    mass = 2 / difficulty
    rates = rng.beta(p * mass, (1 - p) * mass, size=200_000)
    right = rng.binomial(group, rates)
    counted = ((right == 0) | (right == group)).mean()
    assert agreement(np.asarray([p]), group, difficulty)[0] == pytest.approx(counted, abs=0.005)
