"""Axolotl GRPO (TRL): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Null, Signature

AXOLOTL = Dialect(
    name="axolotl",
    title="Axolotl GRPO (TRL)",
    step=("step", "train/global_step"),
    axis="optimizer step",
    inherits="trl-grpo",
    null=Null.NAN,
    priority=20,
    signatures=(
        Signature(
            any=(
                "memory/max_a(ctive|llocated) \\(GiB\\)",
                "memory/device_reserved \\(GiB\\)",
                "tokens/train_per_sec_per_gpu",
            )
        ),
    ),
    row=(
        "loss",
        "grad_norm",
        "learning_rate",
        "num_tokens",
        "completions/mean_length",
        "rewards/f/mean",
        "reward",
        "reward_std",
        "kl",
        "epoch",
        "memory/max_active (GiB)",
        "memory/max_allocated (GiB)",
        "memory/device_reserved (GiB)",
    ),
    names=(
        Name("memory/max_allocated (GiB)", "memory/peak_gb", scale=1.073741824),
        Name("tokens/train_per_sec_per_gpu", "throughput/tokens_per_s_per_gpu"),
        Name("tokens/total", "num_tokens"),
    ),
    ignored=(
        "ppl",
        "eval_ppl",
        "memory/max_active\\ \\(GiB\\)",
        "memory/device_reserved\\ \\(GiB\\)",
        "tokens/trainable",
        "ebft/.*",
    ),
    note="ppl = exp(loss): without meaning for an RL loss.",
)
