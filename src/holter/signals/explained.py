"""How much of the returns the value function explains."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holter.signals.masked import masked_var, tally, widened

if TYPE_CHECKING:
    from torch import Tensor


def explained_variance(values: Tensor, returns: Tensor, mask: Tensor | None = None) -> Tensor:
    """``1 - Var(returns - values) / Var(returns)``: 1 is perfect, 0 a constant, below 0 worse than a constant.

    Args:
        values: Predicted values. Shape ``(B, T)``, reward.
        returns: What they should have predicted. Shape ``(B, T)``, reward.
        mask: 1 where a position counts. Shape ``(B, T)``.

    Returns:
        Scalar, at most 1. NaN when the returns do not vary, -inf when only the errors do so beyond float range.
    """
    spread = masked_var(returns, mask, unbiased=False)
    unexplained = masked_var(returns - values, mask, unbiased=False)
    return (1 - unexplained / spread).where(spread > 0, float("nan"))


class ExplainedParts(NamedTuple):
    """Sums from which the explained variance of several batches together follows; scalars in float64.

    Attributes:
        count: How many positions count.
        returns: Sum of the returns.
        returns_squared: Sum of their squares.
        errors: Sum of ``returns - values``.
        errors_squared: Sum of their squares.
    """

    count: Tensor
    returns: Tensor
    returns_squared: Tensor
    errors: Tensor
    errors_squared: Tensor


def explained_parts(values: Tensor, returns: Tensor, mask: Tensor | None = None) -> ExplainedParts:
    """The parts of `explained_variance`, which add up over micro-batches and processes. Arguments as there."""
    target = widened(returns).double()
    error = target - values
    total, count = tally(target, mask)
    return ExplainedParts(
        count, total, tally(target.square(), mask).total, tally(error, mask).total, tally(error.square(), mask).total
    )
