"""OpenRLHF, PPO and REINFORCE variants on Ray.

Its worst trap: ``kl`` is exactly 0 when there is no reference model, and 0 means off, not perfect.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

OPENRLHF = Dialect(
    name="openrlhf",
    title="OpenRLHF",
    spoken_by="0.5 - 0.11 (main, 2026-08)",
    step=("global_step", "eval/global_step"),
    axis="rollout batch (global_step)",
    prefixes=("train/",),
    priority=180,
    signatures=(
        Signature(any=("vllm_kl", "ppo_clip_ratio", "rollout/reward_mean")),
        Signature(all=("policy_loss", "return|actor_lr", "total_length|actor_grad_norm")),
    ),
    row=(
        "train/policy_loss",
        "train/actor_lr",
        "train/reward",
        "train/return",
        "train/response_length",
        "train/kl",
        "train/ppo_clip_ratio",
        "train/ppo_kl",
        "train/vllm_kl",
        "train/actor_grad_norm",
    ),
    names=(
        Name("global_step", "step"),
        Name("reward", "reward", note="Raw reward of the reward model or agent; the KL part is in return only."),
        Name("rollout/reward_mean", "reward"),
        Name("rollout/reward_std", "reward_std", note="Standard deviation over the batch."),
        Name("group_reward_std", "reward_group_std"),
        Name(
            "score",
            "objective/scores",
            fit=Fit.CLOSE,
            note="Score for filtering between 0 and 1, when the agent returns one.",
        ),
        Name(
            "return",
            "returns/mean",
            reduction=Reduction.SEQUENCE,
            note="After KL penalty and baseline: near 0 by construction for rloo, group_norm and reinforce_baseline.",
        ),
        Name("policy_loss", "loss/policy_avg"),
        Name("actor_loss", "loss/policy_avg", fit=Fit.CLOSE, note="Of the progress bar."),
        Name("critic_loss", "loss/value_avg", note="Half the clipped squared error."),
        Name("values", "value/mean"),
        Name("actor_lr", "lr"),
        Name("critic_lr", "critic/lr"),
        Name("actor_grad_norm", "grad_norm"),
        Name("critic_grad_norm", "critic/grad_norm"),
        Name(
            "entropy_loss",
            "entropy",
            estimator=Estimator.EXACT,
            reduction=Reduction.TOKEN,
            note="The positive mean entropy in spite of the name.",
        ),
        Name(
            "kl",
            "kl",
            estimator=Estimator.K1,
            reduction=Reduction.SEQUENCE,
            fit=Fit.CLOSE,
            note=(
                "kl_estimator chooses k1, k2 or k3, clamped to +-10. The KL of the loss with use_kl_loss; 0 without "
                "a reference model."
            ),
        ),
        Name("ppo_kl", "policy/kl_k1_avg", estimator=Estimator.K1, reduction=Reduction.TOKEN),
        Name("ppo_clip_ratio", "policy/clipfrac_avg", reduction=Reduction.TOKEN),
        Name(
            "vllm_kl",
            "sampling/kl",
            estimator=Estimator.K1,
            reduction=Reduction.TOKEN,
            note="Mean of the sampler's minus the trainer's log-probability.",
        ),
        Name("response_length", "completions/mean_length"),
        Name("rollout/response_length_mean", "completions/mean_length"),
        Name("total_length", "sequence/mean_length"),
        Name("truncated", "completions/clipped_ratio"),
        Name("rollout/truncated_rate", "completions/clipped_ratio"),
        Name("rollout/num_samples", "batch/num_samples"),
        Name("ptx_loss", "loss/aux"),
        Name("dynamic_filtering_pass_rate", "filter/kept_ratio", scale=0.01, note="A percentage in the log."),
        Name("timing/step_total", "step_time"),
        Name("timing/generation", "time/rollout"),
        Name("timing/ppo_train", "time/train"),
        Name("timing/broadcast", "time/weight_sync"),
        Name(r"eval/eval_(?P<name>.+)_pass(?P<k>\d+)", "eval/{name}/pass_at_{k}", pattern=True),
        Name("eval/eval_(?P<name>.+)_response_length_mean", "eval/completions/mean_length", pattern=True),
        Name("eval/eval_response_length_mean", "eval/completions/mean_length"),
        Name("eval/eval_(?P<name>.+)_truncated_rate", "eval/completions/clipped_ratio", pattern=True),
    ),
    ignored=(
        "logprobs_diff",
        "timing/make_experience",
        "generated_samples",
        "eval/epoch",
        "eval/global_step",
    ),
    never=(
        "explained_variance",
        "value_clip_fraction",
        "total_loss",
        "zero_std_groups",
        "advantage_mean",
        "advantage_std",
        "throughput",
    ),
    note=(
        "return is what remains after the KL penalty and the baseline, and is near 0 by construction for rloo, "
        "group_norm and reinforce_baseline. The log-ratio in kl is clamped to +-10. entropy_loss is the positive "
        "mean entropy in spite of its name. Early versions count optimizer steps of the actor."
    ),
    sources=("OpenRLHF/OpenRLHF v0.5.9, v0.8.0, main",),
)
