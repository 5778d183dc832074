"""LLaMA-Factory's PPO stage, whose ``trainer_log.jsonl`` holds loss, reward and learning rate and nothing else.

Its worst trap: KL, entropy and clip fraction never reach the file; they go to the tracker named in ``report_to`` only.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature

LLAMA_FACTORY = Dialect(
    name="llama-factory",
    title="LLaMA-Factory PPO",
    spoken_by="LLaMA-Factory main, 2026-08 (trl 0.9)",
    step=("current_steps", "step"),
    axis="PPO step",
    prefixes=("train/",),
    eval_prefixes=("eval_",),
    inherits="trl-ppo-classic",
    priority=10,
    signatures=(Signature(all=("current_steps", "total_steps")),),
    row=(
        "current_steps",
        "total_steps",
        "loss",
        "reward",
        "lr",
        "epoch",
        "percentage",
        "elapsed_time",
        "remaining_time",
    ),
    names=(
        Name("current_steps", "step"),
        Name("step", "step", offset=1.0, note="Counts from zero."),
        Name("loss", "loss", note="Total PPO loss rounded to four digits."),
        Name("reward", "reward", note="Mean score of the reward model."),
        Name("lr", "lr"),
        Name("learning_rate", "lr"),
        Name("epoch", "epoch"),
        Name("accuracy", "accuracy", note="Of the reward-model stage, not of PPO."),
        Name("throughput", "throughput/tokens_per_s", fit=Fit.CLOSE),
        Name("total_tokens", "num_tokens"),
    ),
    ignored=("total_steps", "percentage", "elapsed_time", "remaining_time", "predict_loss", "vram_.*"),
    note=(
        "The step in trainer_state.json counts from zero during PPO and so stays one behind. Values are rounded to "
        "four digits. The writer thread can lose rows. Trackers receive the full set of TRL's first PPO trainer."
    ),
    sources=("hiyouga/LLaMA-Factory",),
)
