"""What looks like a fault and is none, or is another: solved tasks, single rows, changes of the data, parts that fall."""

import numpy as np
import pytest

from holter.detectors.evaluation.eval_declines import EvalDeclines
from holter.detectors.reward.component_conflict import ComponentConflict
from holter.detectors.reward.reward_collapse import RewardCollapse
from holter.detectors.statistics.noise import LONG, noise
from holter.findings.diagnosis import diagnose
from holter.findings.finding import Severity
from holter.runs.build import run_of
from holter.testing.properties import said

ROWS = 60
TIED = {
    "reward_std": np.zeros(ROWS),
    "frac_reward_zero_std": np.ones(ROWS),
    "grad_norm": np.zeros(ROWS),
}


def of(columns):
    return run_of(range(1, len(next(iter(columns.values()))) + 1), {k: list(v) for k, v in columns.items()})


def warnings(cls, run):
    return [f for f in said(cls, run) if f.severity >= Severity.WARNING]


def by_detector(columns):
    return {f.detector: f for f in diagnose(of(columns)).findings}


def test_a_task_that_was_solved_before_training_is_no_alarm():
    columns = {
        "reward": np.full(ROWS, 2.0),
        "rewards/accuracy/mean": np.ones(ROWS),
        "rewards/format/mean": np.ones(ROWS),
    }
    found = by_detector(columns | TIED)
    assert {f.severity for f in found.values()} == {Severity.INFO}
    assert "solved from the first row on, there is nothing left to learn" in found["zero-variance-groups"].title
    assert "the task was solved" in found["gradient-zero"].title
    assert "the task was solved" in found["reward-frozen"].title


def test_a_constant_reward_of_one_is_a_warning_that_says_what_the_log_cannot_tell():
    found = by_detector({"reward": np.ones(ROWS)} | TIED)
    assert found["zero-variance-groups"].severity is Severity.WARNING
    assert "either the task is solved or the reward function returns a constant" in found["zero-variance-groups"].title
    assert found["gradient-zero"].severity is Severity.WARNING


def test_a_constant_reward_that_is_no_maximum_stays_critical():
    found = by_detector({"reward": np.full(ROWS, 0.37)} | TIED)
    assert found["zero-variance-groups"].severity is Severity.CRITICAL


def rising(rows, seed):
    return 0.2 + 0.5 * (1 - np.exp(-np.arange(rows) / 60)) + np.random.default_rng(seed).normal(size=rows) * 0.02


@pytest.mark.parametrize("seed", range(5))
def test_one_row_at_zero_is_never_a_collapse(seed):
    reward = rising(160, seed)
    reward[120] = 0.0
    for rows in range(118, 160, 3):
        assert not warnings(RewardCollapse, of({"reward": reward[:rows], "reward_std": np.full(rows, 0.4)}))


@pytest.mark.parametrize("seed", range(5))
def test_a_step_down_from_which_the_reward_learns_on_is_no_collapse_any_more(seed):
    rng = np.random.default_rng(seed)
    after = 0.25 + 0.4 * (1 - np.exp(-np.arange(60) / 60)) + rng.normal(size=60) * 0.02
    reward = np.concatenate((rising(120, seed), after))
    early, late = (of({"reward": reward[:n], "reward_std": np.full(n, 0.4)}) for n in (126, 180))
    (then,) = warnings(RewardCollapse, early)
    assert not warnings(RewardCollapse, late)
    assert then.first_step in {f.first_step for f in said(RewardCollapse, late)}, (
        "it is told afterwards, as information"
    )


def test_a_step_down_that_stays_down_is_a_collapse():
    reward = np.concatenate((rising(120, 0), 0.25 + np.random.default_rng(1).normal(size=60) * 0.02))
    assert warnings(RewardCollapse, of({"reward": reward, "reward_std": np.full(180, 0.4)}))


def test_a_watched_part_that_was_high_and_fell_did_not_stay_near_nothing():
    rng = np.random.default_rng(0)
    cheap = np.clip(0.1 + np.arange(80) / 50, 0, 0.98) + rng.uniform(0, 0.02, 80)
    fell = np.where(np.arange(80) < 12, 0.6, 0.0) + rng.uniform(0, 0.01, 80)
    low = rng.uniform(0, 0.01, 80)
    (stayed,) = said(ComponentConflict, of({"reward": cheap, "rewards/cheap/mean": cheap, "rewards/gold/mean": low}))
    assert "stays next to nothing" in stayed.title
    assert not said(ComponentConflict, of({"reward": cheap, "rewards/cheap/mean": cheap, "rewards/gold/mean": fell}))


def test_a_fall_that_a_pattern_showed_before_the_test_is_told_once():
    score = np.concatenate(([0.8, 0.82, 0.1], np.full(25, 0.02)))
    rows = len(score)
    reward = 1.0 + 0.01 * np.random.default_rng(0).normal(size=rows)
    run = of({"reward": reward, "eval/gold": score})
    found = [f for f in said(EvalDeclines, run) if f.severity >= Severity.WARNING]
    (one,) = found
    (then,) = said(EvalDeclines, run.until(one.raised_step))
    assert (then.first_step, then.severity >= Severity.WARNING) == (one.first_step, True)
    assert one.raised_step == 3


def test_noise_of_a_long_run_is_that_of_its_prefix():
    x = np.random.default_rng(0).normal(size=LONG + 5000)
    whole, part = noise(x), noise(x[: LONG + 777])
    assert np.array_equal(whole.sd[: LONG + 777], part.sd, equal_nan=True)
    assert abs(np.median(whole.sd[LONG:]) - 1) < 0.15
