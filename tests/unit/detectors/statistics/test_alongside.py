"""What other signals do beside an alarm."""

import numpy as np

from holter.detectors.statistics.alongside import (
    agreeing,
    change,
    held_out_falls,
    reward_falls,
    reward_rises,
    text_changes,
    update_grows,
)
from holter.runs.build import run_of


def run(**columns):
    n = len(next(iter(columns.values())))
    return run_of(range(1, n + 1), {k.replace("__", "/"): v for k, v in columns.items()})


def test_change_compares_medians_and_quotes_values_that_are_in_the_log():
    made = run(kl=[1.0, 2, 3, 10, 11, 12])
    found = change(made.get("ref_kl"), 3, 5)
    assert (found.before, found.after) == (2, 11)
    assert [float(found.series.values[i]) for i in found.quoted] == [2, 11]


def test_no_change_without_values_on_both_sides():
    made = run(kl=[1.0, 2, 3])
    assert change(made.get("ref_kl"), 0, 2) is None
    assert change(made.get("ref_kl"), 3, 2) is None


def test_a_reward_falls_by_a_share_of_its_spread():
    assert reward_falls(run(reward=[1.0, 1, 1, 0.5, 0.5], reward_std=[0.4] * 5), 3, 4)
    assert not reward_falls(run(reward=[1.0, 1, 1, 0.95, 0.95], reward_std=[0.4] * 5), 3, 4)


def test_a_fall_within_the_noise_is_none():
    noisy = [1, 0, 1.2, 0.1, 0.9, -0.1, 1.1, 0.2, 0.3, 0.2]
    assert not reward_falls(run(reward=noisy, reward_std=[0.4] * 10), 8, 9)


def test_a_reward_that_rises_speaks_against():
    made = run(reward=[0.1, 0.1, 0.1, 0.9, 0.9], reward_std=[0.4] * 5)
    assert reward_rises(made, 3, 4)
    assert not reward_falls(made, 3, 4)


def test_held_out_score_against_its_best():
    made = run(reward=[1.0, 2, 3, 4], eval__reward=[0.7, 0.8, None, 0.5])
    found = held_out_falls(made, 2, 3)
    assert found.values == (0.8, 0.5)
    assert held_out_falls(run(reward=[1.0, 2, 3, 4], eval__reward=[0.7, 0.8, None, 0.79]), 2, 3) is None


def test_updates_and_text():
    made = run(
        policy__approxkl_avg=[0.002] * 6 + [0.3] * 4,
        completions__clipped_ratio=[0.0] * 6 + [0.4] * 4,
        kl=[0.1] * 10,
    )
    assert update_grows(made, 6, 9).metric == "policy/approxkl_avg"
    assert text_changes(made, 6, 9).metric == "completions/clipped_ratio"
    assert [e.metric for e in agreeing(made, 6, 9)] == ["policy/approxkl_avg", "completions/clipped_ratio"]


def test_values_that_are_not_finite_are_left_out():
    made = run(reward=[1.0, 1, np.nan, 1, 0.1, np.nan, 0.1], reward_std=[0.4] * 7)
    assert reward_falls(made, 4, 6).values == (1.0, 0.1)
