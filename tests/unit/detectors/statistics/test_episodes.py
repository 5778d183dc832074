"""Episodes of flags, and when a departure began."""

import numpy as np
import pytest

from holter.detectors.statistics.episodes import (
    Episode,
    _jumps,
    _ramps,
    episodes,
    onset,
    persist,
    unexcused,
    unexcused_since,
)


def flags(text):
    return np.asarray([c == "x" for c in text])


def test_gaps_shorter_than_quiet_are_one_episode():
    found = list(episodes(flags("..x..x....x........"), quiet=4))
    assert found == [Episode(2, 5, active=False), Episode(10, 10, active=False)]


def test_an_episode_is_active_until_it_has_been_quiet():
    assert next(episodes(flags("...x.."), quiet=3)).active
    assert not next(episodes(flags("...x..."), quiet=3)).active


def test_no_flags_no_episode():
    assert list(episodes(np.zeros(5, bool))) == []


def test_persist_asks_for_k_of_the_last_values():
    assert persist(flags("x.xx.xxx"), 3, 4).tolist() == flags("...x.xxx").tolist()


@pytest.mark.parametrize("slope", [0.0, 0.02])
def test_a_jump_is_found_to_the_row_whatever_the_trend_before(slope):
    x = slope * np.arange(100) + np.random.default_rng(1).normal(0, 0.05, 100)
    x[70:] += 2
    best, low, high = onset(x, 75)
    assert abs(best - 70) <= 1
    assert low <= best <= high <= 75


def test_a_ramp_is_found_within_a_few_rows():
    x = np.random.default_rng(2).normal(0, 0.1, 160)
    x[90:] += 0.1 * np.arange(1, 71)
    assert abs(onset(x, 125)[0] - 90) <= 5


def test_a_longer_past_is_looked_at_when_the_ramp_fills_the_window():
    errors = []
    for seed in range(9):
        x = np.random.default_rng(seed).normal(0, 0.1, 400)
        x[150:] += 0.03 * np.arange(1, 251)
        errors.append(abs(onset(x, 290)[0] - 150))
    assert np.median(errors) <= 5


def test_nothing_after_the_alarm_is_used():
    x = np.random.default_rng(4).normal(0, 0.1, 100)
    x[60:] += 1
    assert onset(x, 66) == onset(x[:67], 66)


def left_over(y, *columns):
    design = np.stack(columns, axis=1)
    return float(((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum())


@pytest.mark.parametrize("seed", range(4))
def test_every_break_is_weighed_as_least_squares_weigh_it(seed):
    y = np.cumsum(np.random.default_rng(seed).normal(size=6 + 11 * seed))
    i = np.arange(len(y), dtype=float)
    positions = np.arange(2, len(y))
    whole, ramps = _ramps(y, positions)
    jumps = _jumps(y, positions)
    assert whole == pytest.approx(left_over(y, np.ones_like(i), i))
    for p, ramp, jump in zip(positions, ramps, jumps, strict=True):
        after = (i >= p).astype(float)
        assert ramp == pytest.approx(left_over(y, np.ones_like(i), i, np.maximum(i - p + 1, 0)), abs=1e-9)
        assert jump == pytest.approx(left_over(y, 1 - after, i * (1 - after), after), abs=1e-9)


def test_a_few_points_say_nothing_about_when_it_began():
    assert onset(np.asarray([1.0, 2.0, 3.0]), 2) == (2, 0, 2)


def test_a_constant_series_has_some_onset_and_no_error():
    best, low, high = onset(np.ones(50), 49)
    assert low <= best <= high


def test_a_warning_is_due_at_the_first_point_that_nothing_excuses():
    excused = np.asarray([0, 0, 1, 1, 0, 1, 0], bool)
    assert unexcused(Episode(2, 6, active=True), excused) == 4
    assert unexcused(Episode(2, 3, active=False), excused) is None
    assert unexcused_since(Episode(2, 6, active=True), excused) == 6
    assert unexcused_since(Episode(0, 1, active=False), excused) == 0
    assert unexcused_since(Episode(2, 3, active=False), excused) == 3
