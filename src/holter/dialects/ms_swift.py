"""ms-swift's GRPO, which is TRL's with its own step, memory and speed columns.

Its worst traps: the step is a string such as ``5/3766``, and ``reward`` is already less beta times KL when
``kl_in_reward`` is set.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Null, Signature
from holter.signals.base import Estimator, Reduction

MS_SWIFT = Dialect(
    name="ms-swift",
    title="ms-swift GRPO",
    spoken_by="ms-swift main, 2026-08",
    step=("global_step/max_steps", "iteration"),
    axis="optimizer step (the n of 'n/N')",
    inherits="trl-grpo",
    null=Null.NAN,
    priority=0,
    signatures=(Signature(any=("global_step/max_steps", r"memory\(GiB\)", r"train_speed\((s/it|iter/s)\)")),),
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
        Name("global_step/max_steps", "step", note="A string such as 5/3766; the first number counts."),
        Name("iteration", "step", note="Written by the Megatron backend, as n/N."),
        Name("reward", "reward", note="Already less beta times KL with kl_in_reward."),
        Name("reward_std", "reward_std", note="Mean standard deviation within groups."),
        Name(
            "kl",
            "kl",
            estimator=Estimator.K3,
            reduction=Reduction.TOKEN,
            note="With kl_in_reward it is the k1 sum over the sequence.",
        ),
        Name("entropy/mean", "entropy", estimator=Estimator.EXACT, reduction=Reduction.TOKEN),
        Name("num_turns", "turns/mean"),
        Name("memory(GiB)", "memory/peak_gb", scale=1.073741824),
        Name("train_speed(s/it)", "step_time", note="An average since the start of the run."),
        Name("train_speed(iter/s)", "step_time", power=-1.0, note="Older versions."),
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
    note=(
        "Values are rounded to eight decimals. reward_std is the mean spread within groups. train_speed is an "
        "average since the start of the run, not of this step. With kl_in_reward, kl is the k1 sum over the "
        "sequence."
    ),
    sources=("modelscope/ms-swift",),
)
