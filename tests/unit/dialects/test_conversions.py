"""A number of the log becomes a number of the signal: key, sign, scale, labels."""

from __future__ import annotations

import numpy as np
import pytest

from holter.dialects.registry import dialect, meaning
from holter.readers.base import RawColumn, RawLog
from holter.runs.canonical import canonical

CONVERSIONS = [
    ("trlx", "policy/sqrt_kl", 3.0, "objective/kl", 9.0),
    ("trlx", "reward/mean", 0.5, "eval/reward", 0.5),
    ("roll", "actor/policykl", -0.01, "policy/kl_k1_avg", 0.01),
    ("areal", "ppo_actor/update/approx_kl/avg", -0.002, "policy/kl_k1_avg", 0.002),
    ("areal", "grpo_actor/update/update_successful", 1.0, "health/update_skipped", 0.0),
    ("areal", "ppo_critic/update/critic_loss/avg", 0.3, "loss/value_avg", 0.3),
    ("verl", "actor/ppo_kl", -8e-06, "policy/kl_k1_avg", -8e-06),
    ("verl", "val-core/openai/gsm8k/acc/mean@8", 0.6, "eval/openai/gsm8k/avg_at_8", 0.6),
    ("verl", "val-core/aime/acc/best@16/mean", 0.6, "eval/aime/pass_at_16", 0.6),
    ("verl", "critic_score_mean", 0.1, "reward", 0.1),
    ("slime", "train/value_loss", 1.0, "loss/value_avg", 0.5),
    ("slime", "train/critic-grad_norm", 1.0, "critic/grad_norm", 1.0),
    ("slime", "train/critic-value_loss", 1.0, "loss/value_avg", 0.5),
    ("slime", "eval/aime24-pass@8", 0.5, "eval/aime24/pass_at_8", 0.5),
    ("slime", "eval/aime24", 0.5, "eval/aime24", 0.5),
    ("slime", "eval/aime24-truncated_ratio", 0.5, "eval/completions/clipped_ratio", 0.5),
    ("sb3", "train/entropy_loss", -0.6, "entropy", 0.6),
    ("sb3", "train/value_loss", 2.0, "loss/value_avg", 1.0),
    ("rl4lms", "ppo/entropy_loss", -2.3, "entropy", 2.3),
    ("torchtune-grpo", "train_worker_training/policy_loss", 0.1, "loss/policy_avg", -0.1),
    ("torchtune-ppo", "kl", 5.0, "objective/kl", 5.0),
    ("prime-rl", "train/agg/effective/reward/mean", 0.5, "reward", 0.5),
    ("prime-rl", "train/math/all/solver/is_truncated/mean", 0.1, "completions/clipped_ratio", 0.1),
    ("prime-rl", "perf/mfu", 31.0, "perf/mfu", 0.31),
    ("openrlhf", "train/dynamic_filtering_pass_rate", 80.0, "filter/kept_ratio", 0.8),
    ("openrlhf", "eval/eval_math_pass1", 0.4, "eval/math/pass_at_1", 0.4),
    ("skyrl", "reward/avg_pass_at_8", 0.75, "groups/none_solved", 0.25),
    ("trl-grpo", "train/rewards/accuracy_reward/mean", 0.5, "rewards/accuracy_reward/mean", 0.5),
    ("trl-grpo", "rewards/accuracy_reward", 0.5, "rewards/accuracy_reward/mean", 0.5),
    ("trl-grpo", "eval_reward", 0.5, "eval/reward", 0.5),
    ("trl-grpo", "eval/completions/mean_length", 50.0, "eval/completions/mean_length", 50.0),
    ("trl-grpo", "completions / mean_length", 50.0, "completions/mean_length", 50.0),
    ("trl-async-grpo", "train/kl", 0.01, "policy/approxkl_avg", 0.01),
    ("colossalchat-ppo", "approx_kl", 0.1, "kl", 0.1),
    ("colossalchat-grpo", "approx_kl", -0.002, "kl", 0.002),
    ("ms-swift", "train_speed(iter/s)", 0.25, "step_time", 4.0),
    ("ms-swift", "train/entropy/mean", 0.3, "entropy", 0.3),
    ("llama-factory", "step", 4.0, "step", 5.0),
    ("nemo-rl", "train/critic/loss", 0.2, "loss/value_avg", 0.2),
    ("nemo-aligner", "train_rollouts/response_lengths", 900.0, "sequence/mean_length", 900.0),
    ("open-instruct", "objective/kl2_avg", 0.01, "kl", 0.01),
    ("art", "train/reward_std_dev", 0.2, "reward_group_std", 0.2),
    ("tinker-cookbook", "test/env/math/reward/total", 0.5, "eval/math", 0.5),
    ("rllm", "advantage/solver/fraction_zero", 0.3, "advantages/frac_zero", 0.3),
    ("lm-human-preferences", "ppo/ppo/policy/approxkl", 0.01, "policy/approxkl_avg", 0.01),
    ("generic", "步骤", 1000.0, "step", 1000.0),
    ("generic", "平均奖励", 0.5, "reward", 0.5),
    ("generic", "KL散度", 5.0, "kl", 5.0),
    ("generic", "策略损失", 0.1, "loss/policy_avg", 0.1),
    ("generic", "价值损失", 0.2, "loss/value_avg", 0.2),
    ("generic", "评估分数", 0.6, "eval/reward", 0.6),
    ("generic", "Mean Reward", 0.6, "reward", 0.6),
    ("generic", "kl_divergence", 0.6, "kl", 0.6),
    ("generic", "avg_gen_tokens", 500.0, "completions/mean_length", 500.0),
    ("generic", "eval_score", 0.7, "eval/reward", 0.7),
    ("generic", "val_accuracy", 0.7, "eval/accuracy", 0.7),
    ("torchforge", "grpo_loss/kl_divergence_mean", 0.02, "kl", 0.02),
    ("trl-grpo", "rewards / gold / mean", 0.5, "rewards/gold/mean", 0.5),
    ("trl-grpo", "eval_rewards/gold/mean", 0.5, "eval/rewards/gold/mean", 0.5),
    ("trl-grpo", "eval_runtime", 12.0, "eval/time", 12.0),
    ("trl-grpo", "Training Loss", 0.1, "loss", 0.1),
    ("trl-grpo", "run-7 - train/reward", 0.5, "reward", 0.5),
    ("open-instruct", "eval/pass_at_8", 0.5, "eval/all/pass_at_8", 0.5),
    ("slime", "passrate/pass@4", 0.5, "eval/train_rollouts/pass_at_4", 0.5),
]


@pytest.mark.parametrize(("name", "raw", "value", "key", "converted"), CONVERSIONS, ids=lambda v: str(v))
def test_name_and_number_are_converted(name, raw, value, key, converted):
    found = meaning(dialect(name), raw)
    assert found is not None
    assert found.full_key == key
    one = found.name
    assert one.offset + one.scale * value**one.power == pytest.approx(converted, abs=1e-9)


@pytest.mark.parametrize(("name", "raw", "value", "key", "converted"), CONVERSIONS, ids=lambda v: str(v))
def test_canonical_run_holds_the_converted_number(name, raw, value, key, converted):
    log = RawLog(
        name="log",
        reader="test",
        rows=1,
        columns={raw: RawColumn(np.array([0]), np.array([value]))},
    )
    run = canonical(log, speaks=name)[0]
    if key == "objective/kl" or key not in run.series:
        key = next(k for k, s in run.series.items() if s.metric == raw)
    assert run[key].values.tolist() == pytest.approx([converted], abs=1e-9)
    assert run[key].metric == raw
