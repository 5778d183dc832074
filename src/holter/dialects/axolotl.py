"""Axolotl's GRPO, which is TRL's with memory and token counters added.

Its worst trap: ``ppl`` is the exponential of the loss, which means nothing for a policy gradient loss.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Null, Signature

AXOLOTL = Dialect(
    name="axolotl",
    title="Axolotl GRPO (TRL)",
    spoken_by="axolotl main, 2026-08",
    step=("global_step", "step"),
    axis="optimizer step",
    inherits="trl-grpo",
    null=Null.NAN,
    priority=20,
    signatures=(
        Signature(
            any=(
                r"memory/max_a(ctive|llocated) \(GiB\)",
                r"memory/device_reserved \(GiB\)",
                "tokens/train_per_sec_per_gpu",
            )
        ),
    ),
    row=(
        "loss",
        "grad_norm",
        "learning_rate",
        "num_tokens",
        "completions/mean_length",
        "rewards/f/mean",
        "reward",
        "reward_std",
        "kl",
        "epoch",
        "memory/max_active (GiB)",
        "memory/max_allocated (GiB)",
        "memory/device_reserved (GiB)",
    ),
    names=(
        Name("memory/max_allocated (GiB)", "memory/peak_gb", scale=1.073741824),
        Name("tokens/train_per_sec_per_gpu", "throughput/tokens_per_s_per_gpu"),
        Name("tokens/total", "num_tokens"),
    ),
    ignored=(
        "ppl",
        "eval_ppl",
        r"memory/max_active \(GiB\)",
        r"memory/device_reserved \(GiB\)",
        "tokens/trainable",
        "ebft/.*",
    ),
    note="ppl is exp(loss) and says nothing about an RL loss; it is left aside. Memory is in GiB.",
    sources=("axolotl-ai-cloud/axolotl",),
)
