"""ART by OpenPipe, in its names of 2025 and of 2026.

Its worst trap: ``objective/score_default`` is a throughput score, not a reward; it is left aside.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator

ART = Dialect(
    name="art",
    title="ART",
    spoken_by="ART main, 2026-08",
    step=("step", "_step"),
    axis="checkpoint step of the model",
    prefixes=("train/",),
    priority=60,
    signatures=(
        Signature(
            any=(
                "(val/)?reward_std_dev",
                "(val/)?exception_rate",
                "offpolicy/.*",
                "costs/.*",
                "loss/clipped_token_fraction",
            )
        ),
    ),
    row=(
        "train/reward",
        "train/reward_std_dev",
        "train/exception_rate",
        "train/loss",
        "train/policy_loss",
        "train/kl_div",
        "train/grad_norm",
        "val/reward",
    ),
    names=(
        Name("step", "step"),
        Name("reward", "reward"),
        Name("reward_std_dev", "reward_group_std"),
        Name("exception_rate", "rollout/error_ratio"),
        Name("loss", "loss", note="Versions of 2025."),
        Name("loss/train", "loss"),
        Name("policy_loss", "loss/policy_avg"),
        Name("kl_div", "kl", estimator=Estimator.K3, fit=Fit.CLOSE, note="Weighted by trajectory."),
        Name("loss/kl_div", "kl", estimator=Estimator.K3, fit=Fit.CLOSE),
        Name("grad_norm", "grad_norm"),
        Name("loss/grad_norm", "grad_norm"),
        Name("entropy", "entropy", fit=Fit.CLOSE, note="From the top log-probabilities only."),
        Name("loss/entropy", "entropy", fit=Fit.CLOSE),
        Name("learning_rate", "lr"),
        Name("loss/learning_rate", "lr"),
        Name("loss/importance_ratio_mean", "val/ratio"),
        Name("loss/clipped_token_fraction", "policy/clipfrac_avg"),
        Name("offpolicy/token_weighted_policy_age_steps", "staleness/mean"),
        Name("data/step_num_groups_trainable", "groups/mixed_count"),
        Name("time/step_wall_s", "step_time"),
        Name("val/reward", "eval/reward"),
        Name("val/reward_std_dev", "eval/reward_group_std"),
        Name("val/exception_rate", "eval/rollout/error_ratio"),
        Name("val/(?P<name>(?!reward$|reward_std_dev$|exception_rate$).+)", "eval/{name}", pattern=True),
    ),
    ignored=(
        "costs/.*",
        "data/.*",
        "throughput/.*",
        "vllm/.*",
        "queue/.*",
        "sample_efficiency/.*",
        "objective/.*",
        r"loss/importance_ratio_p\d+",
        "time/.*",
        "recorded_at",
        "training_step",
    ),
    never=("length", "truncation", "value_loss", "explained_variance"),
    note=(
        "Nothing is filtered. kl_div is weighted by trajectory. entropy comes from the top log-probabilities only. "
        "Versions of 2025 log no clip fraction."
    ),
    sources=("OpenPipe/ART",),
)
