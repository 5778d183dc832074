"""MiniMind's GRPO trainer, on the console and in SwanLab.

Its trap: ``KL_ref`` is the mean of log p_ref - log p over sampled tokens, k1 with its sign turned; it is turned back on reading.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Signature
from holter.signals.base import Estimator

MINIMIND_GRPO = Dialect(
    name="minimind-grpo",
    title="MiniMind GRPO",
    spoken_by="minimind master, 2026",
    step=("step",),
    axis="batch",
    prefixes=("train/",),
    priority=260,
    signatures=(
        Signature(
            all=("KL_ref|kl_ref", "Adv[ _]Std|advantages_std", "Avg[ _]Response[ _]Len|avg_response_len"),
            none=("Critic[ _]Loss|critic_loss",),
        ),
    ),
    row=("Reward", "KL_ref", "Adv Std", "Adv Mean", "Actor Loss", "Avg Response Len", "Learning Rate"),
    snake=True,
    names=(
        Name("reward", "reward"),
        Name("kl_ref", "kl", scale=-1.0, estimator=Estimator.K1, note="log p_ref - log p: the sign is turned."),
        Name("adv_std", "advantages/std"),
        Name("advantages_std", "advantages/std"),
        Name("adv_mean", "advantages/mean"),
        Name("advantages_mean", "advantages/mean"),
        Name("actor_loss", "loss/policy_avg"),
        Name("policy_loss", "loss/policy_avg"),
        Name("avg_response_len", "completions/mean_length"),
        Name("learning_rate", "lr"),
    ),
    never=("grad_norm", "entropy", "reward_spread", "truncation", "value_loss", "clip_fraction"),
    sources=("jingyaogong/minimind",),
)
