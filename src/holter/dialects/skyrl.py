"""SkyRL by NovaSky.

Its worst trap: ``loss/avg_raw_rewards`` of older versions holds the reward *after* the KL penalty.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

SKYRL = Dialect(
    name="skyrl",
    title="SkyRL",
    spoken_by="SkyRL main, 2026-08",
    step=("trainer/global_step", "step"),
    axis="rollout batch (trainer/global_step)",
    priority=90,
    signatures=(
        Signature(
            any=(
                "reward/avg_raw_reward",
                "loss/avg_(final|raw)_rewards",
                "generate/avg_num_tokens",
                "policy/policy_entropy",
            )
        ),
    ),
    row=(
        "trainer/global_step",
        "reward/avg_raw_reward",
        "reward/avg_pass_at_8",
        "loss/avg_final_rewards",
        "policy/policy_loss",
        "policy/policy_entropy",
        "policy/grad_norm",
        "generate/avg_num_tokens",
        "timing/step",
    ),
    names=(
        Name("trainer/global_step", "step"),
        Name("trainer/epoch", "epoch"),
        Name("reward/avg_raw_reward", "reward"),
        Name(
            r"reward/avg_pass_at_(?P<k>\d+)",
            "groups/none_solved",
            pattern=True,
            scale=-1.0,
            offset=1.0,
            note="1 - pass@n on training groups.",
        ),
        Name("reward/num_zero_variance_filtered", "filter/dropped"),
        Name("loss/avg_final_rewards", "objective/rlhf_reward", note="After a KL penalty in the reward."),
        Name(
            "loss/avg_raw_rewards",
            "objective/rlhf_reward",
            until="2025-10",
            note="The old name says raw, but the KL part is in.",
        ),
        Name("loss/avg_raw_advantages", "advantages/mean"),
        Name("loss/avg_raw_advantages_abs", "advantages/abs_mean"),
        Name("loss/avg_kl", "kl", reduction=Reduction.TOKEN, fit=Fit.CLOSE, note="KL in the reward."),
        Name("loss/kl_loss_coef", "objective/kl_coef"),
        Name(
            "policy/policy_loss",
            "loss/policy_avg",
            reduction=Reduction.SUM,
            fit=Fit.CLOSE,
            note="Advantages are scaled beforehand so that the sum over micro-batches is the mean.",
        ),
        Name("policy/final_loss", "loss"),
        Name("policy/policy_entropy", "entropy", estimator=Estimator.EXACT),
        Name("policy/policy_kl", "kl", estimator=Estimator.K3, fit=Fit.CLOSE, note="Only with use_kl_loss."),
        Name("policy/policy_lr", "lr"),
        Name("policy/grad_norm", "grad_norm"),
        Name("policy/raw_grad_norm", "grad_norm", note="Older versions."),
        Name(
            "policy/loss_metrics/clip_ratio",
            "policy/clipfrac_avg",
            note="With CISPO the share of tokens at the weight cap.",
        ),
        Name("policy/ppo_clip_ratio", "policy/clipfrac_avg", note="Older versions."),
        Name(
            "policy/(rollout_train|minibatch_rollout)_logprobs_abs_diff_mean",
            "sampling/sampling_logp_difference/mean",
            pattern=True,
        ),
        Name(
            "policy/(rollout_train|minibatch_rollout)_logprobs_abs_diff_max",
            "sampling/sampling_logp_difference/max",
            pattern=True,
        ),
        Name(
            "policy/(rollout_train|minibatch_rollout)_logprobs_abs_diff_std",
            "sampling/logp_difference/std",
            pattern=True,
        ),
        Name("critic/critic_loss", "loss/value_avg"),
        Name("critic/values_mean", "value/mean"),
        Name("critic/values_clipfrac", "val/clipfrac_avg"),
        Name("critic/critic_lr", "critic/lr"),
        Name("critic/grad_norm", "critic/grad_norm"),
        Name("generate/avg_num_tokens", "completions/mean_length"),
        Name("generate/min_num_tokens", "completions/min_length"),
        Name("generate/max_num_tokens", "completions/max_length"),
        Name("generate/std_num_tokens", "completions/std_length"),
        Name("generate/avg_tokens_non_zero_rewards", "completions/correct_mean_length", fit=Fit.CLOSE),
        Name("generate/avg_tokens_zero_rewards", "completions/incorrect_mean_length", fit=Fit.CLOSE),
        Name("async/staleness_mean", "staleness/mean"),
        Name("async/staleness_max", "staleness/max"),
        Name("async/staleness_min", "staleness/min"),
        Name("async/num_groups_dropped", "staleness/dropped", fit=Fit.CLOSE),
        Name("async/gen_buffer_qsize_at_wait_start", "staleness/queue_size"),
        Name("timing/step", "step_time"),
        Name("timing/generate", "time/rollout"),
        Name("timing/policy_train", "time/train"),
        Name("timing/train_critic_and_policy", "time/train", fit=Fit.CLOSE),
        Name("timing/sync_weights", "time/weight_sync"),
        Name("timing/eval", "eval/time"),
        Name("trainer/tokens_per_second_per_gpu", "throughput/tokens_per_s_per_gpu"),
        Name("eval/all/avg_score", "eval/reward"),
        Name("eval/(?P<name>(?!all/).+)/avg_score", "eval/{name}", pattern=True),
        Name(r"eval/(?P<name>.+)/pass_at_(?P<k>\d+)", "eval/{name}/pass_at_{k}", pattern=True),
    ),
    ignored=(
        "policy/response_length",
        "loss/avg_kl_max",
        "reward/mean_positive_reward",
        "generate/.*",
        "timing/.*",
        "environment/.*",
        "async/.*",
        "eval/.*/mean_positive_reward",
        "policy/.*_abs_diff_min",
        "policy/loss_metrics/.*",
    ),
    never=("reward_spread", "zero_std_groups", "explained_variance", "truncation"),
    note=(
        "policy/response_length is the padded width and not a length; it is left aside. Only a count of the groups "
        "filtered for zero variance is logged. policy_loss is a sum over micro-batches of advantages scaled "
        "beforehand, which amounts to the mean."
    ),
    sources=("NovaSky-AI/SkyRL",),
)
