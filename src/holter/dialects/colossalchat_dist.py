"""ColossalChat's distributed GRPO and DAPO, in W&B and on the console.

Its worst trap: format and accuracy are rewards on the console (``Acc Reward``) and shares in W&B (``metrics/ans_acc``).
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Signature
from holter.signals.base import Estimator, Reduction

COLOSSALCHAT_DIST = Dialect(
    name="colossalchat-dist",
    title="ColossalChat distributed GRPO and DAPO",
    spoken_by="ColossalAI main, 2026-08",
    step=("_step",),
    axis="tracker step, one an update",
    priority=270,
    signatures=(
        Signature(
            any=("metrics/ans_acc", "train/sample_utilization", "train/overlength_samples_ratio", "Sample_utilization")
        ),
    ),
    row=(
        "metrics/reward",
        "metrics/format_acc",
        "metrics/ans_acc",
        "metrics/response_length",
        "train/loss",
        "train/entropy",
        "rollout/temperature",
    ),
    names=(
        Name("metrics/reward", "reward"),
        Name("metrics/ans_acc", "accuracy"),
        Name("metrics/(?P<name>format_acc)", "rewards/{name}/mean", pattern=True),
        Name("metrics/response_length", "completions/mean_length"),
        Name("train/loss", "loss"),
        Name("train/advantages", "advantages/mean"),
        Name("train/learning_rate", "lr"),
        Name("train/sample_utilization", "filter/kept_ratio"),
        Name("train/entropy", "entropy", estimator=Estimator.EXACT),
        Name("train/overlength_samples_ratio", "completions/clipped_ratio"),
        Name("train/kl", "kl", estimator=Estimator.K3, reduction=Reduction.TOKEN),
        Name("eval/(?P<name>.+)", "eval/{name}", pattern=True),
        Name("Loss", "loss", note="Console only."),
        Name("Reward", "reward", note="Console only."),
        Name("(?P<name>format) Reward", "rewards/{name}/mean", pattern=True, note="Console only."),
        Name("Acc Reward", "accuracy", note="Console only."),
        Name("Advantages", "advantages/mean", note="Console only."),
        Name("Response Length", "completions/mean_length", note="Console only."),
        Name("Sample_utilization", "filter/kept_ratio", note="Console only."),
        Name("Overlength samples ratio", "completions/clipped_ratio", note="Console only."),
        Name("Entropy", "entropy", note="Console only."),
        Name("KL", "kl", note="Console only."),
    ),
    ignored=("rollout/temperature",),
    never=("clip_fraction", "grad_norm", "reward_spread", "value_loss"),
    note="Nothing is filtered.",
    sources=("hpcaitech/ColossalAI",),
)
