"""The ``vf-rl`` trainer of the verifiers library.

Its worst trap: ``reward/<name>`` is one reward function, yet ``reward/std`` is the spread of the whole reward.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature
from holter.signals.base import Estimator, Reduction

VERIFIERS_RL = Dialect(
    name="verifiers-rl",
    title="verifiers RLTrainer (vf-rl)",
    spoken_by="verifiers 0.1.6 and later, until the trainer left",
    step=("global_step", "step"),
    axis="optimizer step",
    inherits="hf-trainer",
    null=Null.NAN,
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
    never=(
        "ref_kl",
        "clip_fraction",
        "value_loss",
        "value_mean",
        "value_clip_fraction",
        "value_error",
        "explained_variance",
        "return_mean",
        "critic_lr",
        "critic_grad_norm",
    ),
    note=(
        "importance_ratio and mismatch_kl compare the trainer with the sampler, not with a reference or an old policy."
    ),
    sources=("PrimeIntellect-ai/verifiers a497ee524~1",),
)
