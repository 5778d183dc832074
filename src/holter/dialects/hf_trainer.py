"""The base layer of every trainer built on Hugging Face's ``Trainer``: loss, gradient norm, learning rate, epoch.

Its worst trap: a NaN loss never shows. ``logging_nan_inf_filter`` puts the running mean in its place, so only
``grad_norm`` tells.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature
from holter.signals.base import Reduction

HF_TRAINER = Dialect(
    name="hf-trainer",
    title="Hugging Face Trainer",
    spoken_by="transformers 4.x - 5.24",
    step=("global_step", "step"),
    axis="optimizer step (state.global_step)",
    prefixes=("train/",),
    eval_prefixes=("eval/", "eval_"),
    null=Null.NAN,
    priority=430,
    signatures=(
        Signature(any=("Training Loss",)),
        Signature(any=("rewards/margins", "rewards/chosen", "logps/chosen")),
        Signature(all=("loss", "learning_rate"), any=("epoch", "step"), none=(".*(reward|score|return|kl).*",)),
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
        Name("global_step", "step", note="train/global_step of W&B and Trackio."),
        Name("epoch", "epoch"),
        Name(
            "loss",
            "loss",
            reduction=Reduction.MICRO_BATCH,
            note="Mean since the last logged row; transformers 4 rounds to four digits.",
        ),
        Name("Step", "step", note="Of the notebook table."),
        Name("Training Loss", "loss", note="Of the notebook table."),
        Name("Validation Loss", "eval/loss", note="Of the notebook table."),
        Name("grad_norm", "grad_norm"),
        Name("learning_rate", "lr"),
        Name("num_input_tokens_seen", "num_tokens"),
        Name("train_runtime", "time/total", note="In the last row only."),
        Name(
            "train_samples_per_second",
            "throughput/samples_per_s",
            fit=Fit.CLOSE,
            note="In the last row only, an average over the run; RL trainers often leave it 0.",
        ),
        Name("runtime", "eval/time", note="eval_runtime once its prefix is off: how long an evaluation took."),
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
    note=(
        "A NaN or infinite loss is replaced by the running mean before it is logged (logging_nan_inf_filter, on by "
        "default): look at grad_norm. A value of None is written as null to trainer_state.json and dropped by "
        "TensorBoard and MLflow. In W&B, _step counts calls of log, not training steps; train/global_step is the "
        "axis."
    ),
    sources=("transformers 5.24",),
)
