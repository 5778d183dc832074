"""How values of one logging window become one number: over micro-batches, steps and processes.

Averages of averages weigh a micro-batch of ten tokens like one of ten thousand. So nothing is averaged before the end: a
metric is a few *lanes* (sum and count, a minimum, ...), lanes of parts merge by addition, minimum or maximum, and only a merged
whole is finished into a number. Merging is associative, so any way of cutting a batch gives the same number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Lanes: TypeAlias = "tuple[float, ...]"


class Op(Enum):
    """How one lane merges."""

    ADD = "add"
    MIN = "min"
    MAX = "max"
    MAIN = "main"
    """Adds within a process; of several processes the main one's counts."""

    @property
    def identity(self) -> float:
        """The value that changes nothing."""
        if self is Op.MIN:
            return math.inf
        return -math.inf if self is Op.MAX else 0.0

    def merge(self, one: float, other: float) -> float:
        """Both lanes in one. NaN wins: a minimum over a NaN is not known."""
        if self is Op.ADD or self is Op.MAIN:
            return one + other
        if one != one or other != other:
            return math.nan
        return min(one, other) if self is Op.MIN else max(one, other)


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to fold a metric.

    Attributes:
        name: What it is called.
        ops: How each lane merges.
        finish: The number that merged lanes stand for; None when nothing was recorded.
    """

    name: str
    ops: tuple[Op, ...]
    finish: Callable[[Lanes], float | None]

    @property
    def empty(self) -> Lanes:
        """The lanes of nothing."""
        return tuple(op.identity for op in self.ops)

    def merge(self, one: Lanes, other: Lanes) -> Lanes:
        """The lanes of both parts together."""
        return tuple(op.merge(a, b) for op, a, b in zip(self.ops, one, other, strict=True))

    def fold(self, parts: Iterable[Lanes]) -> Lanes:
        """The lanes of all parts together, in any grouping."""
        merged = self.empty
        for part in parts:
            merged = self.merge(merged, part)
        return merged


def _mean(lanes: Lanes) -> float | None:
    total, count = lanes
    return total / count if count else None


def _first(lanes: Lanes) -> float | None:
    value, count = lanes
    return value if count else None


def _variance(lanes: Lanes) -> float | None:
    """Unbiased; None for fewer than two values, of which there is no variance."""
    count, total, squares = lanes
    if count < 2:
        return None
    return _not_negative((squares - total * total / count) / (count - 1))


def _deviation(lanes: Lanes) -> float | None:
    variance = _variance(lanes)
    return None if variance is None else math.sqrt(variance)


def _explained(lanes: Lanes) -> float | None:
    """None where the returns do not vary, so that there is nothing to explain."""
    count, total, squares, error, error_squares = lanes
    if not count:
        return None
    spread = _not_negative(squares / count - (total / count) ** 2)
    if spread == 0:
        return None
    return 1 - _not_negative(error_squares / count - (error / count) ** 2) / spread


def _not_negative(value: float) -> float:
    """Rounding may leave a variance of zero a hair below it; NaN stays."""
    return 0.0 if value < 0 else value


MEAN = Kind("mean", (Op.ADD, Op.ADD), _mean)
"""Lanes: sum, count. Each value weighs the same, whatever batch it came in."""
SUM = Kind("sum", (Op.ADD, Op.ADD), _first)
"""Lanes: sum, count."""
MIN = Kind("min", (Op.MIN, Op.ADD), _first)
"""Lanes: least value, count."""
MAX = Kind("max", (Op.MAX, Op.ADD), _first)
"""Lanes: greatest value, count."""
VARIANCE = Kind("variance", (Op.ADD, Op.ADD, Op.ADD), _variance)
"""Lanes: count, sum, sum of squares; in float64, which holds them where the mean is up to 1e6 deviations from zero."""
DEVIATION = Kind("deviation", VARIANCE.ops, _deviation)
"""Square root of the variance; the same lanes."""
LAST = Kind("last", (Op.MAIN, Op.MAIN), _first)
"""Lanes: value, 1. The newest value of the main process: a learning rate, a coefficient."""
EXPLAINED_VARIANCE = Kind("explained variance", (Op.ADD,) * 5, _explained)
"""Lanes: those of `holter.signals.explained_parts`."""
KINDS = {kind.name: kind for kind in (MEAN, SUM, MIN, MAX, VARIANCE, DEVIATION, LAST, EXPLAINED_VARIANCE)}
"""All of them by name."""
