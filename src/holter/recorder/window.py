"""What was recorded since the last logged step, and its fold on the device it lies on.

Scalars stay where they are until the window is dumped: recording one costs no kernel and no synchronisation. Then all of them
are stacked, folded by three reductions, and looked at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from holter.errors import HolterError
from holter.recorder.fold import LAST, Kind, Op

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Scalar: TypeAlias = "Tensor | float | int"
Layout: TypeAlias = "tuple[tuple[str, Kind], ...]"


class RecordError(HolterError, ValueError):
    """A metric that was recorded in two ways."""


@dataclass(slots=True)
class _Entry:
    kind: Kind
    on_host: list[tuple[float, ...]] = field(default_factory=list)
    on_device: list[tuple[Tensor, ...]] = field(default_factory=list)


class Window:
    """The parts of each metric, recorded and not yet folded."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._pattern: object = None
        self._indices: dict[Op, Tensor] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, key: str, kind: Kind, *lanes: Scalar) -> None:
        """Record one part. Lanes are numbers or tensors of one element; tensors are neither copied nor looked at.

        Raises:
            RecordError: When `key` was recorded in another way in this window.
        """
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry(kind)
        elif entry.kind is not kind and entry.kind != kind:
            raise RecordError(f"{key!r} was recorded as {entry.kind.name}, and is now recorded as {kind.name}")
        if kind is LAST:
            entry.on_host.clear()
            entry.on_device.clear()
        tensor = next((lane for lane in lanes if hasattr(lane, "detach")), None)
        if tensor is None:
            entry.on_host.append(tuple(map(float, lanes)))
        else:
            entry.on_device.append(tuple([_scalar(lane, tensor) for lane in lanes]))

    def layout(self) -> Layout:
        """Metrics of this window, in the order in which they first came."""
        return tuple((key, entry.kind) for key, entry in self._entries.items())

    def state(self) -> dict[str, tuple[str, tuple[float, ...]]]:
        """Kind and folded lanes of each metric, as plain numbers. Looks at the device at each part."""
        return {
            key: (
                entry.kind.name,
                entry.kind.fold(tuple(map(float, lanes)) for lanes in (*entry.on_host, *entry.on_device)),
            )
            for key, entry in self._entries.items()
        }

    def clear(self) -> None:
        """Forget everything."""
        self._entries = {}

    def folded(self, layout: Layout) -> Tensor | list[float]:
        """All lanes of `layout` in one vector: on the device if any part is there. No synchronisation.

        Metrics that this window lacks are the lanes of nothing; those that `layout` lacks are left out.
        """
        slots = _slots(layout)
        folded = {key: kind.fold(self._entries[key].on_host if key in self._entries else ()) for key, kind in layout}
        host = [folded[key][lane] for _, key, lane in slots]
        scalars: dict[Op, list[list[Tensor]]] = {op: [] for op in _ORDER}
        some: Tensor | None = None
        for op, key, lane in slots:
            parts = [part[lane] for part in self._entries[key].on_device] if key in self._entries else []
            scalars[op].append(parts)
            if parts and (some is None or some.device.type == "cpu"):
                some = parts[0]
        return host if some is None else self._device(scalars, some, host)

    def _device(self, scalars: dict[Op, list[list[Tensor]]], some: Tensor, host: list[float]) -> Tensor:
        import torch

        device = some.device
        wide = torch.float32 if device.type == "mps" else torch.float64
        offset = 0
        pieces = []
        given = _on_device(host, device, wide)
        stacked, index = self._stack(scalars, device, wide)
        for op in _ORDER:
            lanes = scalars[op]
            if not lanes:
                continue
            table = stacked[index[op]]
            mine = given[offset : offset + len(lanes)]
            offset += len(lanes)
            if op is Op.MIN:
                pieces.append(torch.minimum(table.amin(1), mine))
            elif op is Op.MAX:
                pieces.append(torch.maximum(table.amax(1), mine))
            else:
                pieces.append(table.sum(1) + mine)
        return torch.cat(pieces)

    def _stack(
        self, scalars: dict[Op, list[list[Tensor]]], device: torch.device, wide: torch.dtype
    ) -> tuple[Tensor, dict[Op, Tensor]]:
        """All scalars in one vector, each operation's identity at its end; and where each lane's scalars lie in it."""
        import torch

        # Stacked by type, because a stack of mixed types rounds counts of tokens to the precision of the losses.
        groups: dict[tuple[torch.dtype, torch.device], list[Tensor]] = {}
        for lanes in scalars.values():
            for parts in lanes:
                for part in parts:
                    groups.setdefault((part.dtype, part.device), []).append(part)
        stacks = [torch.stack(group).to(device, wide, non_blocking=True) for group in groups.values()]
        shape = tuple(tuple(map(len, lanes)) for lanes in scalars.values())
        types = tuple(part.dtype for lanes in scalars.values() for parts in lanes for part in parts)
        if (device, shape, types) != self._pattern:
            self._indices = {op: torch.tensor(r).to(device) for op, r in _places(scalars, list(groups)).items() if r}
            self._pattern = (device, shape, types)
        identities = _on_device([op.identity for op in _ORDER], device, wide)
        return torch.cat([*stacks, identities]), self._indices


def _scalar(lane: Any, like: Tensor) -> Tensor:  # noqa: ANN401
    """A tensor without shape and history."""
    if not hasattr(lane, "detach"):
        return like.detach().new_full((), lane)
    if lane.requires_grad:
        lane = lane.detach()
    return lane if lane.dim() == 0 else lane.reshape(())


def _places(
    scalars: dict[Op, list[list[Tensor]]], groups: list[tuple[torch.dtype, torch.device]]
) -> dict[Op, list[list[int]]]:
    """Where the scalars of each lane lie among the stacked groups, padded with the place of the operation's identity."""
    sizes = dict.fromkeys(groups, 0)
    for lanes in scalars.values():
        for parts in lanes:
            for part in parts:
                sizes[part.dtype, part.device] += 1
    following, total = {}, 0
    for group in groups:
        following[group] = total
        total += sizes[group]
    out: dict[Op, list[list[int]]] = {}
    for number, (op, lanes) in enumerate(scalars.items()):
        deepest = max([1, *map(len, lanes)])
        out[op] = []
        for parts in lanes:
            at = []
            for part in parts:
                at.append(following[part.dtype, part.device])
                following[part.dtype, part.device] += 1
            out[op].append(at + [total + number] * (deepest - len(at)))
    return out


_ORDER = (Op.ADD, Op.MIN, Op.MAX, Op.MAIN)


def _slots(layout: Layout) -> list[tuple[Op, str, int]]:
    """The lanes of a layout in the order of the vector: by operation, so that each is one slice."""
    lanes: dict[Op, list[tuple[Op, str, int]]] = {op: [] for op in _ORDER}
    for key, kind in layout:
        for lane, op in enumerate(kind.ops):
            lanes[op].append((op, key, lane))
    return [slot for op in _ORDER for slot in lanes[op]]


def finished(layout: Layout, vectors: list[list[float]]) -> dict[str, float]:
    """The numbers that the processes' vectors together stand for, the main process' vector first.

    What nobody recorded, or what was recorded of nothing, is absent. NaN is a number here.
    """
    lanes: dict[str, list[float]] = {key: [0.0] * len(kind.ops) for key, kind in layout}
    for at, (op, key, lane) in enumerate(_slots(layout)):
        value = vectors[0][at]
        if op is not Op.MAIN:
            for vector in vectors[1:]:
                value = op.merge(value, vector[at])
        lanes[key][lane] = value
    out = {}
    for key, kind in layout:
        number = kind.finish(tuple(lanes[key]))
        if number is not None:
            out[key] = number
    return out


def _on_device(values: list[float], device: torch.device, wide: torch.dtype) -> Tensor:
    """A vector on the device, without waiting for the device."""
    import torch

    vector = torch.tensor(values, dtype=wide)
    return vector.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else vector.to(device)
