"""Unsloth's patch of TRL's GRPO trainer, known by ``completion_length`` beside ``completions/mean_length``.

Its worst trap: ``kl`` is logged even when beta is 0 and no penalty acts on it.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature
from holter.signals.base import Estimator, Reduction

UNSLOTH = Dialect(
    name="unsloth",
    title="Unsloth GRPO (patched TRL)",
    spoken_by="unsloth-zoo main, 2026-08",
    step=("global_step", "step"),
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
            note="Mean over micro-batches, beside completions/mean_length.",
        ),
        Name(
            "kl",
            "kl",
            estimator=Estimator.K3,
            reduction=Reduction.RANK,
            fit=Fit.CLOSE,
            note="Logged even when beta is 0; the local process only, mean over chunks.",
        ),
    ),
    never=("entropy", "policy_loss"),
    note=(
        "kl is the mean over chunks of the local process and is logged whatever beta is. Notebook tables write the "
        "slash with blanks around it."
    ),
    sources=("unslothai/unsloth-zoo",),
)
