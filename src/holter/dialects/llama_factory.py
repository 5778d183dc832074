"""LLaMA-Factory PPO (TRL 0.9): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature

LLAMA_FACTORY = Dialect(
    name="llama-factory",
    title="LLaMA-Factory PPO (TRL 0.9)",
    step=("current_steps", "step"),
    axis="PPO step; trainer_log.jsonl current_steps",
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
        Name("step", "step", offset=1.0, note="zero based"),
        Name("loss", "loss", note="ppo/loss/total rounded to 4 digits"),
        Name("reward", "reward", note="raw reward-model mean"),
        Name("lr", "lr"),
        Name("learning_rate", "lr"),
        Name("epoch", "epoch"),
        Name("accuracy", "accuracy", note="reward-model stage, not PPO"),
        Name("throughput", "throughput/tokens_per_s", fit=Fit.CLOSE),
        Name("total_tokens", "num_tokens"),
    ),
    ignored=("total_steps", "percentage", "elapsed_time", "remaining_time", "predict_loss", "vram_.*"),
    never=("KL, entropy, clip fraction in files (only through report_to)",),
    note="Non-finite values: None dropped (older versions: null); the writer thread can lose rows; values rounded to 4 digits. Steps: trainer_state.json log_history step is zero based in PPO: one behind.",
)
