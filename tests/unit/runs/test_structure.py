"""Facts about a log that switch rules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from holter.runs import structure
from holter.runs.build import run_of
from holter.runs.structure import Algorithm

STEPS = [1, 2, 3, 4, 5, 6]
NOISE = [0.3712, 0.1259, 0.9134, 0.4471, 0.5623, 0.2817]


def run(columns=None, *, dialect="generic", steps=STEPS, config=None, **more):
    made = run_of(steps, {**(columns or {}), **more}, config=config)
    return replace(made, dialect=dialect)


def test_algorithm_is_told_by_critic_groups_or_trainer():
    assert structure.algorithm(run({"loss/value_avg": NOISE})) is Algorithm.PPO
    assert structure.algorithm(run({"frac_reward_zero_std": NOISE})) is Algorithm.GRPO
    assert structure.algorithm(run({"reward": NOISE}, dialect="trl-ppo")) is Algorithm.PPO
    assert structure.algorithm(run({"loss/policy_avg": NOISE}, dialect="verl")) is Algorithm.GRPO
    assert structure.algorithm(run({"reward": NOISE})) is Algorithm.UNKNOWN


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.123, 0.456, 0.0, 1.234, 0.001], 0.001),
        ([0.12, 0.45, 0.0, 1.23, 0.01], 0.01),
        ([0.1, 0.3, 0.7, 1.9, 2.2], 0.1),
        ([0.1234567, 0.2, 0.3, 0.4, 0.5], 0.0),
        ([1.0, 2.0, 3.0, 40.0, 5.0], 0.0),
        ([0.125, 0.5, 0.875, 0.25, 0.0], 0.0),
        ([0.0] * 9, 0.0),
        ([0.123, 0.456], 0.0),
        ([float("nan"), 0.123, 0.456, 0.789, 0.001, 0.002, float("inf")], 0.001),
        ([1234.567, 0.001, 12.345, 999.999, 0.5], 0.001),
    ],
)
def test_resolution_is_the_printers(values, expected):
    assert structure.resolution(np.array(values)) == expected


def test_one_series_with_more_digits_shows_that_the_log_is_not_rounded():
    coarse = [0.123, 0.456, 0.0, 1.234, 0.001, 0.2]
    assert structure.print_resolution(run({"grad_norm": coarse, "policy/clipfrac_avg": [0.0] * 6})) == 0.001
    assert structure.print_resolution(run({"grad_norm": coarse, "entropy": NOISE})) == 0.0


def test_zero_of_a_rounded_print_is_not_known_to_be_zero():
    zeros = {"policy/clipfrac_avg": [0.0] * 6}
    coarse = run({"grad_norm": [0.123, 0.456, 0.0, 1.234, 0.001, 0.2], **zeros})
    assert structure.is_zero_throughout(coarse, coarse["policy/clipfrac_avg"]) is None
    fine = run({"grad_norm": NOISE, **zeros})
    assert structure.is_zero_throughout(fine, fine["policy/clipfrac_avg"]) is True
    assert structure.is_zero_throughout(fine, fine["grad_norm"]) is False


def test_beta_is_zero_by_configuration_coefficient_or_silence():
    assert structure.beta_is_zero(run({"kl": NOISE}, config={"beta": 0.0})) is True
    assert structure.beta_is_zero(run({"reward": NOISE}, config={"beta": 0.04})) is False
    assert structure.beta_is_zero(run({"kl": NOISE})) is False
    assert structure.beta_is_zero(run({"kl": [0.0] * 6, "reward": NOISE})) is True
    assert structure.beta_is_zero(run({"reward": NOISE}, dialect="trl-grpo")) is True
    assert structure.beta_is_zero(run({"reward": NOISE})) is None
    assert structure.beta_is_zero(run({"kl": NOISE}, dialect="unsloth")) is None


def test_counts_and_shares_do_not_make_a_rounded_print():
    zeros = {"grad_norm": [0.0] * 6, "completions/mean_length": [196.5, 34.0, 119.5, 35.0, 114.5, 37.0]}
    assert structure.print_resolution(run(zeros)) == 0.0


def test_what_a_log_prints_later_does_not_change_how_it_was_printed():
    coarse = [round(0.001 * i, 3) for i in range(1, structure.HEAD + 1)]
    rows = range(1, structure.HEAD + 2)
    assert structure.print_resolution(run({"grad_norm": coarse}, steps=rows[:-1])) == 0.001
    assert structure.print_resolution(run({"grad_norm": [*coarse, 1 / 3]}, steps=rows)) == 0.001


def test_the_first_row_is_the_first_step_unless_rows_are_counted_or_epochs_number_them():
    assert structure.begins_at_first_step(run({"kl": NOISE}))
    assert not structure.begins_at_first_step(run({"kl": NOISE}, steps=[10, 20, 30, 40, 50, 60]))
    counted = replace(run({"kl": NOISE}), step_axis="row number (the log has no step column)")
    assert not structure.begins_at_first_step(counted)
    epochs = [0.85, 0.87, 0.9, 0.92, 0.95, 0.97]
    assert not structure.begins_at_first_step(run({"kl": NOISE, "epoch": epochs}, steps=epochs))
    assert structure.begins_at_first_step(run({"kl": NOISE, "epoch": STEPS}))
