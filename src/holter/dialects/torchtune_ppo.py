"""torchtune's PPO recipe.

Its worst trap: ``kl`` is a sum over the sequence, in spite of the plain name.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

TORCHTUNE_PPO = Dialect(
    name="torchtune-ppo",
    title="torchtune PPO recipe",
    spoken_by="torchtune main, 2026-08",
    step=("step", "Step"),
    axis="optimizer step",
    priority=230,
    signatures=(Signature(all=("rlhf_reward", "kl_reward")),),
    row=(
        "scores",
        "num_stop_tokens",
        "rlhf_reward",
        "kl",
        "kl_reward",
        "loss",
        "policy_loss",
        "value_loss",
        "clipfrac",
        "ratios",
        "approx_policy_kl",
        "response_lengths",
    ),
    names=(
        Name("scores", "objective/scores"),
        Name("rlhf_reward", "objective/rlhf_reward"),
        Name(
            "kl",
            "objective/kl",
            estimator=Estimator.K1,
            reduction=Reduction.SEQUENCE_SUM,
            note="Called kl, but summed over the sequence.",
        ),
        Name("kl_reward", "objective/non_score_reward", reduction=Reduction.SEQUENCE_SUM),
        Name("lr", "lr"),
        Name("loss", "loss"),
        Name("policy_loss", "loss/policy_avg"),
        Name("value_loss", "loss/value_avg"),
        Name("clipfrac", "policy/clipfrac_avg"),
        Name("ratios", "val/ratio", reduction=Reduction.PADDED),
        Name("approx_policy_kl", "policy/approxkl_avg", estimator=Estimator.K2, reduction=Reduction.PADDED),
        Name("response_lengths", "completions/mean_length"),
        Name("num_stop_tokens", "val/num_eos_tokens", fit=Fit.CLOSE, note="Number of sequences that ended."),
        Name("tokens_per_second_per_gpu_trajectory", "throughput/gen_tokens_per_s", fit=Fit.CLOSE),
        Name("tokens_per_second_per_gpu_ppo", "throughput/tokens_per_s_per_gpu"),
        Name("peak_memory_active", "memory/peak_gb", scale=1.073741824, fit=Fit.CLOSE),
        Name("peak_memory_alloc", "memory/peak_gb", scale=1.073741824),
    ),
    ignored=("peak_memory_reserved",),
    never=("grad_norm", "critic_grad_norm", "entropy", "reward_spread", "explained_variance", "truncation"),
    note="Values may be printed as tensor(x). Nothing is filtered.",
    sources=("pytorch/torchtune",),
)
