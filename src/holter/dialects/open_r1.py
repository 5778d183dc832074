"""Open-R1's recipes on TRL's GRPO trainer. Its keys are TRL's, so a log cannot give it away: name it to use it."""

from __future__ import annotations

from holter.dialects.base import Dialect, Null

OPEN_R1 = Dialect(
    name="open-r1",
    title="Open-R1 (TRL 0.18 GRPO)",
    spoken_by="open-r1 main, 2026-08 (trl 0.18)",
    step=("global_step", "step"),
    axis="optimizer step",
    inherits="trl-grpo",
    null=Null.NAN,
    priority=425,
    row=(
        "loss",
        "grad_norm",
        "learning_rate",
        "num_tokens",
        "completions/mean_length",
        "completions/clipped_ratio",
        "rewards/f/mean",
        "rewards/f/std",
        "reward",
        "reward_std",
        "frac_reward_zero_std",
        "kl",
        "entropy",
        "clip_ratio/region_mean",
        "epoch",
    ),
    note=("The keys are those of the TRL version it pins; it also writes all_results.json and train_results.json."),
    sources=("huggingface/open-r1",),
)
