"""What was recorded since the last logged step, and its fold on the device it lies on.

Tensors stay where they are until the window is dumped: recording one costs no synchronisation. Then all lanes are brought
into one vector, folded by three reductions, and looked at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from holter.language import said
from holter.recorder.fold import LAST, Kind, Op
from holter.recorder.reductions import RecordError, Reductions

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from holter.recorder.fold import Lanes
    from holter.recorder.reductions import Block, Places

Scalar: TypeAlias = "Tensor | float | int"
Layout: TypeAlias = "tuple[tuple[str, Kind], ...]"


class Window:
    """The parts of each metric, recorded and not yet folded."""

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {}
        self._on_host: dict[str, Lanes] = {}
        # By type, because a stack of mixed types rounds counts of tokens to the precision of the losses.
        self._scalars: dict[tuple[torch.dtype, torch.device], tuple[list[tuple[str, int]], list[Tensor]]] = {}
        self._newest: dict[str, list[tuple[int, Tensor]]] = {}
        self._blocks: list[Block] = []
        self._waiting = Reductions()
        self._slots = Slots(())
        self._pattern: object = None
        self._places: list[Tensor] = []

    def __len__(self) -> int:
        return len(self._kinds)

    def add(self, key: str, kind: Kind, *lanes: Scalar) -> None:
        """Record one part. Lanes are numbers or tensors of one element; tensors are neither copied nor looked at.

        Raises:
            RecordError: When `key` was recorded in another way in this window.
        """
        self._claim(key, kind)
        tensors, numbers = [], []
        for at, lane in enumerate(lanes):
            if isinstance(lane, float | int) or not hasattr(lane, "detach"):
                numbers.append(float(lane))
            else:
                tensors.append((at, lane))
                numbers.append(kind.ops[at].identity)
        if kind is LAST:
            self._on_host.pop(key, None)
            self._newest[key] = tensors
        else:
            for at, lane in tensors:
                self._keep(key, at, lane)
        if len(tensors) < len(lanes):
            known = self._on_host.get(key)
            self._on_host[key] = tuple(numbers) if known is None else kind.merge(known, tuple(numbers))

    def _keep(self, key: str, lane: int, value: Tensor) -> None:
        labels, values = self._scalars.setdefault((value.dtype, value.device), ([], []))
        labels.append((key, lane))
        values.append(_scalar(value))

    def reduce(self, key: str, kind: Kind, values: tuple[Tensor, ...], mask: Tensor | None) -> None:
        """Record the values that count; they are reduced together with others, later, and must not change until then.

        Raises:
            RecordError: When `key` was recorded in another way in this window.
        """
        self._claim(key, kind)
        self._blocks += self._waiting.add(key, kind, values, mask)

    def _claim(self, key: str, kind: Kind) -> None:
        known = self._kinds.setdefault(key, kind)
        if known is not kind and known != kind:
            raise RecordError(
                said(
                    "{key!r} was recorded as {first}, and is now recorded as {second}",
                    key=key,
                    first=known.name,
                    second=kind.name,
                )
            )

    def layout(self) -> Layout:
        """Metrics of this window, in the order in which they first came."""
        return tuple(self._kinds.items())

    def state(self) -> dict[str, tuple[str, tuple[float, ...]]]:
        """Kind and folded lanes of each metric, as plain numbers; nothing is forgotten. Looks at the device."""
        folded = self.folded(self.layout())
        lanes = folded if isinstance(folded, list) else folded.tolist()
        return {key: (kind.name, tuple(lanes[i] for i in at)) for key, kind, at in self._slots.metrics}

    def clear(self) -> None:
        """Forget everything."""
        self._kinds, self._on_host, self._scalars, self._newest, self._blocks = {}, {}, {}, {}, []
        self._waiting.clear()

    def slots(self, layout: Layout) -> Slots:
        """Where the lanes of `layout` lie in a vector."""
        if self._slots.layout != layout:
            self._slots = Slots(layout)
        return self._slots

    def folded(self, layout: Layout) -> Tensor | list[float]:
        """All lanes of `layout` in one vector: on the device if any part is there. No synchronisation.

        Metrics that this window lacks are the lanes of nothing; those that `layout` lacks are left out.
        """
        self._blocks += self._waiting.take()
        slots = self.slots(layout)
        host = list(slots.identities)
        for key, lanes in self._on_host.items():
            for at, number in zip(slots.at.get(key, ()), lanes, strict=False):
                host[at] = number
        on_device = self._blocks or self._scalars or any(self._newest.values())
        return self._device(slots, host) if layout and on_device else host

    def _device(self, slots: Slots, host: list[float]) -> Tensor:
        import torch

        sources = [block.vector for block in self._blocks]
        sources += [torch.stack(values) for _, values in self._scalars.values()]
        labels = [labels for labels, _ in self._scalars.values()]
        for key, tensors in self._newest.items():
            sources += [_scalar(value).reshape(1) for _, value in tensors]
            labels += [[(key, lane)] for lane, _ in tensors]
        device = next((s.device for s in sources if s.device.type != "cpu"), sources[0].device)
        wide = torch.float32 if device.type == "mps" else torch.float64
        given = _on_device([*host, *(op.identity for op in _ORDER)], device, wide)
        everything = torch.cat([given, *(s.to(device, wide, non_blocking=True) for s in sources)])
        pattern = (
            slots.layout,
            device,
            [(block.lanes, len(block.vector)) for block in self._blocks],
            [list(each) for each in labels],
        )
        if pattern != self._pattern:
            tables = slots.tables(_parts(*pattern[2:], begin=len(given)))
            self._places, self._pattern = [torch.tensor(t).to(device) for t in tables], pattern
        pieces = []
        for op, places in zip(slots.operations, self._places, strict=True):
            table = everything[places]
            pieces.append(table.amin(1) if op is Op.MIN else table.amax(1) if op is Op.MAX else table.sum(1))
        return torch.cat(pieces)


def _scalar(lane: Tensor) -> Tensor:
    """A tensor without shape and history."""
    if lane.requires_grad:
        lane = lane.detach()
    return lane if lane.dim() == 0 else lane.reshape(())


_ORDER = (Op.ADD, Op.MIN, Op.MAX, Op.MAIN)


class Slots:
    """Where each lane of some metrics lies in a vector: by operation, so that what merges alike is one slice.

    Attributes:
        layout: The metrics.
        metrics: Each with its kind and the places of its lanes.
        at: The places by metric.
        identities: The vector of nothing.
        operations: Those that occur, in order.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        lanes = [(op, key, lane) for key, kind in layout for lane, op in enumerate(kind.ops)]
        self._order = [slot for op in _ORDER for slot in lanes if slot[0] is op]
        place = {(key, lane): at for at, (_, key, lane) in enumerate(self._order)}
        self.metrics = [(key, kind, tuple(place[key, lane] for lane in range(len(kind.ops)))) for key, kind in layout]
        self.at = {key: at for key, _, at in self.metrics}
        self.identities = [op.identity for op, _, _ in self._order]
        self.operations = [op for op in _ORDER if any(slot[0] is op for slot in self._order)]

    def tables(self, parts: dict[tuple[str, int], list[int]]) -> list[list[list[int]]]:
        """For each operation, where in all that was recorded the parts of its lanes lie; as many for each.

        Args:
            parts: Where the parts of a metric's lane lie. What came from the host lies at the lane's own place in the vector,
                and behind all of it the identities of the operations.
        """
        size, out = len(self._order), []
        for op in self.operations:
            rows = [[at, *parts.get((key, lane), ())] for at, (of, key, lane) in enumerate(self._order) if of is op]
            deepest = max(map(len, rows))
            out.append([row + [size + _ORDER.index(op)] * (deepest - len(row)) for row in rows])
        return out

    def finished(self, vectors: list[list[float]]) -> dict[str, float]:
        """The numbers that the processes' vectors together stand for, the main process' vector first.

        What nobody recorded, or what was recorded of nothing, is absent. NaN is a number here.
        """
        merged = vectors[0]
        for vector in vectors[1:]:
            merged = [
                one if op is Op.MAIN else op.merge(one, other)
                for (op, _, _), one, other in zip(self._order, merged, vector, strict=True)
            ]
        out = {}
        for key, kind, at in self.metrics:
            number = kind.finish(tuple([merged[i] for i in at]))
            if number is not None:
                out[key] = number
        return out


def _parts(
    blocks: list[tuple[Places, int]], scalars: list[list[tuple[str, int]]], *, begin: int
) -> dict[tuple[str, int], list[int]]:
    """Where the parts of each lane of each metric lie, in blocks one after the other and then in stacks of scalars."""
    out: dict[tuple[str, int], list[int]] = {}
    for lanes, size in blocks:
        for key, places in lanes:
            for lane, place in enumerate(places):
                out.setdefault((key, lane), []).append(begin + place)
        begin += size
    for labels in scalars:
        for place, label in enumerate(labels):
            out.setdefault(label, []).append(begin + place)
        begin += len(labels)
    return out


def _on_device(values: list[float], device: torch.device, wide: torch.dtype) -> Tensor:
    """A vector on the device, without waiting for the device."""
    import torch

    vector = torch.tensor(values, dtype=wide)
    return vector.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else vector.to(device)
