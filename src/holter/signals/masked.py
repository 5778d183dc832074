"""Sums, means and variances over the tokens that count.

A batch of completions is a padded matrix; what stands in the padding is arbitrary and may be NaN. So masked entries are
*replaced*, never multiplied by zero, and a NaN under the mask is kept. Means of parts do not add up to a mean, sums and counts
do: every mean here comes as a `Tally` too, which is what the recorder folds over micro-batches and processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


class Tally(NamedTuple):
    """A mean that can still be merged with others.

    Attributes:
        total: Sum of the values that count. Scalar, or one a row.
        count: How many they are. Same shape.
    """

    total: Tensor
    count: Tensor

    @property
    def mean(self) -> Tensor:
        """The mean; NaN where nothing counts."""
        return self.total / self.count


def widened(values: Tensor) -> Tensor:
    """The values in at least float32, so that sums of half-precision numbers, integers and booleans are sums."""
    return values if values.is_floating_point() and values.element_size() >= 4 else values.float()


def tally(values: Tensor, mask: Tensor | None = None, dim: int | None = None) -> Tally:
    """Sum and count of the values that count.

    Args:
        values: Any numeric type. Shape ``(B, T)`` or any other.
        mask: 1 where a value counts, else 0; None counts all. Shape of `values`, or broadcast to it.
        dim: Axis to reduce, -1 for one tally a sequence; None for all of them.
    """
    wide = widened(values)
    kept = wide.new_ones(()).expand_as(wide) if mask is None else mask.bool().expand_as(wide)
    if mask is not None:
        wide = wide.where(kept, 0.0)
    if dim is None:
        return Tally(wide.sum(), kept.sum())
    return Tally(wide.sum(dim), kept.sum(dim))


def masked_sum(values: Tensor, mask: Tensor | None = None, dim: int | None = None) -> Tensor:
    """Sum of the values that count; 0 where none does. Arguments as for `tally`."""
    return tally(values, mask, dim).total


def masked_mean(values: Tensor, mask: Tensor | None = None, dim: int | None = None) -> Tensor:
    """Mean of the values that count, each weighing the same; NaN where none does. Arguments as for `tally`."""
    return tally(values, mask, dim).mean


def masked_var(values: Tensor, mask: Tensor | None = None, *, unbiased: bool = True) -> Tensor:
    """Variance of all values that count, by the two-pass formula.

    Args:
        values: Shape ``(B, T)`` or any other.
        mask: 1 where a value counts. Same shape.
        unbiased: Divide by ``n - 1`` instead of ``n``.

    Returns:
        Scalar, never negative; NaN for fewer than two values (one, if biased).
    """
    total, count = tally(values, mask)
    squares = tally((widened(values) - total / count).square(), mask).total
    return squares / (count - 1 if unbiased else count)


def masked_min(values: Tensor, mask: Tensor | None = None) -> Tensor:
    """Least value that counts; +inf where none does, NaN where one is NaN. Scalar."""
    wide = widened(values)
    return (wide if mask is None else wide.where(mask.bool(), float("inf"))).amin()


def masked_max(values: Tensor, mask: Tensor | None = None) -> Tensor:
    """Greatest value that counts; -inf where none does, NaN where one is NaN. Scalar."""
    wide = widened(values)
    return (wide if mask is None else wide.where(mask.bool(), float("-inf"))).amax()


def whiten(
    values: Tensor,
    mask: Tensor | None = None,
    *,
    shift_mean: bool = True,
    mean: Tensor | None = None,
    var: Tensor | None = None,
    eps: float = 1e-8,
) -> Tensor:
    """Values scaled to variance 1, and to mean 0 unless the mean is to stay.

    Args:
        values: Advantages or rewards. Shape ``(B, T)``.
        mask: 1 where a value counts; the rest becomes 0 and does not enter the moments. Same shape.
        shift_mean: Whether the mean becomes 0; False keeps it, for rewards, whose sign means something.
        mean: Mean over all processes, where the batch is spread over several; the batch's own by default.
        var: Variance over all processes, likewise.
        eps: Added to the variance.

    Returns:
        Shape ``(B, T)``. NaN where fewer than two values count.
    """
    wide = widened(values)
    center = masked_mean(wide, mask) if mean is None else mean
    spread = masked_var(wide, mask) if var is None else var
    out = (wide - center) * (spread + eps).rsqrt()
    if not shift_mean:
        out = out + center
    return out if mask is None else out.where(mask.bool(), 0.0)
