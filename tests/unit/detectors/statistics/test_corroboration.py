"""What other signals do beside an alarm, and that no value after the row that is asked about counts."""

import numpy as np
import pytest

from holter.detectors.statistics.corroboration import (
    LOG_RATIOS,
    agreeing,
    corroboration,
    held_out_falls,
    reward_falls,
    reward_rises,
)
from holter.runs.build import run_of


def run(**columns):
    n = len(next(iter(columns.values())))
    return run_of(range(1, n + 1), {k.replace("__", "/"): v for k, v in columns.items()})


def test_a_reward_falls_by_a_share_of_its_spread():
    assert reward_falls(run(reward=[1.0, 1, 1, 0.5, 0.5], reward_std=[0.4] * 5), 2, 4)
    assert not reward_falls(run(reward=[1.0, 1, 1, 0.95, 0.95], reward_std=[0.4] * 5), 2, 4)


def test_a_fall_within_the_noise_is_none():
    noisy = [1, 0, 1.2, 0.1, 0.9, -0.1, 1.1, 0.2, 0.3, 0.2]
    assert not reward_falls(run(reward=noisy, reward_std=[0.4] * 10), 7, 9)


def test_a_reward_that_rises_speaks_against():
    made = run(reward=[0.1, 0.1, 0.1, 0.9, 0.9], reward_std=[0.4] * 5)
    found = reward_rises(made, 2, 4)
    assert found.values == (0.1, 0.9)
    assert "0.1 to 0.9" in found.says
    assert not reward_falls(made, 2, 4)


def test_held_out_score_against_its_best():
    made = run(reward=[1.0, 2, 3, 4], eval__reward=[0.7, 0.8, None, 0.5])
    assert held_out_falls(made, 1, 3).values == (0.8, 0.5)
    assert held_out_falls(run(reward=[1.0, 2, 3, 4], eval__reward=[0.7, 0.8, None, 0.79]), 1, 3) is None


def test_updates_and_text_agree_and_one_origin_does_not_confirm_itself():
    made = run(
        policy__approxkl_avg=[0.002] * 6 + [0.3] * 4,
        policy__clipfrac_avg=[0.01] * 6 + [0.5] * 4,
        completions__clipped_ratio=[0.0] * 6 + [0.4] * 4,
        kl=[0.1] * 10,
    )
    names = ["completions/clipped_ratio", "policy/approxkl_avg", "policy/clipfrac_avg"]
    assert [e.metric for e in agreeing(made, 5, 9)] == names
    assert [e.metric for e in agreeing(made, 5, 9, LOG_RATIOS)] == names[:1]


def test_signals_that_may_move_for_the_better_do_not_agree_that_something_got_worse():
    made = run(completions__mean_length=[100.0] * 6 + [300.0] * 4, kl=[0.1] * 10)
    assert [e.metric for e in corroboration(made, 5, 9)] == ["completions/mean_length"]
    assert not agreeing(made, 5, 9)


@pytest.mark.parametrize("look", [corroboration, agreeing])
def test_later_values_change_nothing(look):
    rng = np.random.default_rng(3)
    columns = {
        "entropy": np.r_[1 + 0.01 * rng.normal(size=20), 3 + 0.01 * rng.normal(size=20)],
        "reward": np.r_[0.8 + 0.01 * rng.normal(size=20), 0.2 + 0.01 * rng.normal(size=20)],
    }
    whole = run(**columns)
    for now in (19, 21, 25):
        assert look(whole, 19, now) == look(whole.until(float(now + 1)), 19, now)
    assert look(whole, 19, 25)


def test_values_that_are_not_finite_are_left_out():
    made = run(reward=[1.0, 1, np.nan, 1, 0.1, np.nan, 0.1], reward_std=[0.4] * 7)
    assert reward_falls(made, 3, 6).values == (1.0, 0.1)
