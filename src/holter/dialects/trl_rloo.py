"""TRL RLOOTrainer (0.22+): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null
from holter.signals.base import Estimator, Reduction

TRL_RLOO = Dialect(
    name="trl-rloo",
    title="TRL RLOOTrainer (0.22+)",
    spoken_by="0.22 - 1.16",
    step=("step", "train/global_step"),
    axis="optimizer step (state.global_step)",
    inherits="trl-grpo",
    null=Null.NAN,
    names=(
        Name(
            "kl",
            "kl",
            estimator=Estimator.K1,
            reduction=Reduction.TOKEN,
            fit=Fit.CLOSE,
            note="logp_old - logp_ref at generation time, may be negative; the penalty is already inside the advantage",
        ),
        Name("reward", "reward", note="KL penalty not included"),
        Name(
            "frac_reward_zero_std",
            "frac_reward_zero_std",
            fit=Fit.CLOSE,
            note="computed on KL-penalised rewards; practically 0 when beta > 0",
        ),
        Name(
            "clip_ratio/low_mean",
            "clip_ratio/low_mean",
            reduction=Reduction.SEQUENCE,
            fit=Fit.CLOSE,
            note="sequence-level ratio: share of sequences",
        ),
        Name(
            "clip_ratio/high_mean",
            "clip_ratio/high_mean",
            reduction=Reduction.SEQUENCE,
            fit=Fit.CLOSE,
            note="share of sequences",
        ),
        Name(
            "clip_ratio/region_mean",
            "clip_ratio/region_mean",
            reduction=Reduction.SEQUENCE,
            fit=Fit.CLOSE,
            note="share of sequences",
        ),
    ),
    never=("value loss", "sampling/*", "tools/*", "policy_loss", "advantages"),
)
