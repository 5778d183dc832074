"""ColossalChat's PPO trainer.

Its worst trap: ``approx_kl`` is the KL to the reference model, not to the old policy.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

COLOSSALCHAT_PPO = Dialect(
    name="colossalchat-ppo",
    title="ColossalChat PPO",
    spoken_by="ColossalAI main, 2026-08",
    step=("step",),
    axis="num_train_step (optimizer step)",
    priority=290,
    signatures=(Signature(all=("approx_kl",), any=("train/skip_ratio", "train/max_ratio")),),
    row=(
        "train/actor_loss",
        "train/critic_loss",
        "train/max_ratio",
        "train/skip_ratio",
        "reward",
        "approx_kl",
        "value",
        "advantages",
    ),
    names=(
        Name("reward", "reward"),
        Name(
            "approx_kl",
            "kl",
            estimator=Estimator.K3,
            reduction=Reduction.PADDED,
            fit=Fit.CLOSE,
            note="KL to the reference model, not to the old policy.",
        ),
        Name("value", "value/mean"),
        Name("advantages", "advantages/mean"),
        Name("train/actor_loss", "loss/policy_avg"),
        Name("train/critic_loss", "loss/value_avg", fit=Fit.CLOSE, note="Includes vf_coef."),
        Name("train/max_ratio", "val/ratio_max"),
        Name("train/skip_ratio", "health/update_skipped"),
        Name("train/lr_actor", "lr"),
        Name("train/lr_critic", "critic/lr"),
        Name("train/ptx_loss", "loss/aux"),
    ),
    never=("entropy", "clip_fraction", "length", "grad_norm", "explained_variance", "policy_kl"),
    note=(
        "Values are cast to float16 before they are logged, so anything above 65504 becomes infinite. The critic "
        "loss includes its coefficient."
    ),
    sources=("hpcaitech/ColossalAI",),
)
