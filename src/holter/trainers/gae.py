"""From rewards and values of tokens to advantages and returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from holter.signals import tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

BLOCK = 256
"""Tokens whose advantages are computed by one product with a triangular matrix, which is what the recursion comes to."""


class Moments(NamedTuple):
    """Mean and unbiased variance of values that are spread over processes. Scalars."""

    mean: Tensor
    var: Tensor


def generalized_advantages(
    rewards: Tensor, values: Tensor, mask: Tensor, *, gamma: float, lam: float
) -> tuple[Tensor, Tensor]:
    """Generalized advantage estimates, and the returns that the value function should have predicted.

    A completion is an episode of its own: nothing is worth anything after its last token, whether it ended or was cut.

    Args:
        rewards: Reward of each token. Shape ``(B, T)``.
        values: What was expected before each token. Shape ``(B, T)``, reward.
        mask: 1 on completion tokens, which come first. Shape ``(B, T)``.
        gamma: Discount of later rewards.
        lam: 0 trusts the values, 1 the rewards.

    Returns:
        Advantages and returns, both of shape ``(B, T)``, reward, 0 where masked.

    References:
        Schulman et al., "High-Dimensional Continuous Control Using Generalized Advantage Estimation" (2015), eq. 16.
    """
    values = values.where(mask, 0.0)
    following = torch.nn.functional.pad(values[:, 1:], (0, 1))
    errors = rewards.where(mask, 0.0) + gamma * following - values
    decay, length = gamma * lam, values.shape[1]
    apart = torch.arange(min(BLOCK, length), device=values.device)
    apart = apart.unsqueeze(-1) - apart  # (t, s): how much later than s t is
    weights = torch.where(apart >= 0, decay ** apart.clamp(min=0).to(values.dtype), 0.0)
    advantages = torch.empty_like(values)
    later = values.new_zeros(len(values), 1)
    for end in range(length, 0, -BLOCK):
        start = max(0, end - BLOCK)
        size = end - start
        # To each token, what comes after the block is as far as the block's end.
        distance = decay ** torch.arange(size, 0, -1, device=values.device).to(values.dtype)
        advantages[:, start:end] = errors[:, start:end] @ weights[:size, :size] + later * distance
        later = advantages[:, start : start + 1]
    return advantages.where(mask, 0.0), (advantages + values).where(mask, 0.0)


def moments(values: Tensor, mask: Tensor, reduce: Callable[[Tensor], Tensor]) -> Moments:
    """Mean and variance over the batches of all processes together, by the two-pass formula.

    Args:
        values: Shape ``(B, T)``.
        mask: 1 where a value counts. Same shape.
        reduce: Sum of a tensor over all processes.

    Returns:
        The variance is 0 where fewer than two values count, so that whitening them divides by next to nothing but by no NaN.
    """
    total, count = reduce(torch.stack(list(tally(values, mask)))).unbind()
    mean = total / count.clamp(min=1)
    squares = reduce(tally((values - mean).square(), mask).total)
    return Moments(mean, squares / (count - 1).clamp(min=1))
