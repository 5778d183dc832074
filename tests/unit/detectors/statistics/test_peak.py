"""Rise-then-fall against never-falls, checked with hand-computed numbers and a naive second implementation."""

import numpy as np
import pytest

from holter.detectors.statistics.peak import rise_then_fall, rising, rising_errors, scatter, without_outliers


def test_a_rising_fit_pools_what_falls():
    assert rising(np.array([1.0, 3.0, 2.0, 4.0])).tolist() == [1.0, 2.5, 2.5, 4.0]


def test_errors_of_every_prefix_are_those_of_its_own_fit():
    e = np.random.default_rng(0).normal(size=15)
    naive = [float(((e[: k + 1] - rising(e[: k + 1])) ** 2).sum()) for k in range(len(e))]
    assert rising_errors(e) == pytest.approx(naive)


def test_the_hands_on_has_its_peak_at_the_third_evaluation():
    shape = rise_then_fall(np.array([0.65, 0.70, 0.72, 0.68, 0.62]), np.full(5, 0.0145))
    assert shape.at[-1] == 2
    # Never falling fits .65 and four times .68: squares .0004 + .0016 + 0 + .0036 = .0056 lie between the shapes.
    assert shape.ratio[-1] == pytest.approx(0.0056 / 0.0145**2, rel=1e-6)


def test_what_never_falls_has_no_peak_to_fall_from():
    assert not rise_then_fall(np.linspace(0.1, 0.9, 12)).ratio.any()


def test_a_prefix_is_judged_as_it_was_judged_then():
    e = np.random.default_rng(1).normal(size=30)
    whole, part = rise_then_fall(e), rise_then_fall(e[:17])
    for name in ("ratio", "at", "height", "now", "sd"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[:17])


def test_one_lucky_evaluation_is_no_peak():
    calm = without_outliers(np.array([0.5, 0.5, 0.9, 0.5, 0.5, 0.5]))
    assert calm.tolist() == [0.5] * 6


def test_noise_does_not_grow_with_the_trend():
    noise = 0.02 * np.random.default_rng(2).normal(size=40)
    assert scatter(noise + np.linspace(0, 50, 40)) == pytest.approx(scatter(noise))
