"""Rows of a log become a run: which value stands at which step, and what is said about the rest."""

from __future__ import annotations

import math

import numpy as np

from holter.dialects.base import Fit
from holter.runs.canonical import canonical
from holter.runs.run import Split
from holter.signals.base import Estimator, Unit
from tests.unit.runs.logs import log_of

NAN = float("nan")


def one(rows, **kwargs):
    runs = canonical(log_of(rows), **kwargs)
    assert len(runs) == 1
    return runs[0]


def grpo(step, **more):
    return {
        "step": step,
        "loss": 0.1 * step,
        "reward": float(step),
        "reward_std": 0.5,
        "completions/mean_length": 9,
    } | more


def test_training_and_evaluation_rows_of_a_step_become_one_row():
    run = one([grpo(1), grpo(2), {"step": 2, "eval_reward": 0.7}, grpo(3)])
    assert run.steps.tolist() == [1, 2, 3]
    assert run["reward"].values.tolist() == [1, 2, 3]
    assert run["eval/reward"].steps.tolist() == [2]
    assert run["eval/reward"].split is Split.EVAL
    assert run.repeated == 0


def test_rows_without_a_generation_are_no_gap_and_no_restart():
    full = {"reward": 1.0, "reward_std": 0.5, "completions/mean_length": 9.0}
    run = one([{"step": s, "loss": 0.1, **(full if s % 2 else {})} for s in range(1, 9)])
    assert len(run) == 8
    assert run["reward"].steps.tolist() == [1, 3, 5, 7]
    assert run["reward"].at.tolist() == [0, 2, 4, 6]


def test_an_evaluation_that_arrives_late_is_merged_into_its_step():
    run = one([grpo(1), grpo(2), grpo(3), {"step": 1, "eval_reward": 0.5}, {"step": 2, "eval_reward": 0.6}, grpo(4)])
    assert run["eval/reward"].steps.tolist() == [1, 2]
    assert run["reward"].values.tolist() == [1, 2, 3, 4]
    assert run.resumes == ()


def test_evaluations_that_arrive_out_of_order_are_no_restart():
    run = one([*(grpo(s) for s in range(1, 7)), {"step": 6, "eval_reward": 0.6}, {"step": 3, "eval_reward": 0.3}])
    assert run["eval/reward"].steps.tolist() == [3, 6]
    assert run["eval/reward"].values.tolist() == [0.3, 0.6]
    assert len(run) == 6


def test_newest_row_of_a_step_wins_and_the_older_are_counted():
    run = one([grpo(1), grpo(2), grpo(2, reward=9.0), grpo(3)])
    assert run["reward"].values.tolist() == [1, 9, 3]
    assert run.repeated == 1


def test_a_prefix_counts_only_the_repeated_rows_it_holds():
    run = one([grpo(1), grpo(2), grpo(2), grpo(3), grpo(4), grpo(4), grpo(4), grpo(5)])
    assert [run.until(step).repeated for step in (0, 1, 2, 3, 4, 5)] == [0, 0, 1, 1, 3, 3]


def test_resume_replaces_everything_logged_after_the_step_it_went_back_to():
    rows = [grpo(s) for s in range(1, 7)] + [grpo(s, reward=10.0 + s) for s in (4, 5)]
    run = one(rows)
    assert run.steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert run["reward"].steps.tolist() == [1, 2, 3, 4, 5]
    assert run["reward"].values.tolist() == [1, 2, 3, 14, 15]
    assert run.resumes == (3,)
    assert run.repeated == 3


def test_steps_that_fall_back_to_the_beginning_are_another_run():
    runs = canonical(log_of([grpo(s) for s in (1, 2, 3, 1, 2)]))
    assert [r.steps.tolist() for r in runs] == [[1, 2, 3], [1, 2]]
    assert [r.name for r in runs] == ["log (run 1 of 2)", "log (run 2 of 2)"]
    assert all(r.repeated == 0 for r in runs)


def test_null_is_nan_in_trl_and_absent_in_a_hand_written_log():
    rows = [grpo(1, kl=0.1), grpo(2, kl=None), grpo(3, kl=NAN)]
    assert [math.isnan(v) for v in one(rows)["kl"].values] == [False, True, True]
    written = [{"step": s, "mean_reward": 1.0, "kl": k} for s, k in ((1, 0.1), (2, None), (3, NAN))]
    kl = one(written)["kl"]
    assert kl.steps.tolist() == [1, 3]
    assert math.isnan(kl.values[1])


def test_nulls_of_a_joined_table_are_holes_even_in_trl():
    empty = dict.fromkeys(("loss", "learning_rate", "reward", "reward_std", "completions/mean_length"))
    rows = [grpo(1, learning_rate=1e-6, eval_reward=None), {"step": 1, **empty, "eval_reward": 0.5}]
    run = one([*rows, grpo(2, learning_rate=1e-6, eval_reward=None)])
    assert run["reward"].values.tolist() == [1, 2]
    assert run["eval/reward"].values.tolist() == [0.5]


def test_column_that_is_null_in_every_row_is_named_where_null_means_absent():
    rows = [{"step": s, "mean_reward": 1.0, "kl": None} for s in (1, 2)]
    run = one(rows)
    assert "kl" not in run
    assert "null in every row: kl." in run.notes
    assert np.isnan(one([grpo(s, kl=None) for s in (1, 2)])["kl"].values).all()


def test_names_nobody_knows_are_kept_with_their_values():
    run = one([grpo(1, mystery=4.0), grpo(2), grpo(3, mystery=6.0)])
    assert run.unknown["mystery"].values.tolist() == [4, 6]
    assert run.unknown["mystery"].at.tolist() == [0, 2]


def test_better_fitting_name_gives_the_signal_and_the_other_is_kept_aside():
    run = one([grpo(s, completion_length=8.0, kl=0.0) for s in (1, 2)], speaks="unsloth")
    assert run["completions/mean_length"].metric == "completions/mean_length"
    assert run["completions/mean_length"].fit is Fit.EXACT
    assert run.spare["completion_length"].values.tolist() == [8, 8]


def test_values_are_converted_to_the_signals_sign_and_unit():
    run = one([{"step": s, "actor/policykl": -0.01, "actor/ppo_ratio_clipfrac": 0.1} for s in (1, 2)], speaks="roll")
    assert run["policy/kl_k1_avg"].values.tolist() == [0.01, 0.01]
    squared = one([{"step": 1, "policy/sqrt_kl": 3.0}], speaks="trlx")["objective/kl"]
    assert (squared.values.tolist(), squared.unit) == ([9.0], Unit.NATS_PER_SEQUENCE)


def test_estimator_of_a_proxy_is_unknown_unless_the_table_says_it():
    assert one([{"step": 1, "entropy": 0.5, "reward": 1.0}])["entropy"].estimator is None
    assert one([grpo(1, kl=0.1)])["kl"].estimator is Estimator.K3


def test_evaluation_that_logs_a_row_for_each_sample_is_averaged():
    rows = [{"step": s, "mean_reward": 0.1} for s in (1, 2)]
    rows += [{"step": 2, "eval_solved": v} for v in (1.0, 0.0, 0.0, 1.0)]
    run = one(rows)
    assert run["eval/solved"].values.tolist() == [0.5]
    assert run.repeated == 0
    assert any("eval_solved" in note for note in run.notes)


def test_a_log_of_one_row_is_a_run_and_a_log_of_none_is_not():
    assert one([grpo(7)]).steps.tolist() == [7]
    assert canonical(log_of([])) == []


def test_configuration_and_never_logged_concepts_come_along():
    run = canonical(log_of([grpo(1)], config={"beta": 0.04}))[0]
    assert run.config == {"beta": 0.04}
    assert "value_loss" in run.never
    odd = canonical(log_of([grpo(1, ratio=1.0)], config={}), speaks="trl-grpo")[0]
    assert "ratio" in odd.never
    assert "ratio" in odd.unknown


def test_a_score_beside_the_evaluated_reward_is_a_score_of_its_own_with_its_standard_error():
    evaluated = {"eval_reward": 0.2, "eval_score": 0.6, "eval_score_stderr": 0.03}
    run = one([grpo(s, **evaluated) for s in (1, 2)])
    assert run["eval/reward"].metric == "eval_reward"
    assert run["eval/score"].metric == "eval_score"
    assert run["eval/score/standard_error"].values.tolist() == [0.03, 0.03]
    assert not run.spare
