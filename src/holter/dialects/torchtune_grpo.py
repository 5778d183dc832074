"""torchtune's GRPO development recipe, synchronous and asynchronous.

Its worst trap: ``policy_loss`` is the surrogate itself, not negated; the sign is turned on reading.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

TORCHTUNE_GRPO = Dialect(
    name="torchtune-grpo",
    title="torchtune GRPO recipe",
    spoken_by="torchtune main, 2026-08",
    step=("step", "Step"),
    axis="optimizer step",
    prefixes=("train_worker_training/", "postprocessing_worker_rewards/", "train_worker_performance/"),
    priority=240,
    signatures=(
        Signature(any=("train_worker_training/.*", "postprocessing_worker_rewards/.*")),
        Signature(all=("rewards", "successes", "approx_policy_kl")),
    ),
    row=(
        "train_worker_training/loss",
        "train_worker_training/policy_loss",
        "train_worker_training/kl_loss",
        "train_worker_training/ratios",
        "postprocessing_worker_rewards/rewards_mean",
    ),
    names=(
        Name("rewards", "reward"),
        Name("rewards_mean", "reward"),
        Name("successes", "accuracy"),
        Name("successes_mean", "accuracy"),
        Name("num_stop_tokens", "val/num_eos_tokens", fit=Fit.CLOSE),
        Name("loss", "loss"),
        Name("policy_loss", "loss/policy_avg", scale=-1.0, note="The surrogate itself, not negated."),
        Name("kl_loss", "kl", estimator=Estimator.K3, reduction=Reduction.SEQUENCE),
        Name("clipfrac", "policy/clipfrac_avg"),
        Name("ratios", "val/ratio"),
        Name("approx_policy_kl", "policy/approxkl_avg", estimator=Estimator.K2),
        Name("approx_policy_kls", "policy/approxkl_avg", estimator=Estimator.K2),
        Name("response_lengths", "completions/mean_length"),
        Name("lr", "lr"),
    ),
    ignored=("queues/.*", "peak_memory.*", ".*per_sec.*"),
    never=("grad_norm", "entropy", "reward_spread", "truncation", "value_loss"),
    note="Values may be printed as tensor(x). Nothing is filtered.",
    sources=("pytorch/torchtune",),
)
