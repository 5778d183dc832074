"""Reward hacking is said of independent evidence that fell beyond its own error, and of nothing else."""

import numpy as np
import pytest

from holter.detectors.evaluation.falls import stderr
from holter.detectors.evaluation.held_out import held_out
from holter.detectors.evaluation.reward_hacking import RewardHacking
from holter.findings.finding import Severity, Unchecked
from holter.runs.build import run_of
from holter.simulation.run import simulate
from holter.testing.drawn import run_from

ROWS = 120


def rising(rng):
    return 0.2 + 0.5 * np.arange(ROWS) / ROWS + 0.02 * rng.normal(size=ROWS)


def made(score, rng, every=10, config=None, **more):
    evaluated = [float(score[i]) if i % every == 0 else None for i in range(ROWS)]
    columns = {"reward": rising(rng), "reward_std": np.full(ROWS, 0.4), "eval/score": evaluated, **more}
    return run_of(range(1, ROWS + 1), columns, config=config)


def warned(run):
    return [f for f in RewardHacking().check(run) if not isinstance(f, Unchecked) and f.severity >= Severity.WARNING]


def test_a_reward_that_rises_over_a_noisy_flat_score_accuses_nobody():
    accused = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        accused += bool(warned(made(rng.binomial(200, 0.5, size=ROWS) / 200, rng, config={"eval_size": 200})))
    assert accused <= 2


def test_a_score_that_falls_beyond_its_error_while_the_reward_rises_accuses():
    named = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = np.where(np.arange(ROWS) < 50, 0.6, 0.35)
        named += bool(warned(made(rng.binomial(200, truth) / 200, rng, config={"eval_size": 200})))
    assert named >= 19


def test_the_paid_reward_on_held_out_prompts_is_no_evidence():
    rng = np.random.default_rng(0)
    proxy = np.where(np.arange(ROWS) < 50, 0.6, 0.2)
    columns = {"reward": rising(rng), "eval/reward": [float(v) for v in proxy]}
    (said,) = RewardHacking().check(run_of(range(1, ROWS + 1), columns))
    assert isinstance(said, Unchecked)
    assert "independent" in said.why


@pytest.mark.parametrize("algorithm", ["ppo", "grpo"])
def test_a_logged_standard_error_is_read_beside_its_score(algorithm):
    run = run_from(simulate(algorithm, family="evaluated", rows=60, seed=1))
    (score,) = held_out(run)
    assert score.metric == "eval_score"
    assert np.isfinite(stderr(run, score.finite())).all()
