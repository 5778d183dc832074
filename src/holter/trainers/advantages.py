"""From rewards to advantages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from holter.signals import group_advantages, group_statistics

if TYPE_CHECKING:
    from torch import Tensor

    from holter.signals.grouped import GroupStatistics

EPS = 1e-4
"""Added to a standard deviation before dividing by it, as TRL does."""


def group_relative(rewards: Tensor, group_size: int, scale: str, statistics: GroupStatistics | None = None) -> Tensor:
    """Rewards less the mean of their group, over a spread. Shape ``(B,)``.

    Args:
        rewards: Reward of each completion, those of a prompt next to each other; NaN where unscored. Shape ``(B,)``.
        group_size: Completions of each prompt.
        scale: Divide by the standard deviation of the ``group``, of the whole ``batch``, or by ``none``.
        statistics: Those of the groups, where they are known already.

    Returns:
        0 for a completion that was not scored, and for all completions of a group with an infinite reward: how much better
        than the others one is then has no number, and a huge one would throw the policy out.
    """
    if scale == "batch":
        out = group_advantages(rewards, group_size, scale=False, statistics=statistics)
        spread = group_statistics(rewards.where(rewards.isfinite(), float("nan")), rewards.numel()).std
        out = out / (torch.nan_to_num(spread, nan=0.0) + EPS)
    else:
        out = group_advantages(rewards, group_size, scale=scale == "group", eps=EPS, statistics=statistics)
    return out.where(out.isfinite(), 0.0)
