"""ColossalChat GRPO (single trainer): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator

COLOSSALCHAT_GRPO = Dialect(
    name="colossalchat-grpo",
    title="ColossalChat GRPO (single trainer)",
    step=("step",),
    axis="num_train_step (may be fractional)",
    priority=280,
    signatures=(Signature(all=("approx_kl", "token_cost")),),
    row=("train/actor_loss", "train/max_ratio", "train/skip_ratio", "reward", "token_cost", "approx_kl", "advantages"),
    names=(
        Name("reward", "objective/rlhf_reward", note="KL penalty included"),
        Name(
            "approx_kl",
            "kl",
            scale=-1.0,
            estimator=Estimator.K1,
            fit=Fit.PROXY,
            note="TRAP: -kl_coef * mean(logp - ref); divide by kl_coef after the sign change",
        ),
        Name("advantages", "advantages/mean"),
        Name("token_cost", "completions/mean_terminated_length", note="properly ended responses only"),
        Name("train/actor_loss", "loss/policy_avg"),
        Name("train/max_ratio", "val/ratio_max"),
        Name("train/skip_ratio", "health/update_skipped"),
        Name("train/lr_actor", "lr"),
        Name("train/ptx_loss", "loss/aux"),
    ),
    never=("entropy", "clip fraction", "grad_norm"),
    note="Non-finite values: as colossalchat_ppo.",
)
