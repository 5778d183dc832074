"""Made runs: reproducible, coherent, equal to their healthy twin until the fault begins, and labelled truly."""

import json
import math
from itertools import pairwise

import pytest

from holter.detectors.registry import all_detectors
from holter.errors import UnknownNameError
from holter.runs.load import load
from holter.simulation.conditions import FAMILIES
from holter.simulation.course import Course
from holter.simulation.faults import FAULTS
from holter.simulation.run import simulate

PLANTED = [(a, f) for f, known in FAULTS.items() for a in known.algorithms]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("algorithm", ["grpo", "ppo"])
def test_the_same_arguments_give_the_same_run_and_another_seed_another(algorithm, family):
    one, again, other = (simulate(algorithm, family=family, rows=40, seed=s) for s in (1, 1, 2))
    assert repr(one) == repr(again)
    assert one.rows != other.rows


@pytest.mark.parametrize(("algorithm", "fault"), [(a, f) for a, f in PLANTED if not FAULTS[f].from_start])
def test_a_sick_run_is_its_healthy_twin_until_the_fault_begins(algorithm, fault):
    # A family that meets what some faults ask for: everything is logged, and a coefficient follows a target.
    sick = simulate(algorithm, fault, family="instrumented", onset=21, rows=60, seed=3)
    twin = simulate(algorithm, family="instrumented", rows=60, seed=3)
    assert [r for r in sick.rows if r["step"] < 21] == [r for r in twin.rows if r["step"] < 21]
    assert repr([r for r in sick.rows if r["step"] >= 21]) != repr([r for r in twin.rows if r["step"] >= 21])


@pytest.mark.parametrize(("algorithm", "fault"), PLANTED)
def test_faults_are_named_by_detectors_that_exist(algorithm, fault):
    made = simulate(algorithm, fault, rows=30)
    assert made.meta["fault"] == fault
    assert set(made.meta["named_by"]) <= set(all_detectors())
    assert 1 <= made.meta["onset"] <= 30


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_metrics_of_a_row_keep_to_their_definitions(family, seed):
    for row in simulate("ppo", family=family, rows=30, seed=seed).rows:
        if "objective/kl" in row:
            total = row["objective/scores"] + row["objective/non_score_reward"]
            slack = 1e-9 if family != "smoothed" else 1e-6
            assert row["objective/rlhf_reward"] == pytest.approx(total, abs=slack)
            assert 0 <= row["policy/clipfrac_avg"] <= 1
            assert row["loss/value_avg"] >= 0
    for row in simulate("grpo", family=family, rows=30, seed=seed).rows:
        if "clip_ratio/region_mean" in row:
            both = row["clip_ratio/low_mean"] + row["clip_ratio/high_mean"]
            assert row["clip_ratio/region_mean"] == pytest.approx(both, abs=1e-12)
        if "reward" in row:
            parts = row["rewards/accuracy/mean"] + 0.2 * row["rewards/format/mean"]
            assert row["reward"] == pytest.approx(parts, abs=1e-9)
            assert 0 <= row["completions/clipped_ratio"] <= 1
            lengths = [row[f"completions/{k}_length"] for k in ("min", "mean", "max")]
            assert lengths == sorted(lengths)


def test_no_kl_family_logs_no_kl_and_others_begin_at_zero():
    assert not any("kl" in row for row in simulate("grpo", family="no-kl", rows=10).rows)
    assert simulate("grpo", family="plain", rows=10).rows[0]["kl"] == 0


def test_sparse_logs_hold_one_row_for_several_steps():
    steps = [row["step"] for row in simulate("grpo", family="sparse", rows=20, seed=1).rows]
    gaps = {b - a for a, b in pairwise(steps)}
    assert len(steps) == 20
    assert len(gaps) == 1
    assert gaps <= {5.0, 10.0}


def test_rows_between_generations_hold_no_reward():
    rows = simulate("grpo", family="off-policy", rows=12, seed=0).rows
    with_reward = [r["step"] for r in rows if "reward" in r]
    assert 0 < len(with_reward) < len(rows)
    assert all("loss" in r for r in rows)


def test_resumed_runs_go_back_and_log_steps_again(tmp_path):
    made = simulate("grpo", family="resumed", rows=60, seed=4)
    steps = [row["step"] for row in made.rows]
    assert any(b <= a for a, b in pairwise(steps))
    (run,) = load([made.write(tmp_path)]).runs
    assert run.resumes
    assert len(run) == 60


def test_a_masked_nan_is_logged_as_a_zero_loss_a_null_and_a_nan():
    made = simulate("grpo", "masked-nan", onset=5, rows=10)
    after = made.rows[4:]
    assert all(r["loss"] == 0 and r["kl"] is None and math.isnan(r["grad_norm"]) for r in after)


def test_frozen_runs_never_leave_the_reference():
    assert all(row["kl"] == 0 and row["learning_rate"] == 0 for row in simulate("grpo", "frozen", rows=10).rows)


def test_a_run_is_written_with_its_label_and_read_back(tmp_path):
    made = simulate("ppo", "kl-explosion", onset=12, rows=30, seed=5)
    log = made.write(tmp_path / "made")
    meta = json.loads((tmp_path / "made" / "meta.json").read_text())
    assert meta["fault"] == "kl-explosion"
    assert meta["onset"] == 12
    (run,) = load([log]).runs
    assert run.dialect.startswith("trl-ppo")
    assert run.get("ref_kl").values.tolist() == [row["objective/kl"] for row in made.rows]


def test_a_jump_is_there_at_once_and_a_ramp_takes_its_time():
    jump, ramp = Course.of(10, 4, 0), Course.of(10, 4, 4)
    assert jump.weight.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    assert ramp.weight.tolist() == [0, 0, 0, 0, 0.25, 0.5, 0.75, 1, 1, 1]
    assert jump.doubling(2, 2).tolist() == [1, 1, 1, 1, 1, 2**0.5, 2, 2**1.5, 4, 4]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("dpo",), "Unknown algorithm 'dpo'"),
        (("grpo", "kl-explosoin"), "Did you mean kl-explosion"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(arguments, says):
    with pytest.raises(UnknownNameError, match=says):
        simulate(*arguments)


def test_a_fault_of_another_algorithm_and_an_onset_outside_the_run_are_refused():
    with pytest.raises(ValueError, match="value-divergence cannot happen in grpo; it can in ppo"):
        simulate("grpo", "value-divergence")
    with pytest.raises(ValueError, match="onset 50 is outside the run of 20 steps"):
        simulate("grpo", "nan", onset=50, rows=20)


def test_two_writers_log_every_other_step_twice():
    steps = [row["step"] for row in simulate("ppo", "two-writers", rows=8).rows]
    assert steps == [1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8]


def test_an_instrumented_run_logs_what_trl_does_not():
    made = simulate("grpo", family="instrumented", rows=30, seed=2)
    row = made.rows[0]
    assert row["reward/nan_fraction"] == 0
    assert 0 < row["sampling/sampling_logp_difference/mean"] < 0.02
    group = made.meta["config"]["num_generations"]
    assert row["advantages/abs_max"] <= (group - 1) / math.sqrt(group)


def test_an_adaptive_coefficient_climbs_while_the_kl_stays_above_its_target():
    made = simulate("ppo", "controller-saturated", rows=120, onset=20, seed=1)
    training = [row for row in made.rows if "objective/kl" in row]
    assert training[-1]["objective/kl_coef"] > 3 * training[25]["objective/kl_coef"]
    assert training[-1]["objective/kl"] > 2 * made.meta["config"]["kl_target"]


@pytest.mark.parametrize("algorithm", ["ppo", "grpo"])
def test_a_drift_is_planted_only_where_it_is_far(algorithm):
    for seed in range(4):
        made = simulate(algorithm, "kl-drift", rows=60, onset=20, ramp=0, seed=seed)
        late = [row["objective/kl" if algorithm == "ppo" else "kl"] for row in made.rows[30:]]
        assert min(late) > (20 if algorithm == "ppo" else 0.15)
