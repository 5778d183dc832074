"""ms-swift GRPO: its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Signature
from holter.signals.base import Estimator, Reduction

MS_SWIFT = Dialect(
    name="ms-swift",
    title="ms-swift GRPO",
    step=("global_step/max_steps", "iteration"),
    axis="optimizer step, string 'n/N'",
    inherits="trl-grpo",
    priority=0,
    signatures=(Signature(any=("global_step/max_steps", "memory\\(GiB\\)", "train_speed\\((s/it|iter/s)\\)")),),
    row=(
        "loss",
        "grad_norm",
        "learning_rate",
        "memory(GiB)",
        "train_speed(s/it)",
        "completions/mean_length",
        "completions/clipped_ratio",
        "reward",
        "reward_std",
        "frac_reward_zero_std",
        "rewards/MathAccuracy/mean",
        "rewards/MathAccuracy/std",
        "kl",
        "entropy/mean",
        "clip_ratio/region_mean",
        "epoch",
        "global_step/max_steps",
        "percentage",
        "elapsed_time",
        "remaining_time",
    ),
    names=(
        Name("global_step/max_steps", "step", note="'5/3766': take the first number"),
        Name("iteration", "step", note="Megatron: 'N/M'"),
        Name("reward", "reward", note="already minus beta*KL when kl_in_reward"),
        Name("reward_std", "reward_std", note="mean within-group std"),
        Name("kl", "kl", estimator=Estimator.K3, reduction=Reduction.TOKEN, note="sequence-sum k1 when kl_in_reward"),
        Name("entropy/mean", "entropy", estimator=Estimator.EXACT, reduction=Reduction.TOKEN),
        Name("num_turns", "turns/mean"),
        Name("memory(GiB)", "memory/peak_gb", scale=1.073741824),
        Name("train_speed(s/it)", "step_time", note="run average"),
        Name("train_speed(iter/s)", "step_time", power=-1.0, note="older"),
        Name("rollout_correction/kl", "sampling/kl"),
        Name("rollout_correction/k3_kl", "sampling/kl_k3"),
    ),
    ignored=(
        "elapsed_time",
        "remaining_time",
        "percentage",
        "entropy/max",
        "entropy/min",
        "entropy/threshold",
        "teacher_kl",
        "rollout_correction/.*",
        "fipo/.*",
    ),
    note="Non-finite values: as trl_grpo; floats rounded to 8 decimals.",
)
