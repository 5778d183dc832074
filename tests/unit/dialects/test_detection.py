"""Which framework wrote a log, told from its names alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from holter.dialects.registry import all_dialects, detect, dialect, lineage, meaning, never
from holter.readers.base import Source
from holter.readers.registry import read

PUBLIC = Path(__file__).parents[4] / "shared/runs/public"
SIGNED = [d for d in all_dialects().values() if d.signatures]
FRAMEWORKS = (
    ("TRL via Unsloth", {"unsloth", "trl-grpo"}),
    ("TRL (0.4", {"trl-ppo-classic"}),
    ("TRL", {"trl-grpo", "trl-rloo", "trl-ppo", "hf-trainer"}),
    ("verl", {"verl"}),
    ("Tinker", {"tinker-cookbook"}),
    ("DeepSpeed-Chat", {"deepspeed-chat"}),
    ("ROLL", {"roll"}),
)
OWN_NAMES = {"countdown-grpo-trl", "fair-rlvr-990", "fair-rlvr-wandb"}
"""Logs of TRL runs that a callback of the author's wrote under names of the author's: nothing of TRL is left to see."""


@pytest.mark.parametrize("spoken", SIGNED, ids=lambda d: d.name)
def test_run_names_of_a_tracker_export_do_not_hide_the_framework(spoken):
    assert detect([f"sweet-sun-7 - {raw}" for raw in spoken.row]) is spoken


@pytest.mark.parametrize("spoken", SIGNED, ids=lambda d: d.name)
def test_prefix_train_does_not_hide_the_framework(spoken):
    found = detect([raw if "/" in raw else f"train/{raw}" for raw in spoken.row])
    assert found is spoken or found in list(lineage(spoken))


@pytest.mark.parametrize(
    "spoken",
    [d for d in SIGNED if d.name not in ("axolotl", "ms-swift", "hf-trainer")],
    ids=lambda d: d.name,
)
def test_flattened_separators_do_not_hide_the_framework(spoken):
    found = detect([re.sub(r"[^0-9A-Za-z]+", "_", raw) for raw in spoken.row])
    assert found is spoken or found in list(lineage(spoken))


@pytest.mark.parametrize(
    "names",
    [
        ["step", "loss", "reward", "kl", "clip_fraction", "learning_rate"],
        ["iteration", "mean_reward", "kl_div", "policy_loss", "value_loss", "entropy"],
        ["step", "reward", "loss", "learning_rate", "epoch"],
        ["步骤", "平均奖励", "KL散度", "策略损失", "价值损失", "评估分数"],
        ["episode/reward", "kl", "loss", "entropy"],
        [],
    ],
)
def test_hand_written_names_are_generic_even_where_one_looks_like_a_framework(names):
    assert detect(names).name == "generic"


def test_training_without_a_reward_is_the_base_trainer():
    assert detect(["loss", "grad_norm", "learning_rate", "epoch", "step"]).name == "hf-trainer"


def test_rloo_is_told_from_grpo_by_its_profiling():
    row = dialect("trl-grpo").row
    assert detect(row).name == "trl-grpo"
    assert detect([*row, "profiling/Time taken: RLOOTrainer._generate"]).name == "trl-rloo"


def test_custom_metrics_of_a_user_do_not_hide_the_framework():
    row = [*dialect("verl").row, *(f"mine/{i}" for i in range(40))]
    assert detect(row).name == "verl"
    flat = [re.sub(r"\W+", "_", raw) for raw in row]
    assert detect(flat).name == "verl"


def test_what_the_format_says_decides_where_the_names_tell_nothing():
    names = ["step", "actor/lr", "critic/mine", "loss_of_mine"]
    assert detect(names).name == "generic"
    assert detect(names, ("verl", "ragen", "rllm")).name == "verl"


def test_names_that_tell_are_believed_before_the_format():
    assert detect(dialect("rllm").row, ("verl", "ragen", "rllm")).name == "rllm"
    assert detect(dialect("trl-ppo").row, ("verl", "ragen", "rllm")).name == "trl-ppo"


def test_a_form_that_unrelated_frameworks_print_tells_of_none_of_them():
    assert detect(["step", "actor/lr"], ("verl", "openrlhf")).name == "generic"
    assert detect(["step", "actor/lr"], ("no-such-framework",)).name == "generic"


def test_a_hand_written_log_in_a_frameworks_form_stays_generic_where_that_knows_fewer_names():
    assert detect(["step", "mean_reward", "kl_div", "policy_loss"], ("verl",)).name == "generic"


def test_an_heir_does_not_deny_what_it_adds_to_its_parent():
    assert "reward_spread" in never(dialect("verl"))
    assert "reward_spread" not in never(dialect("rllm"))
    assert "ratio" in never(dialect("rllm"))


def test_a_frameworks_own_evaluation_entry_beats_the_prefix():
    found = meaning(dialect("trlx"), "reward/mean")
    assert found is not None
    assert found.full_key == "eval/reward"


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public logs are not here")
def test_public_logs_are_recognised():
    right, wrong = [], []
    for folder in sorted(PUBLIC.iterdir()):
        framework = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["framework"]
        expected = next((names for start, names in FRAMEWORKS if framework.startswith(start)), None)
        if expected is None or folder.name in OWN_NAMES:
            continue
        log = next(iter(read(Source.of(folder / "log.jsonl"))))
        (right if detect(log.columns).name in expected else wrong).append(folder.name)
    assert len(right) > 35
    assert len(right) >= 0.95 * (len(right) + len(wrong)), wrong
