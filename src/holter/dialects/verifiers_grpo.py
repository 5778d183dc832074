"""verifiers GRPOTrainer (<=0.1.5, forked from TRL): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Null, Signature

VERIFIERS_GRPO = Dialect(
    name="verifiers-grpo",
    title="verifiers GRPOTrainer (<=0.1.5, forked from TRL)",
    step=("step", "train/global_step"),
    axis="optimizer step",
    inherits="trl-grpo",
    null=Null.NAN,
    priority=410,
    signatures=(Signature(all=("completions/mean_length", "rewards/[^/]+"), none=("rewards/.+/mean",)),),
    row=(
        "loss",
        "reward",
        "reward_std",
        "rewards/check_answer",
        "completions/mean_length",
        "completions/clipped_ratio",
        "kl",
        "epoch",
    ),
    names=(),
    note="rewards/<fn> without /mean; eval_rewards/*, eval_completions/* written too.",
)
