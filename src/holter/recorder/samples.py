"""Completions that wait to be logged."""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any

from holter.language import told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor


class SampleBuffer:
    """Keeps columns of completions until they are logged; tensors stay on their device until then."""

    def __init__(self, limit: int | None = None) -> None:
        """Keep at most the newest `limit` completions; None keeps all."""
        self._limit = limit
        self._held = 0
        self._batches: deque[tuple[int, dict[str, Any]]] = deque()

    def add(self, columns: Mapping[str, Sequence[object] | Tensor]) -> None:
        """Add a batch of completions.

        Raises:
            ValueError: When the columns differ in length.
        """
        sizes = {name: len(column) for name, column in columns.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(told("columns of one batch of completions differ in length: {sizes}", sizes=sizes))
        size = next(iter(sizes.values()), 0)
        if not size:
            return
        kept = {n: c.detach() if hasattr(c, "detach") else list(c) for n, c in columns.items()}
        self._batches.append((size, kept))
        self._held += size
        while self._limit is not None and self._held - self._batches[0][0] >= self._limit:
            self._held -= self._batches.popleft()[0]

    def take(self) -> list[dict[str, object]]:
        """All completions as rows, which are forgotten here. One look at the device for all numbers."""
        batches = self._batches
        self._batches, self._held = deque(), 0
        numbers = iter(_looked_up([c for _, columns in batches for c in columns.values() if hasattr(c, "detach")]))
        rows: list[dict[str, object]] = []
        for size, columns in batches:
            plain = {n: next(numbers) if hasattr(c, "detach") else c for n, c in columns.items()}
            rows.extend({n: column[i] for n, column in plain.items()} for i in range(size))
        return rows if self._limit is None else rows[max(0, len(rows) - self._limit) :]

    def state(self) -> str:
        """What waits, as text, for a checkpoint; nothing is forgotten. One look at the device."""
        kept = self._batches, self._held
        rows = self.take()
        self._batches, self._held = kept
        return json.dumps(rows, default=str)

    def restore(self, state: str) -> None:
        """Wait with what `state` gave."""
        self._batches, self._held = deque(), 0
        for row in json.loads(state):
            self.add({name: [value] for name, value in row.items()})


def _looked_up(columns: list[Tensor]) -> list[list[float]]:
    """Tensors of shape ``(B,)`` as lists, by one transfer."""
    if not columns:
        return []
    import torch

    device = columns[0].device
    wide = torch.float32 if device.type == "mps" else torch.float64
    flat = torch.cat([c.reshape(-1).to(device, wide) for c in columns]).tolist()
    out, end = [], 0
    for column in columns:
        begin, end = end, end + column.numel()
        values = flat[begin:end]
        whole = not column.is_floating_point()
        out.append([_whole(v, column.dtype == torch.bool) for v in values] if whole else values)
    return out


def _whole(value: float, boolean: bool) -> float:  # noqa: FBT001
    return bool(value) if boolean else int(value)
