"""Falls from the best level: real ones are found where they happen, noise and sparse hits are not."""

import numpy as np

from holter.detectors.statistics.drawdown import best_at, falls_from_best, lagged, spread_or_less
from holter.detectors.statistics.hold import latched


def test_a_fall_is_flagged_after_it_and_not_before():
    x = np.concatenate((np.full(40, 1.0), np.full(20, 0.2))) + 0.02 * np.random.default_rng(0).normal(size=60)
    flags = falls_from_best(x, z=5.0, share=0.4, least=0.1)
    assert not flags[:40].any()
    assert flags[45:].all()


def test_noise_alone_is_no_fall():
    rng = np.random.default_rng(1)
    found = [falls_from_best(rng.normal(size=200), z=6.0, share=0.4, least=0.0).any() for _ in range(100)]
    assert sum(found) <= 1


def test_a_single_hit_of_a_sparse_reward_is_no_level_to_fall_from():
    x = np.zeros(80)
    x[[3, 4, 30]] = 0.03
    assert not falls_from_best(x, z=5.0, share=0.4, least=0.0).any()


def test_sparse_values_have_noise_although_their_median_difference_is_zero():
    x = np.zeros(60)
    x[::10] = 1.0
    assert spread_or_less(x)[0][-1] > 0


def test_a_lag_shifts_and_leaves_unknown_what_came_before():
    assert lagged(np.array([1.0, 2.0, 3.0]), 2).tolist()[2] == 1.0
    assert np.isnan(lagged(np.array([1.0, 2.0, 3.0]), 5)).all()


def test_a_latch_needs_both_to_begin_and_one_to_hold():
    begins = np.array([1, 0, 0, 0, 0, 1, 0], bool)
    holds = np.array([0, 1, 1, 0, 1, 1, 1], bool)
    assert latched(begins, holds).tolist() == [False, False, False, False, False, True, True]


def test_a_fall_that_lasts_does_not_become_its_own_noise():
    rng = np.random.default_rng(5)
    x = np.r_[np.linspace(0.2, 0.8, 40), np.full(60, 0.3)] + 0.03 * rng.normal(size=100)
    flags = falls_from_best(x, z=5.0, share=0.4, least=0.1)
    assert not flags[:40].any()
    assert flags[55:].all()


def test_where_the_best_was():
    block = np.asarray([np.nan, 1.0, 3.0, 2.0, 4.0, 0.0])
    assert best_at(block, lag=1).tolist() == [0, 0, 1, 2, 2, 4]
    assert best_at(block, lag=9).tolist() == [0] * 6
