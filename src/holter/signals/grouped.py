"""Rewards within groups of completions of one prompt: what GRPO's advantages are made of.

The spread *within* groups is the learning signal; the spread over the batch also holds how hard the prompts are, and can be
large while every group agrees and nothing is learned. A reward function may leave a completion unscored (NaN): it is left
out of its group, and a group with fewer than two scores has no spread, which is not a spread of zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holter.language import told
from holter.signals.masked import widened

if TYPE_CHECKING:
    from torch import Tensor

SAME = 1e-8
"""Rewards of a group that differ by less than this are the same: no normalisation makes a signal of it."""


class GroupStatistics(NamedTuple):
    """Statistics of each group. All of shape ``(P,)``.

    Attributes:
        mean: Mean reward; NaN for a group without a score.
        std: Standard deviation (n - 1); NaN with fewer than two scores.
        scored: Number of completions that were scored.
        zero: Whether all scores of the group are the same; False with fewer than two scores.
    """

    mean: Tensor
    std: Tensor
    scored: Tensor
    zero: Tensor


def group_statistics(rewards: Tensor, group_size: int) -> GroupStatistics:
    """Mean, spread and unanimity of each group.

    Args:
        rewards: One reward a completion, completions of a prompt next to each other; NaN where unscored. Shape ``(B,)``.
        group_size: Completions of a prompt, ``G``; ``B = P G``.

    Raises:
        ValueError: When the batch does not consist of whole groups.
    """
    if rewards.dim() != 1 or rewards.shape[0] % group_size:
        raise ValueError(
            told(
                "rewards of shape {shape} are not whole groups of {group_size}",
                shape=tuple(rewards.shape),
                group_size=group_size,
            )
        )
    grouped = widened(rewards).view(-1, group_size)
    known = ~grouped.isnan()
    scored = known.sum(-1)
    mean = grouped.where(known, 0.0).sum(-1) / scored
    deviation = (grouped - mean.unsqueeze(-1)).where(known, 0.0)
    std = (deviation.square().sum(-1) / (scored - 1)).sqrt()
    spread = grouped.where(known, float("-inf")).amax(-1) - grouped.where(known, float("inf")).amin(-1)
    return GroupStatistics(mean, std.where(scored > 1, float("nan")), scored, (spread <= SAME) & (scored > 1))


def group_advantages(
    rewards: Tensor,
    group_size: int,
    *,
    scale: bool = True,
    eps: float = 1e-4,
    statistics: GroupStatistics | None = None,
) -> Tensor:
    """Rewards less their group's mean, over their group's spread. Shape ``(B,)``, 0 where unscored.

    An infinite reward makes the advantages of its group NaN, not huge: on a large finite number the update would go on.

    Args:
        rewards: As for `group_statistics`.
        group_size: As for `group_statistics`.
        scale: Whether to divide by the group's standard deviation (Dr. GRPO does not).
        eps: Added to the standard deviation.
        statistics: Those of these groups, where they are known already.

    References:
        Shao et al., "DeepSeekMath" (2024), section 4.1. Liu et al., "Understanding R1-Zero-Like Training" (2025).
    """
    statistics = statistics or group_statistics(rewards, group_size)
    grouped = widened(rewards).view(-1, group_size)
    out = grouped - statistics.mean.unsqueeze(-1)
    if scale:
        out = out / (statistics.std.where(statistics.scored > 1, 0.0).unsqueeze(-1) + eps)
    out = out.where(statistics.mean.isfinite().unsqueeze(-1), float("nan"))
    return out.where(~grouped.isnan(), 0.0).view(-1)
