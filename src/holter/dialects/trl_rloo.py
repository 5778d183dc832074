"""TRL's ``RLOOTrainer`` since 0.22. It writes the names of the GRPO trainer, so only its profiling keys give it away.

Its worst trap: ``kl`` is k1, taken when the batch was sampled, and may be negative, while GRPO's is k3 and never is.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature
from holter.signals.base import Estimator, Reduction

TRL_RLOO = Dialect(
    name="trl-rloo",
    title="TRL RLOOTrainer (0.22 and later)",
    spoken_by="trl 0.22 - 1.16",
    step=("global_step", "step"),
    axis="optimizer step (state.global_step)",
    inherits="trl-grpo",
    null=Null.NAN,
    priority=345,
    signatures=(Signature(any=(r"profiling/Time taken: RLOOTrainer\..*",)),),
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
        "profiling/Time taken: RLOOTrainer._generate",
    ),
    names=(
        Name(
            "kl",
            "kl",
            estimator=Estimator.K1,
            reduction=Reduction.TOKEN,
            fit=Fit.CLOSE,
            note="k1 when the batch was sampled, so it may be negative; the penalty is already inside the advantage.",
        ),
        Name("reward", "reward", note="The KL penalty is not included."),
        Name(
            "frac_reward_zero_std",
            "frac_reward_zero_std",
            fit=Fit.CLOSE,
            note="Computed on rewards less the KL penalty, so it is practically 0 when beta is above 0.",
        ),
        Name(
            "clip_ratio/low_mean",
            "clip_ratio/low_mean",
            reduction=Reduction.SEQUENCE,
            fit=Fit.CLOSE,
            note="The ratio is per sequence: a share of sequences.",
        ),
        Name(
            "clip_ratio/high_mean",
            "clip_ratio/high_mean",
            reduction=Reduction.SEQUENCE,
            fit=Fit.CLOSE,
            note="A share of sequences.",
        ),
        Name(
            "clip_ratio/region_mean",
            "clip_ratio/region_mean",
            reduction=Reduction.SEQUENCE,
            fit=Fit.CLOSE,
            note="A share of sequences.",
        ),
    ),
    never=("mismatch", "mismatch_max", "sampler_ratio", "tool_calls", "tool_failures", "policy_loss"),
    note=(
        "The KL penalty is inside the advantage, not in the reward that is logged. Clip fractions count sequences, "
        "not tokens."
    ),
    sources=("huggingface/trl v0.22.0, v1.9.0, 1.16.0",),
)
