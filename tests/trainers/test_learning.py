"""The trainer teaches what it is asked to, and a run that goes wrong is called by its name."""

import copy
import math
import sys
from pathlib import Path

import pytest
import tiny_world

from holter.findings.diagnosis import diagnose
from holter.findings.finding import Severity
from holter.runs.load import load
from holter.settings import find_settings

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import grpo as example

pytestmark = pytest.mark.slow


def findings(trainer):
    run = load([str(trainer.report.folder)]).runs[0]
    found = diagnose(run, find_settings(Path.cwd())).findings
    return {f.detector: f for f in found if f.severity >= Severity.WARNING}


def quality(trainer):
    return [r["eval_alignment/quality"] for r in trainer.state.log_history if "eval_alignment/quality" in r]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_quality_nobody_is_paid_for_rises_and_nothing_is_found_wrong(beside_others, seed):
    # After 40 steps the gain is as small as its threshold on some processors: rounding decides which stories are sampled.
    trainer = example.train(beside_others, steps=60, seed=seed)
    before = next(row for row in trainer.state.log_history if "eval_alignment/quality" in row)
    # More stories than the example looks at while it trains, so that luck has no say.
    after = trainer.evaluate([{"prompt": p} for p in tiny_world.prompts(256, seed=4)])
    gain = after["eval_alignment/quality"] - before["eval_alignment/quality"]
    errors = [row["eval_alignment/quality/standard_error"] for row in (before, after)]
    assert gain > max(0.1, 4 * math.hypot(*errors))
    assert set(findings(trainer)) == set()


def test_a_hackable_reward_is_hacked_and_the_diagnosis_says_so(tmp_path):
    trainer = example.train(tmp_path, hack=True, steps=40)
    assert quality(trainer)[-1] < quality(trainer)[0] / 2
    assert "reward-hacking" in findings(trainer)


@pytest.fixture
def faulty(grpo, trained):
    def run(rewards=(tiny_world.cheerfulness, tiny_world.grammar), **settings):
        trainer = grpo(
            rewards,
            **{
                "report_to": "holter",
                "per_device_train_batch_size": 32,
                "num_generations": 8,
                "max_completion_length": 40,
                "max_steps": 20,
                "beta": 0.04,
                **settings,
            },
        )
        trained(trainer)
        return findings(trainer)

    return run


def test_a_constant_reward_is_found(faulty):
    def constant(completions, **_):
        return [1.0] * len(completions)

    assert set(faulty([constant])) & {"zero-variance-groups", "reward-frozen"}


def test_a_limit_that_is_too_short_is_found(faulty):
    assert "truncation" in faulty(max_completion_length=4)


def test_a_learning_rate_thirty_times_too_high_is_found(faulty):
    assert "policy-divergence" in faulty(learning_rate=3e-2)


def test_nan_from_a_reward_is_found(faulty):
    def broken(completions, trainer_state, **_):
        scores = tiny_world.cheerfulness(completions)
        return [math.nan if trainer_state.global_step >= 12 and i % 3 == 0 else s for i, s in enumerate(scores)]

    found = faulty([broken, tiny_world.grammar])
    assert "unscored-rewards" in found
    assert found["unscored-rewards"].first_step == 13


def test_a_policy_that_never_learned_to_stop_is_found(faulty):
    assert set(faulty(model=tiny_world.policy(steps=100, ends=False))) & {"no-eos", "truncation"}


def test_a_wrong_end_token_is_found(faulty, policy, tokenizer):
    # A token of the vocabulary that nobody ever writes is taken for the end.
    policy.generation_config.eos_token_id = None
    wrong = copy.deepcopy(tokenizer)
    wrong.eos_token = "<unk>"
    assert set(faulty(model=policy, processing_class=wrong)) & {"no-eos", "truncation"}


def test_a_frozen_policy_is_found(faulty):
    assert set(faulty(learning_rate=0.0)) & {"policy-not-updating", "lr-zero", "no-learning"}


def test_a_reference_with_other_weights_is_found(grpo, trained, taught):
    trainer = grpo(
        (tiny_world.cheerfulness, tiny_world.grammar), report_to="holter", beta=0.04, max_steps=12, learning_rate=1e-4
    )
    trainer.reference.load_state_dict(tiny_world.policy(seed=7, steps=20).state_dict())
    trained(trainer)
    assert "kl-nonzero-at-start" in findings(trainer)
