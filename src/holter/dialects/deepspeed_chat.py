"""DeepSpeed-Chat (step 3): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Reduction

DEEPSPEED_CHAT = Dialect(
    name="deepspeed-chat",
    title="DeepSpeed-Chat (step 3)",
    step=("Step", "step"),
    axis="data-loader step inside the epoch: falls back to 0 each epoch",
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
            note="mean over the experience batches of the step",
        ),
        Name("Average reward score", "reward", note="console"),
        Name("average reward score", "reward", note="older console"),
        Name("actor_loss", "loss/policy_avg", reduction=Reduction.LAST),
        Name("Actor Loss", "loss/policy_avg", note="console"),
        Name("act_loss", "loss/policy_avg", note="older console"),
        Name(
            "critic_loss",
            "loss/value_avg",
            reduction=Reduction.LAST,
            note="2023 versions added the actor loss by mistake",
        ),
        Name("Critic Loss", "loss/value_avg", note="console"),
        Name("cri_loss", "loss/value_avg", note="older console"),
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
    ignored=("actor_loss_sum", "critic_loss_sum", "EMA\\ reward\\ score", "PPO\\ Epoch", "ppo_ep"),
    never=("KL", "entropy", "clip fraction", "response length", "grad_norm", "learning rate", "value"),
    note="Non-finite values: inf and nan printed as such (fp16 reward overflow is common).",
)
