"""ColossalChat distributed GRPO/DAPO: its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Signature
from holter.signals.base import Estimator, Reduction

COLOSSALCHAT_DIST = Dialect(
    name="colossalchat-dist",
    title="ColossalChat distributed GRPO/DAPO",
    step=("_step",),
    axis="wandb step per update",
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
        Name("Loss", "loss", note="console"),
        Name("Reward", "reward", note="console"),
        Name("(?P<name>format) Reward", "rewards/{name}/mean", pattern=True, note="console"),
        Name("Acc Reward", "accuracy", note="console"),
        Name("Advantages", "advantages/mean", note="console"),
        Name("Response Length", "completions/mean_length", note="console"),
        Name("Sample_utilization", "filter/kept_ratio", note="console"),
        Name("Overlength samples ratio", "completions/clipped_ratio", note="console"),
        Name("Entropy", "entropy", note="console"),
        Name("KL", "kl", note="console"),
    ),
    ignored=("rollout/temperature",),
    never=("clip fraction", "grad_norm", "reward std"),
    note="Non-finite values: nothing filtered.",
)
