"""Sums and extremes of many metrics at once: ten reductions of one shape cost hardly more than one.

A step of a small model is a few hundred operations, and as many go into its metrics if each is reduced by itself. So tensors
wait here, without a copy, until a metric comes again: then the next micro-batch has begun, and what waited is stacked by shape
and reduced together. What comes out is what `holter.signals.masked` gives for each of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from holter.errors import HolterError
from holter.language import said
from holter.recorder.fold import DEVIATION, EXPLAINED_VARIANCE, MAX, MEAN, MIN, SUM, VARIANCE
from holter.signals.masked import widened

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from torch import Tensor

    from holter.recorder.fold import Kind


class RecordError(HolterError, ValueError):
    """A metric that was recorded in two ways, or changed after it was recorded."""


Places: TypeAlias = "tuple[tuple[str, tuple[int, ...]], ...]"
"""Metrics, and where the lanes of each lie in a vector."""
HELD = 1 << 22
"""Values from which on none waits longer, where no metric comes again."""
KNOWN = 256
"""Plans that are remembered; metrics of a training loop come in few orders."""

COUNT, SUM_OF, SQUARES_OF, LEAST_OF, GREATEST_OF = range(5)
_MEAN_LANES = ((SUM_OF, 0), (COUNT, 0))
_VARIANCE_LANES = ((COUNT, 0), (SUM_OF, 0), (SQUARES_OF, 0))
LANES: dict[str, tuple[tuple[int, int], ...]] = {
    MEAN.name: _MEAN_LANES,
    SUM.name: _MEAN_LANES,
    MIN.name: ((LEAST_OF, 0), (COUNT, 0)),
    MAX.name: ((GREATEST_OF, 0), (COUNT, 0)),
    VARIANCE.name: _VARIANCE_LANES,
    DEVIATION.name: _VARIANCE_LANES,
    EXPLAINED_VARIANCE.name: (*_VARIANCE_LANES, (SUM_OF, 1), (SQUARES_OF, 1)),
}
"""What each lane of a kind is, and of which of the metric's tensors."""


class Block(NamedTuple):
    """Reduced metrics.

    Attributes:
        lanes: Each metric, and where its lanes lie in the vector.
        vector: All lanes; shape ``(L,)``, on the device of what was reduced.
    """

    lanes: Places
    vector: Tensor


class Reductions:
    """Metrics that wait to be reduced."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[object, ...], list[_Metric]] = {}
        self._keys: set[str] = set()
        self._held = 0
        self._plans: dict[object, _Plan] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: str, kind: Kind, values: tuple[Tensor, ...], mask: Tensor | None) -> list[Block]:
        """Let a metric wait; what waited before, where it is time to reduce it.

        Args:
            key: Which metric.
            kind: A kind of `LANES`.
            values: Its tensors, of one shape. They must not be changed in place before they are reduced.
            mask: 1 where a value counts; of the shape of the values, or broadcast to it. None counts all.

        Raises:
            RecordError: When a tensor that waited was changed in place.
        """
        due = self.take() if key in self._keys or self._held > HELD else []
        first = values[0]
        if not first.numel():
            return due
        group = self._waiting.setdefault((first.shape, first.device), [])
        group.append(_Metric(key, kind, values, mask, _version(first), _version(mask)))
        self._keys.add(key)
        self._held += first.numel()
        return due

    def take(self) -> list[Block]:
        """Reduce what waits. Does not look at the device."""
        groups, self._waiting = self._waiting, {}
        self._keys.clear()
        self._held = 0
        return [self._reduced(group) for group in groups.values()]

    def clear(self) -> None:
        """Forget what waits."""
        self._waiting, self._held = {}, 0
        self._keys.clear()

    def _reduced(self, group: list[_Metric]) -> Block:
        import torch

        for metric in group:
            if metric.version != _version(metric.values[0]) or metric.mask_version != _version(metric.mask):
                raise RecordError(
                    said(
                        "what was recorded as {key!r} was changed in place before it was reduced, which happens when "
                        "a metric comes again and at the dump: record a clone of it",
                        key=metric.key,
                    )
                )
        one_mask = all(metric.mask is group[0].mask for metric in group)
        signature = (one_mask, tuple((metric.key, metric.kind.name) for metric in group))
        plan = self._plans.get(signature)
        if plan is None:
            if len(self._plans) >= KNOWN:
                self._plans.clear()
            plan = self._plans[signature] = _Plan.of(group, one_mask=one_mask)
        example = group[0].values[0]
        wide = torch.float32 if example.device.type == "mps" else torch.float64
        values = torch.stack([_exact(group[m].values[v], wide) for m, v in plan.order]).reshape(len(plan.order), -1)
        masks = group[:1] if one_mask else [group[m] for m, _ in plan.order]
        counted = torch.stack([_like(metric.mask, example) for metric in masks]).reshape(len(masks), -1)
        squared, summed, least = plan.squared, plan.summed, plan.least

        def kept(first: int, end: int, instead: float) -> Tensor:
            return values[first:end].where(counted if one_mask else counted[first:end], instead)

        parts = [counted.sum(1, dtype=wide)]
        if summed:
            numbers = kept(0, summed, 0.0)
            parts.append(numbers.sum(1, dtype=wide))
            if squared:
                parts.append(numbers[:squared].to(wide).square_().sum(1))
        if least > summed:
            parts.append(kept(summed, least, math.inf).amin(1).to(wide))
        if least < len(plan.order):
            parts.append(kept(least, len(plan.order), -math.inf).amax(1).to(wide))
        return Block(plan.lanes, torch.cat(parts))


class _Metric(NamedTuple):
    key: str
    kind: Kind
    values: tuple[Tensor, ...]
    mask: Tensor | None
    version: int
    mask_version: int


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a group is laid out: those with squares first, then those with sums, least and greatest values.

    Attributes:
        order: Metric and tensor of each row.
        squared: Rows whose squares are summed.
        summed: Rows that are summed, these included.
        least: Rows before those of which the greatest value is wanted.
        lanes: As in `Block`.
    """

    order: tuple[tuple[int, int], ...]
    squared: int
    summed: int
    least: int
    lanes: Places

    @classmethod
    def of(cls, group: Sequence[_Metric], *, one_mask: bool) -> _Plan:
        classes: tuple[list[tuple[int, int]], ...] = ([], [], [], [])
        for m, metric in enumerate(group):
            whats = {what for what, _ in LANES[metric.kind.name]}
            which = next(i for i, what in enumerate((SQUARES_OF, SUM_OF, LEAST_OF, GREATEST_OF)) if what in whats)
            classes[which].extend((m, v) for v in range(len(metric.values)))
        order = [row for rows in classes for row in rows]
        squared, summed, least = accumulate(map(len, classes[:3]))
        place = {row: at for at, row in enumerate(order)}
        counts = 1 if one_mask else len(order)
        begin = {SUM_OF: counts, SQUARES_OF: counts + summed, LEAST_OF: counts + squared, GREATEST_OF: counts + squared}

        def lane(what: int, m: int, of: int) -> int:
            if what == COUNT:
                return 0 if one_mask else place[m, of]
            return begin[what] + place[m, of]

        lanes = tuple(
            (metric.key, tuple(lane(what, m, of) for what, of in LANES[metric.kind.name]))
            for m, metric in enumerate(group)
        )
        return cls(tuple(order), squared, summed, least, lanes)


def _version(tensor: Tensor | None) -> int:
    """How often a tensor was changed in place; those made in inference mode do not know."""
    try:
        return 0 if tensor is None else tensor._version
    except RuntimeError:
        return 0


def _exact(values: Tensor, wide: torch.dtype) -> Tensor:
    """The values in a type that a stack of mixed types does not round, and sums do not either."""
    if values.dtype is wide:
        return values
    # float32 holds every float of half its width and every byte, but not every count.
    return widened(values) if values.is_floating_point() or values.element_size() == 1 else values.to(wide)


def _like(mask: Tensor | None, values: Tensor) -> Tensor:
    """The mask in the shape of the values; that of a metric without one in memory, since a view would make the stack slow."""
    import torch

    if mask is None:
        return torch.ones_like(values, dtype=torch.bool)
    counted = mask if mask.dtype is torch.bool else mask.bool()
    return counted if counted.shape == values.shape else counted.expand_as(values)
