"""RAGEN, agents of many turns on verl, with signals of its own for template collapse.

Its worst trap: ``rollout/in_group_reward_max`` is the mean over groups of each group's best, not a maximum.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature

RAGEN = Dialect(
    name="ragen",
    title="RAGEN",
    spoken_by="RAGEN main, 2026-08",
    step=("step", "training/global_step"),
    axis="rollout batch",
    inherits="verl",
    null=Null.NAN,
    priority=130,
    signatures=(
        Signature(any=("collapse/.*", r"rollout/in_group_reward_\w+", "val-env/.*", "charts/avg_episode_return")),
    ),
    row=(
        "rollout/in_group_reward_std",
        "rollout/filter_kept_ratio",
        "train/bandit/success",
        "collapse/mi_estimate",
        "actor/pg_loss",
        "actor/ppo_kl",
        "critic/score/mean",
        "response_length/mean",
    ),
    names=(
        Name("train/(?P<name>[^/]+)/success", "accuracy", pattern=True, note="One for each environment."),
        Name("train/response_length", "completions/mean_length", fit=Fit.CLOSE),
        Name("(train/)?charts/avg_episode_return", "reward", pattern=True, fit=Fit.CLOSE),
        Name("rollout/in_group_reward_std", "reward_group_std"),
        Name(
            "rollout/in_group_reward_max", "reward/max", fit=Fit.PROXY, note="Mean over groups of the group's maximum."
        ),
        Name("rollout/filter_kept_ratio", "filter/kept_ratio"),
        Name("rollout/filter_zero_count", "groups/zero_std_count"),
        Name("actor/loss/policy", "loss/policy_avg"),
        Name("actor/loss/total", "loss"),
        Name("actor/loss/kl", "loss/kl_avg", fit=Fit.CLOSE),
        Name("actor/loss/entropy", "loss/entropy_avg", fit=Fit.PROXY),
        Name("val-env/(?P<name>.+)", "eval/{name}", pattern=True),
    ),
    ignored=("collapse/.*", "rollout/.*", "train/.*", "actor/grad_norm/.*"),
    note=(
        "collapse/* are mutual-information signals of template collapse that no other framework logs. "
        "actor/grad_norm/{task,kl,entropy} are norms of single loss terms."
    ),
    sources=("mll-lab-nu/RAGEN",),
)
