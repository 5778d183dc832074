"""On a task small enough for a test PPO learns, and what is planted to go wrong is what `holter check` names."""

import copy
import json
import math

import pytest
import tiny_world
from click.testing import CliRunner

from holter.cli import holter

pytestmark = pytest.mark.slow

HONEST = [tiny_world.cheerfulness, tiny_world.grammar, tiny_world.quality]
RECIPE = {
    "per_device_train_batch_size": 32,
    "gradient_accumulation_steps": 1,
    "num_ppo_epochs": 4,
    "learning_rate": 3e-4,
    "kl_coef": 0.1,
    "missing_eos_penalty": 1.0,
    "response_length": 40,
    "reward_weights": [1.0, 1.0, 0.0],
    "report_to": "holter",
}


@pytest.fixture(scope="session")
def well_taught():
    """A policy that has been taught long enough to have something to lose; not to be changed."""
    return tiny_world.policy(steps=150)


@pytest.fixture
def checked(ppo, trained, well_taught, tmp_path, beside_others):
    """Trains and checks the run folder: severities of the findings by name, and the rows."""

    def check(rewards=HONEST, **settings):
        model = settings.pop("model", None) or copy.deepcopy(well_taught)
        trained(ppo(rewards, model=model, **{**RECIPE, **settings}))
        folder = tmp_path / "out" / "holter"
        printed = CliRunner().invoke(holter, ["check", "--format", "json", "--fail-on", "never", str(folder)])
        assert printed.exit_code == 0, printed.output
        (run,) = json.loads(printed.stdout)["runs"]
        lines = (folder / "metrics-0.jsonl").read_text(encoding="utf-8").splitlines()
        return {f["detector"]: f["severity"] for f in run["findings"]}, [json.loads(line) for line in lines]

    return check


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_healthy_run_learns_and_nothing_is_said_about_it(checked, seed):
    held_out = [{"prompt": p} for p in tiny_world.prompts(256, seed=9)]
    found, rows = checked(
        max_steps=40,
        seed=seed,
        model=tiny_world.policy(seed, steps=150),
        eval_dataset=held_out,
        eval_strategy="steps",
        eval_steps=40,
        per_device_eval_batch_size=128,
    )
    first, last = (row for row in rows if "eval/rewards/quality/mean" in row)
    gain = last["eval/rewards/quality/mean"] - first["eval/rewards/quality/mean"]
    errors = [row["eval/rewards/quality/mean/standard_error"] for row in (first, last)]
    assert gain > 0.1
    assert gain > 5 * math.hypot(*errors)
    assert not {name for name, severity in found.items() if severity in ("warning", "critical")}


def constant(completions, **_):
    return [1.0] * len(completions)


def unscored_later(prompts, completions, trainer_state, **_):
    scores = tiny_world.cheerfulness(completions)
    return [None if trainer_state.global_step >= 10 and i % 3 == 0 else s for i, s in enumerate(scores)]


FAULTS = {
    "learning rate x 30": (
        {"learning_rate": 30 * RECIPE["learning_rate"], "max_steps": 20},
        {"policy-divergence", "policy-update-too-large", "entropy-collapse"},
    ),
    "constant reward": (
        {"rewards": [constant, tiny_world.quality], "reward_weights": [1.0, 0.0], "max_steps": 20},
        {"reward-frozen", "zero-variance-groups"},
    ),
    "end token that never comes": ({"stop_token_id": tiny_world.BOS, "max_steps": 15}, {"truncation", "no-eos"}),
    # Up to a thousand times the policy's rate nothing comes of it here: the policy learns as well as without.
    "value learning rate x 10000": ({"value_learning_rate": 3.0, "max_steps": 20}, {"value-loss-diverges"}),
    "scores that are no number": (
        {"rewards": [unscored_later, tiny_world.quality], "reward_weights": [1.0, 0.0], "max_steps": 20},
        {"unscored-rewards", "reward-not-finite"},
    ),
    "frozen": ({"learning_rate": 0.0, "max_steps": 15}, {"lr-zero", "policy-not-updating"}),
    "no price on drift, and a reward to be hacked": (
        {
            "rewards": [tiny_world.happy_words, tiny_world.quality],
            "reward_weights": [3.0, 0.0],
            "kl_coef": 0.0,
            "learning_rate": 2e-3,
            "max_steps": 25,
        },
        {"reward-hacking"},
    ),
    "limit too short": ({"response_length": 5, "max_steps": 15}, {"truncation"}),
}
"""What is planted, and the detectors that may be the one to name it."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named(checked, fault):
    settings, names = FAULTS[fault]
    found, _ = checked(**settings)
    named = {name for name, severity in found.items() if severity in ("warning", "critical")}
    assert names & named, found


def test_a_reference_from_before_the_policy_was_taught_is_named(checked):
    found, _ = checked(max_steps=12, ref_model=tiny_world.policy(steps=20))
    assert found.get("kl-nonzero-at-start") in ("warning", "critical")
