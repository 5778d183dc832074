"""A reward that rises, one that stands, and what is known of them when a row is logged."""

import numpy as np
import pytest

from holter.detectors.statistics.progress import Progress, near_best, rises
from holter.runs.build import run_of

AT = np.arange(60)


def reward(values, steps=None):
    steps = steps if steps is not None else list(range(1, len(values) + 1))
    return run_of([float(s) for s in steps], {"reward": list(values)}).get("reward")


def noise(n=60):
    return 0.02 * np.random.default_rng(1).normal(size=n)


def test_a_trend_rises_and_noise_does_not():
    assert rises(reward(0.2 + 0.01 * AT + noise()), AT)[30:].all()
    assert not rises(reward(0.2 + noise()), AT).any()


def test_a_solved_task_is_near_its_best_and_a_lost_one_is_not():
    solved = 0.9 - 0.7 * np.exp(-AT / 8)
    assert near_best(reward(solved + noise()), AT)[30:].all()
    lost = np.where(AT < 30, solved, 0.2)
    assert not near_best(reward(lost + noise()), AT)[45:].any()


def test_a_reward_that_never_gained_is_near_no_best():
    assert not near_best(reward(0.9 + noise()), AT).any()


def test_rows_before_the_first_reward_know_nothing():
    late = reward(0.2 + 0.01 * AT + noise(), steps=list(range(1, 61)))
    early = late.where(late.at >= 40)
    assert not rises(early, np.arange(40)).any()
    assert not rises(None, AT).any()
    assert not near_best(None, AT).any()


def test_the_change_since_a_row_is_that_of_means_on_both_sides():
    values = [0.0, 0.2, 0.1, 0.3, 1.0, 1.2, 1.4]
    run = run_of(range(1, 8), {"reward": values})
    moved = Progress.of(run).since(3, np.asarray([3, 4, 6]))
    assert moved.before == np.mean(values[:4])
    np.testing.assert_allclose(moved.change, [0.0, 1.0 - 0.15, 1.2 - 0.15])
    assert moved.z[0] == 0
    assert moved.z[2] > moved.z[1] > 0


def test_of_values_that_never_differed_any_change_is_beyond_the_noise():
    moved = Progress.of(run_of(range(1, 6), {"reward": [1.0, 1, 1, 1, 0.9]})).since(2, np.asarray([3, 4]))
    assert moved.z.tolist() == [0.0, -np.inf]


def test_without_a_spread_a_change_is_measured_against_the_level():
    run = run_of(range(1, 4), {"reward": [0.5, 0.5, 0.5]})
    assert Progress.of(run).matters(run, 2) == 0.3


def test_a_sudden_rise_pays_when_it_is_a_share_of_the_spread_of_single_rewards():
    values = np.where(AT < 40, 0.2, 0.4)  # a rise of 0.2 where single rewards spread by 0.5
    run = run_of(list(range(1, 61)), {"reward": values, "reward_std": np.full(60, 0.5)})
    progress = Progress.of(run)
    soared = np.flatnonzero(progress.soars(run, AT, 0.3))
    # 0.16 at row 43, where 4 of the newest 5 are new; 0.15, which is not above 0.3 of 0.5, where 5 of the 20 before are.
    assert soared.tolist() == list(range(43, 49))
    assert not progress.soars(run, AT, 0.5).any()


def test_without_a_logged_spread_the_noise_of_means_tells_that_of_single_rewards():
    means = np.random.default_rng(2).normal(0, 0.1, 60)
    plain = run_of(list(range(1, 61)), {"reward": means})
    assert np.median(Progress.of(plain).of_single(plain, batch=16.0)[20:]) == pytest.approx(0.4, rel=0.2)
    counted = run_of(list(range(1, 61)), {"reward": means, "episode": 64.0 * np.arange(1, 61)})
    assert np.median(Progress.of(counted).of_single(counted, batch=16.0)[20:]) == pytest.approx(0.8, rel=0.2)
