"""Names that people choose themselves, in English and Chinese."""

from __future__ import annotations

import pytest

from holter.dialects.base import Fit
from holter.dialects.names import bracketed, plain, spoken_snake
from holter.dialects.registry import dialect, is_ignored, meaning

WORDS = [
    ("步骤", "step"),
    ("step", "step"),
    ("训练步数", "step"),
    ("平均奖励", "reward"),
    ("mean reward", "reward"),
    ("Mean Reward", "reward"),
    ("奖励", "reward"),
    ("KL散度", "kl"),
    ("KL 散度", "kl"),
    ("ＫＬ散度（nats）", "kl"),
    ("KL", "kl"),
    ("KL Divergence", "kl"),
    ("KL (nats)", "kl"),
    ("kl_ref", "kl"),
    ("KLDivergence", "kl"),
    ("sequence_kl", "objective/kl"),
    ("kl_per_token", "kl"),
    ("approx_kl", "policy/approxkl_avg"),
    ("策略损失", "loss/policy_avg"),
    ("policy loss", "loss/policy_avg"),
    ("Policy Loss", "loss/policy_avg"),
    ("价值损失", "loss/value_avg"),
    ("value loss", "loss/value_avg"),
    ("价值 损失", "loss/value_avg"),
    ("评估分数", "eval/reward"),
    ("eval score", "eval/reward"),
    ("Eval Score", "eval/reward"),
    ("评估奖励", "eval/reward"),
    ("held-out reward", "eval/reward"),
    ("验证准确率", "eval/accuracy"),
    ("val_accuracy", "eval/accuracy"),
    ("test_perplexity", "eval/perplexity"),
    ("困惑度", "perplexity"),
    ("熵", "entropy"),
    ("学习率", "lr"),
    ("Learning Rate", "lr"),
    ("长度", "completions/mean_length"),
    ("回复长度", "completions/mean_length"),
    ("平均回复长度", "completions/mean_length"),
    ("AvgResponseLen", "completions/mean_length"),
    ("梯度范数", "grad_norm"),
    ("Grad Norm", "grad_norm"),
    ("裁剪比例", "policy/clipfrac_avg"),
    ("截断比例", "completions/clipped_ratio"),
    ("Truncation Rate (%)", "completions/clipped_ratio"),
    ("可解释方差", "explained_variance"),
    ("平均 Reward", "reward"),
    ("平均 KL", "kl"),
    ("AvgLen", "completions/mean_length"),
    ("len_mean", "completions/mean_length"),
    ("len_max", "completions/max_length"),
    ("resp_len", "completions/mean_length"),
    ("response_clip_ratio", "completions/clipped_ratio"),
    ("completion truncation rate", "completions/clipped_ratio"),
    ("clip_ratio", "policy/clipfrac_avg"),
    ("GrpStd", "reward_group_std"),
    ("in_group_std", "reward_group_std"),
    ("Expl Variance", "explained_variance"),
    ("β", "objective/kl_coef"),
    ("gold_reward", "rewards/gold/mean"),
    ("rewards/format", "rewards/format/mean"),
    ("val/ratio", "val/ratio"),
    ("eval_gold_score", "eval/gold_score"),
    ("eval_rewards/gold/mean", "eval/rewards/gold/mean"),
    ("eval_loss", "eval/loss"),
    ("eval/helpful_win_rate", "eval/helpful_win_rate"),
    ("对齐分数", "eval/alignment"),
]


@pytest.mark.parametrize(("raw", "key"), WORDS)
def test_word_is_understood(raw, key):
    found = meaning(dialect("generic"), raw)
    assert found is not None
    assert found.full_key == key


@pytest.mark.parametrize(
    "raw",
    ["entropy_loss", "rollout_count", "secret_word", "memory_gb", "kl_penalty", "奖励方差", "reward_variance", "notes"],
)
def test_ambiguous_or_strange_word_is_not_guessed(raw):
    assert meaning(dialect("generic"), raw) is None


@pytest.mark.parametrize("name", ["trl-grpo", "trl-ppo", "verl", "generic"])
@pytest.mark.parametrize(
    "raw",
    ["eval_runtime", "eval_samples_per_second", "eval_steps_per_second", "eval_loss", "eval_num_tokens", "eval/epoch"],
)
def test_what_times_or_counts_an_evaluation_is_no_score(name, raw):
    found = meaning(dialect(name), raw)
    assert found is None or found.full_key in ("eval/time", "eval/loss", "eval/num_tokens", "eval/epoch")


def test_an_unknown_evaluation_metric_is_a_score_in_every_dialect():
    for name in ("trl-grpo", "verl", "openrlhf", "generic"):
        found = meaning(dialect(name), "eval_helpfulness_judge")
        assert found is not None
        assert found.full_key == "eval/helpfulness_judge"


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ("mismatch_kl", "sampling/kl"),
        ("share of zero-variance groups", "frac_reward_zero_std"),
        ("fraction of groups with zero reward std", "frac_reward_zero_std"),
        ("zero_var_groups_frac", "frac_reward_zero_std"),
        ("gsm8k_test_accuracy", "eval/gsm8k"),
        ("sampling/sampling_logp_difference/mean", "sampling/sampling_logp_difference/mean"),
    ],
)
def test_what_people_call_rollouts_that_do_not_match_groups_that_agree_and_a_test(raw, key):
    found = meaning(dialect("generic"), raw)
    assert found is not None
    assert found.key == key


def test_a_hand_written_log_borrows_long_names_that_all_frameworks_mean_alike():
    theirs = meaning(dialect("verl"), "training/rollout_probs_diff_mean")
    ours = meaning(dialect("generic"), "training/rollout_probs_diff_mean")
    assert theirs is not None
    assert ours is not None
    assert (ours.key, ours.name.fit) == (theirs.key, Fit.CLOSE)
    assert meaning(dialect("generic"), "training/rollout_probs_spread_mean") is None


def test_step_columns_are_known_but_carry_no_signal():
    assert is_ignored(dialect("generic"), "_step")
    assert is_ignored(dialect("trl-grpo"), "train/global_step")
    assert is_ignored(dialect("verl"), "loss__MAX")


def test_names_are_brought_back_from_what_exports_made_of_them():
    assert plain("sweet-sun-7 - train/reward") == "train/reward"
    assert plain("rewards / check_answer / mean") == "rewards/check_answer/mean"
    assert spoken_snake("KL (nats)") == "kl"
    assert spoken_snake("AvgResponseLen") == "avg_response_len"
    assert spoken_snake("(nats)") == "nats"
    assert bracketed("KL（nats/token）") == "nats/token"
    assert bracketed("KL") == ""
