"""Importance ratios between the policy being trained and the policy that sampled, and what clipping does to them.

A mean ratio of 1.00 hides everything: in runs that broke, a third of the tokens were clipped while the mean stayed within
5 % of 1. So the spread and the extremes are measured too. Two fractions go by the name of clip fraction: tokens *outside* the
range, and tokens whose gradient the clip *cuts* (outside on the side that the advantage pushes to). PPO and GRPO log the
second.

References:
    Schulman et al., "Proximal Policy Optimization Algorithms" (2017), eq. 7.
    Yu et al., "DAPO" (2025), clip-higher.  Zheng et al., "Group Sequence Policy Optimization" (2025).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holter.signals.masked import Tally, masked_max, masked_min, tally

if TYPE_CHECKING:
    from torch import Tensor


def log_ratio(logprobs: Tensor, old_logprobs: Tensor, mask: Tensor) -> Tensor:
    """New minus old log-probability of the sampled tokens; 0 where masked, whatever stands there.

    Args:
        logprobs: Under the policy being trained. Shape ``(B, T)``, nats.
        old_logprobs: Under the policy that sampled. Shape ``(B, T)``, nats.
        mask: 1 on completion tokens up to and including EOS, else 0. Shape ``(B, T)``.
    """
    return (logprobs - old_logprobs).where(mask.bool(), 0.0)


def sequence_log_ratio(token_log_ratio: Tensor, mask: Tensor) -> Tensor:
    """Mean log-ratio of each completion: the ratio of a sequence, length-normalised. Shape ``(B, 1)``, nats/token.

    0 for a completion without tokens.
    """
    total, count = tally(token_log_ratio, mask, dim=-1)
    return (total / count.clamp(min=1)).unsqueeze(-1)


def ratio(logprobs: Tensor, old_logprobs: Tensor, mask: Tensor) -> Tensor:
    """Importance ratio of each token, exactly 1 where masked. Shape ``(B, T)``. Arguments as for `log_ratio`."""
    return log_ratio(logprobs, old_logprobs, mask).exp()


class RatioStatistics(NamedTuple):
    """Spread of the importance ratios of a batch.

    Attributes:
        mean: Tally of the ratios; 1 on average when nothing moved.
        square: Tally of their squares; the variance is ``square.mean - mean.mean ** 2``.
        least: Least ratio; +inf for an empty mask.
        greatest: Greatest ratio; -inf for an empty mask.
    """

    mean: Tally
    square: Tally
    least: Tensor
    greatest: Tensor


def ratio_statistics(ratios: Tensor, mask: Tensor) -> RatioStatistics:
    """Mean, spread and extremes of the ratios of the tokens that count. Shapes ``(B, T)``."""
    return RatioStatistics(
        tally(ratios, mask), tally(ratios.double().square(), mask), masked_min(ratios, mask), masked_max(ratios, mask)
    )


def clip_fraction(token_log_ratio: Tensor, mask: Tensor, low: float = 0.2, high: float = 0.2) -> Tensor:
    """Share of completion tokens whose ratio left the clip range, whichever way the advantage points.

    Args:
        token_log_ratio: New minus old log-probability of the sampled tokens. Shape ``(B, T)``, nats.
        mask: 1 on completion tokens up to and including EOS, else 0. Shape ``(B, T)``.
        low: Clip range below 1; the lower bound is ``1 - low``.
        high: Clip range above 1; the upper bound is ``1 + high``.

    Returns:
        Scalar fraction in [0, 1], weighted by token. NaN when the mask is empty.
    """
    ratios = token_log_ratio.exp()
    return tally((ratios < 1 - low) | (ratios > 1 + high), mask).mean


class Clipped(NamedTuple):
    """Which entries have their gradient cut by the clip. All of the shape of the ratios, boolean.

    Attributes:
        low: Ratio below ``1 - low`` while the advantage is negative.
        high: Ratio above ``1 + high`` while the advantage is positive.
        region: Either.
    """

    low: Tensor
    high: Tensor
    region: Tensor


def clipped(ratios: Tensor, advantages: Tensor, low: float = 0.2, high: float = 0.2) -> Clipped:
    """Where PPO's clip binds, that is where ``min(A r, A clip(r))`` is the clipped term and its gradient 0.

    Mask it when it is counted: ``tally(clipped(...).low, mask)``. All False on-policy, where every ratio is 1: that is
    arithmetic, not a fault.

    Args:
        ratios: Shape ``(B, T)``, or ``(B, 1)`` for ratios of sequences.
        advantages: Shape ``(B, T)``, or ``(B, 1)`` for one advantage a completion.
        low: Clip range below 1.
        high: Clip range above 1.
    """
    below = (ratios < 1 - low) & (advantages < 0)
    above = (ratios > 1 + high) & (advantages > 0)
    return Clipped(below, above, below | above)


def clipped_per_sequence(entries: Tensor, mask: Tensor) -> Tensor:
    """Share of clipped entries in each completion; NaN for one without tokens. Shape ``(B,)``, fraction.

    Its least and greatest value over the batch are ``clip_ratio/low_min`` and ``clip_ratio/high_max``.
    """
    return tally(entries, mask, dim=-1).mean


def value_clipped(values: Tensor, old_values: Tensor, returns: Tensor, clip: float = 0.2) -> Tensor:
    """Where the clipped value loss is the greater one, so that the value's gradient is cut. Boolean, shape ``(B, T)``.

    The range is absolute, in reward units: with large rewards the value function can hardly move.

    Args:
        values: Values now. Shape ``(B, T)``, reward.
        old_values: Values when the batch was sampled. Shape ``(B, T)``, reward.
        returns: What they are led to. Shape ``(B, T)``, reward.
        clip: How far a value may move from its old one.
    """
    # Bounded so, and not by what is added to the old value, a value within the range stays what it is to the last digit.
    bounded = values.clamp(old_values - clip, old_values + clip)
    return (bounded - returns).square() > (values - returns).square()
