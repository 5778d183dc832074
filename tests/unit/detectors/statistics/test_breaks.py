"""Breaks, levels and bends: where they speak, where they must not, and against a naive second implementation."""

import numpy as np
import pytest

from holter.detectors.statistics.breaks import accelerates, breaks_trend, leaves_level, recent


def wobble(n, size=1.0, seed=0):
    return size * np.random.default_rng(seed).normal(size=n)


def naive_break(y, scale, z, ratio, up):
    r, n = recent(scale), len(y)
    out = np.zeros(n, bool)
    t = np.arange(scale)
    for end in range(scale + r - 1, n):
        if (end + 1) % max(1, r // 4):
            continue
        before, newest = y[end - r - scale + 1 : end - r + 1], y[end - r + 1 : end + 1]
        slope, intercept = np.polyfit(t, before, 1)
        spread = 1.4826 * np.median(np.abs(before - intercept - slope * t))
        line = intercept + slope * (scale - 1 + (r + 1) / 2)
        last = np.median(before[-10:])
        line = max(line, last) if up else min(line, last)
        now = np.median(newest)
        far = now - line if up else line - now
        out[end] = far > z * spread and (now > ratio * line if up else now < line / ratio)
    return out


@pytest.mark.parametrize("up", [True, False])
def test_break_agrees_with_a_naive_loop(up):
    x = 10 + 0.02 * np.arange(200) + wobble(200, 0.3)
    x[120:] *= 2.0 if up else 0.4
    found = breaks_trend(x, z=6, ratio=1.3, up=up, scales=(20,)) | breaks_trend(x, z=6, ratio=1.3, up=up, scales=(80,))
    expected = naive_break(x, 20, 6, 1.3, up) | naive_break(x, 80, 6, 1.3, up)
    assert expected.any()
    np.testing.assert_array_equal(found, expected)


def test_a_jump_breaks_the_trend_within_a_few_points():
    x = 1 + 0.01 * np.arange(100) + wobble(100, 0.02)
    x[60:] += 3
    flagged = np.flatnonzero(breaks_trend(x, z=6, ratio=1.3))
    assert 60 <= flagged[0] <= 64


def test_a_steady_slope_never_breaks():
    x = 1 + 0.05 * np.arange(400) + wobble(400, 0.2)
    assert not breaks_trend(x, z=6, ratio=1.3).any()


def test_the_newest_points_leave_the_level_of_those_before():
    x = 1 + wobble(120, 0.05)
    x[80:] *= 4
    flagged = np.flatnonzero(leaves_level(x, factor=3))
    assert 80 < flagged[0] <= 84
    assert not leaves_level(x, factor=5).any()


def test_a_fall_is_measured_as_a_factor_too():
    x = 1 + wobble(120, 0.05)
    x[80:] /= 4
    assert 80 < np.flatnonzero(leaves_level(x, factor=3, up=False))[0] <= 84
    assert not leaves_level(x, factor=3).any()


def test_a_level_that_was_there_before_is_no_new_extreme():
    x = 1 + wobble(200, 0.05)
    x[40:80] *= 4
    x[140:] *= 4
    flagged = np.flatnonzero(leaves_level(x, factor=3, scales=(20, 40)))
    assert len(flagged)
    assert flagged.max() < 100


def test_a_slow_exponential_bends_before_any_line_breaks():
    x = np.ones(160) + wobble(160, 0.02)
    x[80:] *= np.exp(np.arange(80) / 40)
    bends = np.flatnonzero(accelerates(x, z=8, ratio=3, growth=1.5))
    breaks = np.flatnonzero(breaks_trend(x, z=8, ratio=1.3))
    assert 80 < bends[0] < 120
    assert not len(breaks) or bends[0] < breaks[0]


@pytest.mark.parametrize("power", [0.5, 1.0, 1.3])
def test_a_healthy_climb_does_not_bend(power):
    x = (np.arange(300) / 300) ** power + wobble(300, 0.02)
    assert not accelerates(x, z=8, ratio=3, growth=1.5).any()


@pytest.mark.parametrize("test", [
    lambda x: breaks_trend(x, z=6, ratio=1.3),
    lambda x: breaks_trend(x, z=6, ratio=1.3, up=False, log=True, floor=0.02),
    lambda x: leaves_level(x, factor=2),
    lambda x: accelerates(x, z=4, ratio=2, growth=1.2),
])  # fmt: skip
def test_a_prefix_is_judged_the_same(test):
    x = np.abs(1 + wobble(300, 0.3) + np.linspace(0, 3, 300) ** 2)
    whole = test(x)
    for cut in (1, 7, 24, 63, 64, 65, 150, 299):
        np.testing.assert_array_equal(test(x[:cut]), whole[:cut])
