"""Noise whatever the trend, and slopes in units of it."""

import numpy as np

from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.trend import trailing_slope, trend_z


def test_noise_of_a_line_is_that_of_its_scatter():
    x = 0.5 * np.arange(400) + np.random.default_rng(0).normal(0, 2.0, 400)
    assert abs(np.nanmedian(noise(x).sd) - 2.0) < 0.4


def test_smoothing_shows_as_autocorrelation_and_not_as_less_noise_of_a_mean():
    raw = np.random.default_rng(1).normal(size=2000)
    smooth = np.empty_like(raw)
    smooth[0] = raw[0]
    for i in range(1, len(raw)):
        smooth[i] = 0.8 * smooth[i - 1] + 0.2 * raw[i]
    grain = noise(smooth)
    assert np.nanmedian(grain.rho) > 0.5
    truth = np.std([smooth[i : i + 20].mean() for i in range(0, 1980, 20)])
    assert np.nanmedian(grain.of_mean(20)) > 0.5 * truth


def test_noise_is_causal():
    x = np.random.default_rng(2).normal(size=200)
    for cut in (20, 91, 150):
        np.testing.assert_array_equal(noise(x[:cut]).sd, noise(x).sd[:cut])


def test_slope_agrees_with_least_squares():
    x = np.random.default_rng(3).normal(size=50).cumsum()
    expected = [np.polyfit(np.arange(12), x[i - 11 : i + 1], 1)[0] for i in range(11, 50)]
    np.testing.assert_allclose(trailing_slope(x, 12)[11:], expected, atol=1e-9)


def test_a_rise_beyond_the_noise_is_told_from_none():
    flat = np.random.default_rng(4).normal(size=200)
    rising = flat + 0.1 * np.arange(200)
    assert trend_z(rising)[-1] > 2.5
    assert abs(trend_z(flat)[-1]) < 2.5
