"""Hugging Face Trainer base layer: its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature
from holter.signals.base import Reduction

HF_TRAINER = Dialect(
    name="hf-trainer",
    title="Hugging Face Trainer base layer",
    step=("step", "global_step"),
    axis="optimizer step (state.global_step)",
    prefixes=("train/",),
    eval_prefixes=("eval/", "eval_"),
    null=Null.NAN,
    priority=430,
    signatures=(
        Signature(any=("rewards/margins", "rewards/chosen", "logps/chosen")),
        Signature(all=("loss", "learning_rate", "epoch"), none=(".*reward.*", ".*kl.*")),
        Signature(all=("loss", "learning_rate"), any=("epoch", "step")),
    ),
    row=(
        "loss",
        "grad_norm",
        "learning_rate",
        "rewards/chosen",
        "rewards/rejected",
        "rewards/margins",
        "rewards/accuracies",
        "logps/chosen",
        "epoch",
    ),
    names=(
        Name("step", "step"),
        Name("global_step", "step", note="train/global_step of W&B and Trackio"),
        Name("epoch", "epoch"),
        Name(
            "loss", "loss", reduction=Reduction.MICRO_BATCH, note="mean since the last log row; 4.x rounds to 4 digits"
        ),
        Name("grad_norm", "grad_norm"),
        Name("learning_rate", "lr"),
        Name("num_input_tokens_seen", "num_tokens"),
        Name("train_runtime", "time/total", note="last row only"),
        Name(
            "train_samples_per_second",
            "throughput/samples_per_s",
            fit=Fit.CLOSE,
            note="last row only, run average; 0-length for RL data sizes",
        ),
        Name("runtime", "time/total", note="eval_runtime after prefix removal = eval/time/total"),
    ),
    ignored=(
        "train_loss",
        "total_flos",
        "train_steps_per_second",
        "samples_per_second",
        "steps_per_second",
        "mean_token_accuracy",
        "rewards/(chosen|rejected|margins|accuracies)",
        "(logps|logits)/.*",
    ),
    note="Non-finite values: logging_nan_inf_filter (default true) replaces a NaN/inf loss by the running mean: look at grad_norm; None is dropped by TensorBoard and MLflow. Steps: W&B _step is not global_step: tables and profiling also advance it; use train/global_step.",
)
