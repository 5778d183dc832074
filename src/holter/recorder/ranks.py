"""The processes of a training run, as far as recording needs them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


class Ranks(Protocol):
    """The processes that record together. All of them call the same methods in the same order."""

    size: int
    main: bool

    def gather(self, vector: Tensor | Sequence[float]) -> list[list[float]]:
        """Every process' vector, the main one's first. One collective and one look at the device.

        All vectors must be of one length.
        """
        ...

    def exchange(self, said: Any) -> list[Any]:  # noqa: ANN401
        """Every process' object, the main one's first. Slow: for what is rare."""
        ...


class Alone:
    """A single process."""

    size = 1
    main = True

    def gather(self, vector: Tensor | Sequence[float]) -> list[list[float]]:
        """The vector itself."""
        return [list(vector) if isinstance(vector, list | tuple) else vector.tolist()]  # type: ignore[union-attr]

    def exchange(self, said: Any) -> list[Any]:  # noqa: ANN401
        """The object itself."""
        return [said]


class Distributed:
    """The processes of a `torch.distributed` group, which is what accelerate, torchrun and DeepSpeed make."""

    def __init__(self, group: Any = None) -> None:  # noqa: ANN401
        """Take part in `group`, the default one when None. It must be initialised."""
        import torch.distributed as dist

        self._group = group
        self.size = dist.get_world_size(group)
        self.main = dist.get_rank(group) == 0

    def gather(self, vector: Tensor | Sequence[float]) -> list[list[float]]:
        """Every process' vector, by one ``all_gather`` on the device that the group's backend works on."""
        import torch
        import torch.distributed as dist

        backend = str(dist.get_backend(self._group))
        if isinstance(vector, list | tuple):
            vector = torch.tensor(vector, dtype=torch.float64)
        assert isinstance(vector, torch.Tensor)
        if "nccl" in backend and vector.device.type == "cpu":
            vector = vector.pin_memory().to(torch.device("cuda", torch.cuda.current_device()), non_blocking=True)
        elif "nccl" not in backend:
            vector = vector.to("cpu")
        matrix = vector.new_empty((self.size, vector.shape[0]))
        dist.all_gather(list(matrix.unbind(0)), vector.contiguous(), group=self._group)
        rows: list[list[float]] = matrix.tolist()
        return rows

    def exchange(self, said: Any) -> list[Any]:  # noqa: ANN401
        """Every process' object, pickled."""
        import torch.distributed as dist

        out: list[Any] = [None] * self.size
        dist.all_gather_object(out, said, group=self._group)
        return out


def current() -> Ranks:
    """The processes of this run: those of the default group where torch is there and one is initialised."""
    if "torch.distributed" in sys.modules:
        import torch.distributed as dist

        if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
            return Distributed()
    return Alone()
