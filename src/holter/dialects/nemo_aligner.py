"""NVIDIA's NeMo-Aligner, PPO and REINFORCE with a critic server.

Its worst trap: ``response_lengths`` includes the prompt. ``init_policy_kl`` is the mean of absolute differences.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

NEMO_ALIGNER = Dialect(
    name="nemo-aligner",
    title="NVIDIA NeMo-Aligner",
    spoken_by="NeMo-Aligner main, 2026-08 (no longer developed)",
    step=("step",),
    axis="PPO step",
    priority=80,
    signatures=(Signature(any=("train_rollouts/.*", "train_optim/.*")),),
    row=(
        "train_rollouts/rewards",
        "train_rollouts/response_lengths",
        "train_rollouts/init_policy_kl",
        "train_optim/loss",
        "train_optim/ppo_ratio",
        "train_optim/scaled_entropy",
        "train_optim/grad_norm",
        "val_rollouts/rewards",
    ),
    names=(
        Name("train_rollouts/rewards", "reward"),
        Name(
            "train_rollouts/rewards_with_kl",
            "objective/rlhf_reward",
            fit=Fit.PROXY,
            note="PPO: mean per token; REINFORCE: reward less beta times the mean KL.",
        ),
        Name(
            "train_rollouts/init_policy_kl",
            "kl",
            estimator=Estimator.ABS,
            reduction=Reduction.TOKEN,
            fit=Fit.CLOSE,
            note="Mean of absolute differences by default (use_absolute_kl).",
        ),
        Name("train_rollouts/response_lengths", "sequence/mean_length", note="Includes the prompt."),
        Name("train_rollouts/prompt_lengths", "prompt_length/mean"),
        Name("train_rollouts/generation_length", "completions/mean_length"),
        Name("train_rollouts/fraction_of_samples_properly_ended", "completions/eos_ratio"),
        Name("train_rollouts/rollout_size", "batch/num_samples"),
        Name("train_rollouts/advantages_mean", "advantages/mean"),
        Name("train_rollouts/advantages_std", "advantages/std"),
        Name("train_rollouts/returns_mean", "returns/mean"),
        Name("train_rollouts/returns_std", "returns/std"),
        Name("train_rollouts/values_mean", "value/mean"),
        Name("train_rollouts/values_std", "value/std"),
        Name("train_rollouts/consumed_samples", "episode"),
        Name("train_rollouts/epoch", "epoch"),
        Name("train_optim/loss", "loss", note="Actor loss less the scaled entropy."),
        Name("train_optim/ppo_ratio", "val/ratio"),
        Name(
            "train_optim/scaled_entropy", "loss/entropy_avg", note="Entropy times its bonus; 0 when the bonus is off."
        ),
        Name("train_optim/grad_norm", "grad_norm"),
        Name("train_optim/lr", "lr"),
        Name("train/loss", "loss/value_avg", note="Of the critic server."),
        Name("train/grad_norm", "critic/grad_norm"),
        Name("train/lr", "critic/lr"),
        Name("val_rollouts/rewards", "eval/reward"),
        Name("val_rollouts/response_lengths", "eval/sequence/mean_length"),
        Name("timers/generate", "time/rollout", fit=Fit.CLOSE),
        Name("timers/train_time", "time/train", fit=Fit.CLOSE),
    ),
    ignored=(
        "train_optim/ppo_ratio_clamped",
        "train_optim/optim_step",
        "train/step_time",
        "timers/.*",
        "val_rollouts/.*",
        "train_rollouts/.*",
    ),
    never=("clip_fraction", "entropy", "explained_variance", "reward_spread"),
    note=(
        "train_optim writes several rows for one step; train_optim/optim_step orders them. The critic server writes "
        "a log of its own. rewards_with_kl is a mean per token in PPO. scaled_entropy is the entropy times its "
        "bonus, and 0 when the bonus is off."
    ),
    sources=("NVIDIA/NeMo-Aligner",),
)
