"""Which column counts the steps."""

from __future__ import annotations

import math

import pytest

from holter.runs.canonical import canonical
from tests.unit.runs.logs import log_of

NAN = float("nan")


def steps_of(rows, **kwargs):
    runs = canonical(log_of(rows), **kwargs)
    assert len(runs) == 1
    return runs[0]


def rows_with(name, values, **more):
    return [{name: v, "mean_reward": float(i), "kl": 0.1, **more} for i, v in enumerate(values)]


def test_trainers_step_is_preferred_to_the_trackers_count_of_log_calls():
    rows = [
        {"_step": 10 * s, "train/global_step": s, "train/loss": 0.1, "train/learning_rate": 1e-6} for s in (1, 2, 3)
    ]
    run = steps_of(rows)
    assert run.steps.tolist() == [1, 2, 3]
    assert "train/global_step" in run.step_axis


def test_trackers_count_is_better_than_none_and_says_what_it_is():
    run = steps_of(rows_with("_step", [3, 6, 9]))
    assert run.steps.tolist() == [3, 6, 9]
    assert run.step_axis == "the tracker's count of log calls, logged as _step"


def test_a_counter_that_stands_still_is_passed_over():
    rows = [{"train/global_step": 0, "_step": s, "train/reward": 1.0} for s in (2, 10, 18, 26)]
    run = steps_of(rows)
    assert run.steps.tolist() == [2, 10, 18, 26]
    assert any("train/global_step repeats" in note for note in run.notes)


def test_rows_are_counted_where_most_of_them_share_a_step():
    run = steps_of([{"step": s, "loss": 0.1, "reward": 1.0} for s in (1, 1, 1, 2, 2, 2, 3, 3)])
    assert run.steps.tolist() == list(range(1, 9))
    assert run.step_axis == "row number (step repeats from row to row)"


@pytest.mark.parametrize("name", ["Step", "STEP", "global step", "train/step", "iteration", "步骤", "步数"])
def test_step_column_is_found_however_it_is_written(name):
    assert steps_of(rows_with(name, [5, 10, 15])).steps.tolist() == [5, 10, 15]


def test_episode_is_the_axis_where_no_step_is():
    run = steps_of(rows_with("episode", [16, 32, 48]))
    assert run.steps.tolist() == [16, 32, 48]
    assert run.step_axis == "episode, logged as episode"


def test_epoch_is_the_axis_only_where_it_tells_every_row_apart():
    assert steps_of(rows_with("epoch", [0.25, 0.5, 0.75])).steps.tolist() == [0.25, 0.5, 0.75]
    rounded = steps_of(rows_with("epoch", [0.01, 0.02, 0.02, 0.03]))
    assert rounded.steps.tolist() == [1, 2, 3, 4]
    assert len(rounded["reward"]) == 4


def test_rows_are_counted_where_nothing_counts_them():
    run = steps_of([{"mean_reward": 1.0}, {"mean_reward": 2.0}])
    assert run.steps.tolist() == [1, 2]
    assert run.step_axis.startswith("row number (the log has no step")


def test_rows_that_say_no_step_belong_to_the_step_before():
    run = steps_of(
        [{"step": 4, "mean_reward": 1.0}, {"kl": 0.2}, {"step": NAN, "loss": 0.3}, {"step": 8, "mean_reward": 2.0}]
    )
    assert run.steps.tolist() == [4, 8]
    assert run["kl"].steps.tolist() == [4]
    assert run["loss"].steps.tolist() == [4]


def test_rows_before_the_first_step_are_joined_to_it_and_said():
    run = steps_of([{"lr": 1e-6}, {"step": 10, "mean_reward": 1.0}, {"step": 20, "mean_reward": 2.0}])
    assert run["lr"].steps.tolist() == [10]
    assert any(note.startswith("The first row says no step") for note in run.notes)


def test_infinite_steps_are_no_steps():
    run = steps_of(rows_with("step", [1, math.inf, 3]))
    assert run.steps.tolist() == [1, 3]


def test_fractional_steps_stay_fractional():
    assert steps_of(rows_with("step", [0.5, 1.0, 1.5])).steps.tolist() == [0.5, 1.0, 1.5]


def test_rows_in_no_order_are_sorted_and_said():
    run = steps_of(rows_with("step", [50, 10, 40, 20, 30]))
    assert run.steps.tolist() == [10, 20, 30, 40, 50]
    assert run["reward"].values.tolist() == [1, 3, 4, 2, 0]
    assert run.resumes == ()
    assert any("not in the order" in note for note in run.notes)


def test_descending_rows_are_one_run():
    assert steps_of(rows_with("step", [3, 2, 1])).steps.tolist() == [1, 2, 3]


def test_counter_that_restarts_with_every_epoch_is_counted_on():
    rows = [{"epoch": e, "step": s, "act_loss": 0.1, "cri_loss": 0.2} for e in (0, 1, 2) for s in range(4)]
    run = steps_of(rows)
    assert run.dialect == "deepspeed-chat"
    assert run.steps.tolist() == list(range(12))
    assert any("every epoch" in note for note in run.notes)


def test_epoch_that_falls_with_the_step_is_a_second_run():
    rows = [{"epoch": e / 10, "step": s, "loss": 0.1, "mean_reward": 1.0} for e, s in ((1, 1), (2, 2), (1, 1), (2, 2))]
    assert len(canonical(log_of(rows))) == 2


def test_zero_based_step_of_llama_factory_is_moved_by_one():
    run = steps_of([{"step": s, "loss": 0.1, "reward": 1.0} for s in (0, 1, 2)], speaks="llama-factory")
    assert run.steps.tolist() == [1, 2, 3]
