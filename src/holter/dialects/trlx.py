"""trlX by CarperAI.

Its worst traps: ``policy/sqrt_kl`` and ``policy/kl_per_token`` are square roots, and ``reward/mean`` is the reward on
evaluation prompts, not in training.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

TRLX = Dialect(
    name="trlx",
    title="trlX",
    spoken_by="trlX main, 2026-08 (no longer developed)",
    step=("step", "_step"),
    axis="optimizer iteration (iter_count)",
    priority=220,
    signatures=(
        Signature(
            any=("policy/sqrt_kl", "losses/total_loss", "rollout_scores/mean", "exp_scores/mean", "kl_ctl_value")
        ),
    ),
    row=(
        "losses/total_loss",
        "losses/policy_loss",
        "losses/value_loss",
        "policy/sqrt_kl",
        "policy/clipfrac",
        "rollout_scores/mean",
        "reward/mean",
    ),
    names=(
        Name("rollout_scores/mean", "reward", note="Of training rollouts."),
        Name("rollout_scores/std", "reward_std"),
        Name("exp_scores/mean", "reward", note="Older versions."),
        Name("exp_scores/std", "reward_std", note="Older versions."),
        Name(
            "policy/sqrt_kl",
            "objective/kl",
            power=2.0,
            estimator=Estimator.K3,
            reduction=Reduction.SEQUENCE_SUM,
            fit=Fit.CLOSE,
            note="The square root of the KL summed over the sequence, prompt positions included.",
        ),
        Name(
            "policy/kl_per_token",
            "kl",
            power=2.0,
            estimator=Estimator.K3,
            reduction=Reduction.PADDED,
            fit=Fit.CLOSE,
            note="Also under a square root.",
        ),
        Name("kl_ctl_value", "objective/kl_coef"),
        Name("losses/total_loss", "loss"),
        Name("losses/policy_loss", "loss/policy_avg"),
        Name("losses/value_loss", "loss/value_avg"),
        Name("values/mean", "value/mean"),
        Name("values/min", "value/min"),
        Name("values/max", "value/max"),
        Name("values/std", "value/std"),
        Name("values/values_error", "value/error"),
        Name("values/clipfrac", "val/clipfrac_avg"),
        Name("returns/mean", "returns/mean"),
        Name("returns/std", "returns/std"),
        Name("returns/min", "returns/min"),
        Name("returns/max", "returns/max"),
        Name(
            "policy/approx_kl", "policy/approxkl_avg", estimator=Estimator.K3, reduction=Reduction.PADDED, fit=Fit.CLOSE
        ),
        Name("policy/clipfrac", "policy/clipfrac_avg"),
        Name("ratio", "val/ratio"),
        Name("padding_percentage", "padding_ratio", note="A fraction in spite of the name."),
        Name("time/rollout_generate", "time/rollout"),
        Name("time/rollout_score", "time/reward"),
        Name("time/backward", "time/train", fit=Fit.PROXY),
        Name("learning_rate_group_0", "lr"),
        Name(
            "reward/mean",
            "eval/reward",
            note="Of evaluation prompts, not of training; may carry a suffix @argument=value.",
        ),
        Name("reward/mean@(?P<name>.+)", "eval/reward", pattern=True),
        Name("metrics/(?P<name>.+)", "eval/{name}", pattern=True),
    ),
    ignored=(
        "old_values/.*",
        "time/.*",
        "rollout_scores/running_.*",
        "exp_scores/running_.*",
        "values/values_mape_error",
        r"learning_rate_group_[1-9]\d*",
        "samples.*",
    ),
    never=("entropy", "grad_norm", "critic_grad_norm", "length", "explained_variance"),
    note=(
        "Rollout keys come less often than the others, on the same axis. policy/sqrt_kl and policy/kl_per_token are "
        "squared on reading. reward/mean belongs to evaluation prompts and may carry a suffix @argument=value."
    ),
    sources=("CarperAI/trlx",),
)
