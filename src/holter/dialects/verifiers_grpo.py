"""The GRPO trainer of the verifiers library, forked from TRL.

Its worst trap: a reward function is called ``rewards/<name>``, without ``/mean``, and evaluation copies exist of all.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Null, Signature

VERIFIERS_GRPO = Dialect(
    name="verifiers-grpo",
    title="verifiers GRPOTrainer",
    spoken_by="verifiers up to 0.1.5",
    step=("global_step", "step"),
    axis="optimizer step",
    inherits="trl-grpo",
    null=Null.NAN,
    priority=410,
    signatures=(Signature(all=("completions/mean_length", "rewards/[^/]+"), none=("rewards/.+/mean",)),),
    row=(
        "loss",
        "reward",
        "reward_std",
        "rewards/check_answer",
        "completions/mean_length",
        "completions/clipped_ratio",
        "kl",
        "epoch",
    ),
    note=(
        "Reward functions are logged as rewards/<name> without /mean; eval_rewards/* and eval_completions/* are "
        "written too."
    ),
    sources=("willccbb/verifiers",),
)
