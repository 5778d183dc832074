"""DeepSpeed-Chat's third step, PPO, in its TensorBoard tags and its console lines of several generations.

Its worst trap: the step falls back to 0 with every epoch.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Reduction

DEEPSPEED_CHAT = Dialect(
    name="deepspeed-chat",
    title="DeepSpeed-Chat (step 3)",
    spoken_by="DeepSpeedExamples main, 2026-08",
    step=("Step", "step"),
    axis="data-loader step, counted on over epochs",
    prefixes=("ppo_",),
    priority=300,
    signatures=(
        Signature(
            any=(
                "actor_loss_sum",
                "critic_loss_sum",
                "act_loss",
                "Actor Loss",
                "average reward score",
                "Average reward score",
            )
        ),
    ),
    row=("reward", "actor_loss", "actor_loss_sum", "critic_loss", "critic_loss_sum"),
    names=(
        Name(
            "reward",
            "reward",
            reduction=Reduction.RANK,
            fit=Fit.CLOSE,
            note="Mean over the experience batches of the step.",
        ),
        Name("Average reward score", "reward", note="Console only."),
        Name("average reward score", "reward", note="Older consoles."),
        Name("actor_loss", "loss/policy_avg", reduction=Reduction.LAST),
        Name("Actor Loss", "loss/policy_avg", note="Console only."),
        Name("act_loss", "loss/policy_avg", note="Older consoles."),
        Name(
            "critic_loss",
            "loss/value_avg",
            reduction=Reduction.LAST,
            note="Versions of 2023 added the actor loss by mistake.",
        ),
        Name("Critic Loss", "loss/value_avg", note="Console only."),
        Name(
            "cri_loss",
            "loss/value_avg",
            fit=Fit.CLOSE,
            note="Older consoles; versions of 2023 added the actor loss by mistake, so that it can be negative.",
        ),
        Name("Unsupervised Loss", "loss/aux"),
        Name("unsuper_loss", "loss/aux"),
        Name("Epoch", "epoch"),
        Name("epoch", "epoch"),
        Name("Step", "step"),
        Name("step", "step"),
        Name("Samples/sec", "throughput/samples_per_s"),
        Name("Latency", "step_time"),
        Name("TFLOPs", "perf/tflops"),
    ),
    ignored=("actor_loss_sum", "critic_loss_sum", "EMA reward score", "PPO Epoch", "ppo_ep"),
    never=("ref_kl", "entropy", "clip_fraction", "length", "grad_norm", "lr", "value_mean"),
    note=(
        "inf and nan are printed as such; rewards overflow in fp16 often. Losses are those of the last mini-batch. "
        "Versions of 2023 added the actor loss to the critic loss by mistake."
    ),
    sources=("deepspeedai/DeepSpeedExamples",),
)
