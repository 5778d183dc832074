"""The completions of one generation, cut into micro-batches, until they are used up; part of a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import torch

from holter.trainers.scoring import Layout, Sequences, sequences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


@dataclass(frozen=True)
class MicroBatch:
    """What one forward and backward pass works on.

    Attributes:
        sequences: Prompts and completions.
        mask: 1 on the tokens that are trained on; 0 too for completions that are left out. Shape ``(B, T)``.
        columns: What belongs to each completion, shape ``(B,)``, or to each of its tokens, shape ``(B, T)``.
        first: Whether the policy still is the one that sampled.
    """

    sequences: Sequences
    mask: Tensor
    columns: dict[str, Tensor]
    first: bool

    def __getitem__(self, name: str) -> Tensor:
        """A column."""
        return self.columns[name]


@dataclass
class Rollout:
    """One generation on this process.

    Attributes:
        prompts: Tokens of the prompt of each completion.
        completions: Tokens of each completion.
        trained: Whether each completion is trained on. Shape ``(B,)``.
        columns: Tensors of shape ``(B,)`` or ``(B, T)``, T the longest completion.
        parts: Completions of each micro-batch, by their place.
        tokens: Trained tokens an optimizer step has on average, over all processes: what token means are divided by.
        step: Optimizer step after which it was sampled.
    """

    prompts: list[list[int]]
    completions: list[list[int]]
    trained: Tensor
    columns: dict[str, Tensor]
    parts: list[list[int]]
    tokens: Tensor
    step: int

    def part(self, number: int, *, pad: int, step: int, padding: Layout = "right") -> MicroBatch:
        """One micro-batch, cut to its own longest completion.

        Args:
            number: Which one.
            pad: Token of the padding.
            step: Optimizer steps done so far.
            padding: How sequences are laid out.
        """
        rows = self.parts[number]
        device = self.tokens.device
        laid = sequences(
            [self.prompts[i] for i in rows], [self.completions[i] for i in rows], device, pad=pad, padding=padding
        )
        at = torch.tensor(rows).to(device, non_blocking=True)
        columns = {
            name: column[at] if column.dim() == 1 else column[at, : laid.mask.shape[1]]
            for name, column in self.columns.items()
        }
        mask = laid.mask & self.trained[at].unsqueeze(-1)
        return MicroBatch(laid, mask, columns, first=step == self.step)

    def state(self) -> dict[str, Any]:
        """What `restored` needs, on the host."""
        host = {n: c.cpu() for n, c in self.columns.items()}
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return {**plain, "columns": host, "trained": self.trained.cpu(), "tokens": self.tokens.cpu()}

    @classmethod
    def restored(cls, state: dict[str, Any], device: torch.device) -> Self:
        """A rollout from a checkpoint."""
        columns = {n: c.to(device) for n, c in state["columns"].items()}
        moved = {n: state[n].to(device) for n in ("trained", "tokens")}
        return cls(**{**state, "columns": columns, **moved})


def micro_batches(lengths: Sequence[int], parts: int, *, window: int, by_length: bool) -> list[list[int]]:
    """Cut completions into micro-batches of equal size.

    Which completions come into the same optimizer step is drawn at random; within a step completions of like length share
    a micro-batch, which saves padding.

    Args:
        lengths: Length of each completion.
        parts: Micro-batches.
        window: Micro-batches of one optimizer step.
        by_length: Whether to sort within an optimizer step; False keeps micro-batches random too.
    """
    order = torch.randperm(len(lengths)).tolist()
    size = len(lengths) // parts
    out: list[list[int]] = []
    for first in range(0, parts, window):
        rows = order[first * size : (first + window) * size]
        if by_length:
            rows.sort(key=lengths.__getitem__)
        out += [rows[i : i + size] for i in range(0, len(rows), size)]
    return out
