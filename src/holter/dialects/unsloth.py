"""Unsloth GRPO (patched TRL): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature
from holter.signals.base import Estimator, Reduction

UNSLOTH = Dialect(
    name="unsloth",
    title="Unsloth GRPO (patched TRL)",
    step=("step", "train/global_step"),
    axis="optimizer step",
    inherits="trl-grpo",
    null=Null.NAN,
    priority=400,
    signatures=(Signature(all=("completion_length", "completions/mean_length")),),
    row=(
        "loss",
        "grad_norm",
        "reward",
        "reward_std",
        "completion_length",
        "completions/mean_length",
        "completions/clipped_ratio",
        "rewards/f/mean",
        "kl",
        "epoch",
    ),
    names=(
        Name(
            "completion_length",
            "completions/mean_length",
            fit=Fit.CLOSE,
            note="micro-batch mask mean, next to completions/mean_length",
        ),
        Name(
            "kl",
            "kl",
            estimator=Estimator.K3,
            reduction=Reduction.RANK,
            fit=Fit.CLOSE,
            note="logged even with beta=0; local rank, mean over chunks",
        ),
    ),
    never=("entropy", "value loss", "advantages"),
)
