"""Signals that follow from others, and never stand beside a logged one."""

from __future__ import annotations

import numpy as np
import pytest

from holter.dialects.base import Fit
from holter.runs.build import run_of
from holter.runs.derive import RULES
from holter.runs.run import Split, signal_of

CASES = [
    ({"objective/scores": [2.0], "objective/non_score_reward": [-0.5]}, "objective/rlhf_reward", 1.5),
    ({"objective/rlhf_reward": [1.5], "objective/scores": [2.0]}, "objective/non_score_reward", -0.5),
    ({"objective/rlhf_reward": [1.5], "reward": [2.0]}, "objective/non_score_reward", -0.5),
    ({"objective/non_score_reward": [-0.5], "objective/kl": [10.0]}, "objective/kl_coef", 0.05),
    ({"groups/all_solved": [0.25], "groups/none_solved": [0.5]}, "frac_reward_zero_std", 0.75),
    ({"groups/mixed": [0.25]}, "frac_reward_zero_std", 0.75),
    (
        {"groups/all_solved_count": [1.0], "groups/none_solved_count": [2.0], "groups/mixed_count": [5.0]},
        "frac_reward_zero_std",
        0.375,
    ),
    ({"completions/eos_ratio": [0.9]}, "completions/clipped_ratio", 0.1),
    ({"value/error": [0.5], "returns/var": [2.0]}, "explained_variance", 0.75),
    ({"returns/var": [4.0]}, "returns/std", 2.0),
    ({"value/var": [9.0]}, "value/std", 3.0),
    ({"clip_ratio/low_mean": [0.1], "clip_ratio/high_mean": [0.2]}, "clip_ratio/region_mean", 0.3),
    ({"sequence/mean_length": [300.0], "prompt_length/mean": [100.0]}, "completions/mean_length", 200.0),
    ({"eval/completions/eos_ratio": [0.9]}, "eval/completions/clipped_ratio", 0.1),
]


@pytest.mark.parametrize(("columns", "key", "value"), CASES, ids=[c[1] for c in CASES])
def test_signal_follows_from_its_inputs(columns, key, value):
    series = run_of([1], columns)[key]
    assert series.values.tolist() == pytest.approx([value])
    assert series.derived
    assert set(series.inputs) <= set(columns)
    assert all(name in series.metric for name in series.inputs)
    assert series.split is (Split.EVAL if key.startswith("eval/") else Split.TRAIN)


def test_every_rule_is_about_signals_of_the_catalog():
    for rule in RULES:
        assert signal_of(rule.key) is not None
        assert all(signal_of(key) is not None for key in rule.inputs)


def test_what_is_logged_is_not_derived():
    run = run_of([1], {"groups/mixed": [0.25], "frac_reward_zero_std": [0.7]})
    assert run["frac_reward_zero_std"].values.tolist() == [0.7]
    assert not run["frac_reward_zero_std"].derived


def test_no_second_series_of_a_logged_concept_is_derived():
    run = run_of([1], {"clip_ratio": [0.1], "clip_ratio/low_mean": [0.1], "clip_ratio/high_mean": [0.2]})
    assert not run.get("clip_fraction").derived
    assert len(run.all("clip_fraction")) == 1


def test_rows_that_lack_an_input_or_have_no_outcome_are_left_out():
    run = run_of(
        [1, 2, 3, 4],
        {"objective/non_score_reward": [-0.5, None, -0.1, float("nan")], "objective/kl": [10.0, 9.0, 0.0, 10.0]},
    )
    coefficient = run["objective/kl_coef"]
    assert coefficient.steps.tolist() == [1]
    assert np.isfinite(coefficient.values).all()


def test_fit_is_no_better_than_the_worst_input():
    assert run_of([1], {"completions/eos_ratio": [0.9]})["completions/clipped_ratio"].fit is Fit.CLOSE
    assert run_of([1], {"returns/var": [4.0]})["returns/std"].fit is Fit.EXACT


def test_a_prefix_of_a_run_holds_the_prefix_of_what_was_derived():
    run = run_of([1, 2, 3], {"groups/mixed": [0.1, 0.2, 0.3]}).until(2)
    assert run["frac_reward_zero_std"].values.tolist() == pytest.approx([0.9, 0.8])
