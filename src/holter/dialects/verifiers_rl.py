"""verifiers vf-rl RLTrainer (2025-10 to 2026-07): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

VERIFIERS_RL = Dialect(
    name="verifiers-rl",
    title="verifiers vf-rl RLTrainer (2025-10 to 2026-07)",
    step=("step", "train/global_step"),
    axis="optimizer step",
    inherits="hf-trainer",
    priority=390,
    signatures=(Signature(any=("tokens/masked_fraction", "advantage/absmean")),),
    row=(
        "loss",
        "grad_norm",
        "reward",
        "reward/std",
        "reward/correct",
        "advantage/absmean",
        "tokens/completion",
        "tokens/masked_fraction",
        "importance_ratio",
        "entropy",
        "mismatch_kl",
    ),
    names=(
        Name("reward", "reward"),
        Name("reward/std", "reward_std"),
        Name("reward/(?P<name>(?!std$).+)", "rewards/{name}/mean", pattern=True),
        Name("advantage/absmean", "advantages/abs_mean"),
        Name("tokens/completion", "completions/mean_length"),
        Name("tokens/masked_fraction", "padding_ratio", fit=Fit.PROXY),
        Name("importance_ratio", "sampling/importance_sampling_ratio/mean", reduction=Reduction.TOKEN),
        Name("entropy", "entropy", estimator=Estimator.EXACT, reduction=Reduction.TOKEN),
        Name("mismatch_kl", "sampling/kl_k3", estimator=Estimator.K3, reduction=Reduction.TOKEN),
        Name("wall_clock/generate_s", "time/rollout"),
    ),
    ignored=("timing/.*",),
    never=("reference KL", "clip fraction", "value loss"),
)
