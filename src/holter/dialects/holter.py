"""Holter's own trainers and recorder: every signal under its canonical key, which is TRL's name wherever TRL has one.

Nothing is to be converted. What sets it apart from the TRL logs that it resembles is what TRL does not log.
"""

from __future__ import annotations

import re

from holter.dialects.base import Dialect, Name, Signature
from holter.signals.catalog import catalog


def _entry(key: str) -> Name:
    if "{" not in key:
        return Name(key, key)
    parts = re.split(r"(\{\w+\})", key)
    raw = "".join(f"(?P<{p[1:-1]}>.+)" if p.startswith("{") else re.escape(p) for p in parts)
    return Name(raw, key, pattern=True)


HOLTER = Dialect(
    name="holter",
    title="Holter's recorder and trainers",
    spoken_by="holter 0.1",
    step=("step",),
    axis="optimizer step (GRPO), update (PPO), or what the caller counts",
    prefixes=("train/",),
    eval_prefixes=("eval/", "eval_"),
    priority=300,
    signatures=(
        Signature(all=("reward/nan_fraction", "advantages/abs_max", "completions/eos_ratio")),
        Signature(all=("objective/scores", "policy/kl_k1_avg", "advantages/abs_max")),
    ),
    row=(
        "loss",
        "grad_norm",
        "learning_rate",
        "reward",
        "reward_std",
        "reward_group_std",
        "reward/nan_fraction",
        "rewards/f/mean",
        "kl",
        "entropy",
        "advantages/abs_max",
        "completions/mean_length",
        "completions/eos_ratio",
        "time/rollout",
        "epoch",
    ),
    names=(
        Name("learning_rate", "lr", note="Of the first parameter group; others are learning_rate/1 and so on."),
        *(_entry(key) for key in sorted(catalog(), key=lambda k: ("{" in k, k)) if not key.startswith("eval/")),
        Name("eval/time", "eval/time"),
        Name("eval_time", "eval/time"),
    ),
    ignored=(
        r"learning_rate/\d+",
        "train_(loss|runtime|samples_per_second|steps_per_second)",
        "total_flos",
    ),
    sources=("holter.trainers, holter.recorder",),
)
