"""torchforge by Meta.

Its worst trap: ``avg_total_reward`` is a mean over calls of reward functions, not the sum of a sample's rewards.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator

TORCHFORGE = Dialect(
    name="torchforge",
    title="torchforge",
    spoken_by="torchforge main, 2026-08",
    step=("step", "_step"),
    axis="global step of the metric logger",
    priority=260,
    signatures=(
        Signature(
            any=(
                "rl_trainer(_perf)?/.*",
                "buffer/sample/.*",
                "reward/evaluate_response/.*",
                "grpo_loss/kl_divergence_mean",
            )
        ),
    ),
    row=(
        "reward/evaluate_response/avg_total_reward",
        "rl_trainer/avg_loss",
        "rl_trainer/learning_rate",
        "buffer/sample/avg_sampled_policy_age",
        "generator/generate/avg_tokens_generated",
    ),
    names=(
        Name("grpo_loss/kl_divergence_mean", "kl", estimator=Estimator.K3, fit=Fit.CLOSE),
        Name("grpo_loss/policy_gradient_loss", "loss/policy_avg"),
        Name("grpo_loss/total_loss", "loss"),
        Name(
            "reward/evaluate_response/avg_total_reward",
            "reward",
            fit=Fit.CLOSE,
            note="A mean over calls of reward functions, not a sum over a sample's rewards.",
        ),
        Name("reward/evaluate_response/avg_(?P<name>(?!total).+)_reward", "rewards/{name}/mean", pattern=True),
        Name("reward/evaluate_response/std_(?P<name>.+)_reward", "rewards/{name}/std", pattern=True),
        Name("rl_trainer/(avg_)?loss", "loss", pattern=True),
        Name("rl_trainer/learning_rate", "lr"),
        Name("generator/generate/avg_tokens_generated", "completions/mean_length"),
        Name("buffer/sample/avg_sampled_policy_age", "staleness/mean"),
        Name("buffer/sample/max_sampled_policy_age", "staleness/max"),
        Name("buffer/sample/min_sampled_policy_age", "staleness/min"),
        Name("buffer/evict/sum_episodes_evicted", "staleness/dropped"),
        Name("rl_trainer_perf/step/total_duration_avg_s", "time/train"),
        Name("generator_perf/generate/total_duration_avg_s", "time/rollout"),
    ),
    ignored=(
        "main_perf/.*",
        "rl_trainer_perf/.*",
        "generator_perf/.*",
        "reward/evaluate_response/.*",
        "buffer/.*",
        "generator/.*",
        "main/.*",
        "dataset/.*",
        "episode/.*",
        "buffer_perf/.*",
    ),
    never=("policy_kl", "entropy", "clip_fraction", "grad_norm"),
    note="Nothing is filtered. No entropy is logged.",
    sources=("meta-pytorch/torchforge",),
)
