"""ColossalChat's GRPO trainer on a single node.

Its worst trap: ``approx_kl`` is minus the coefficient times the log-ratio to the reference. The sign is turned on
reading; the coefficient stays in.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator

COLOSSALCHAT_GRPO = Dialect(
    name="colossalchat-grpo",
    title="ColossalChat GRPO",
    spoken_by="ColossalAI main, 2026-08",
    step=("step",),
    axis="num_train_step (may be fractional)",
    priority=280,
    signatures=(Signature(all=("approx_kl", "token_cost")),),
    row=("train/actor_loss", "train/max_ratio", "train/skip_ratio", "reward", "token_cost", "approx_kl", "advantages"),
    names=(
        Name("reward", "objective/rlhf_reward", note="Includes the KL penalty."),
        Name(
            "approx_kl",
            "kl",
            scale=-1.0,
            estimator=Estimator.K1,
            fit=Fit.PROXY,
            note="Minus kl_coef times the log-ratio to the reference; the sign is turned, the coefficient stays in.",
        ),
        Name("advantages", "advantages/mean"),
        Name("token_cost", "completions/mean_terminated_length", note="Responses that ended properly only."),
        Name("train/actor_loss", "loss/policy_avg"),
        Name("train/max_ratio", "val/ratio_max"),
        Name("train/skip_ratio", "health/update_skipped"),
        Name("train/lr_actor", "lr"),
        Name("train/ptx_loss", "loss/aux"),
    ),
    never=("entropy", "clip_fraction", "grad_norm", "policy_kl", "value_loss"),
    note=(
        "Values are cast to float16 before they are logged. The reward includes the KL penalty. approx_kl is scaled "
        "by the KL coefficient, so only its trend can be read."
    ),
    sources=("hpcaitech/ColossalAI",),
)
