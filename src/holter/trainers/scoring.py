"""Log-probabilities and entropy of given completions, computed on the positions of their tokens and nowhere else.

The head is the largest layer of a small model and its output the largest tensor of any: here it never sees a prompt or a
padding position, because a hook on it picks the rows that count. So the pass goes through the model's own forward, whatever
wraps it. Sequences are padded on the right, where a causal model cannot see it and no mask is needed.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch

from holter.signals import logprobs_and_entropy
from holter.signals.logprobs import TokenScores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor, nn


@dataclass(frozen=True)
class Sequences:
    """Prompts with their completions, ready for the model.

    Attributes:
        ids: Prompt and completion without a gap, padded. Shape ``(B, S)``.
        attention: 1 on real tokens; None where padding is on the right. Shape ``(B, S)``.
        positions: Places of real tokens; None where padding is on the right. Shape ``(B, S)``.
        targets: Completion tokens, padded on the right. Shape ``(B, T)``.
        mask: 1 on completion tokens, up to and including the end token. Shape ``(B, T)``.
        before: Where in the flat ``(B S)`` the token before each completion token lies. Shape ``(N,)``, N tokens in `mask`.
        within: Where in the flat ``(B T)`` each completion token lies. Shape ``(N,)``.
    """

    ids: Tensor
    attention: Tensor | None
    positions: Tensor | None
    targets: Tensor
    mask: Tensor
    before: Tensor
    within: Tensor


def sequences(
    prompts: Sequence[Sequence[int]],
    completions: Sequence[Sequence[int]],
    device: torch.device,
    *,
    pad: int = 0,
    padding: Literal["left", "right"] = "right",
) -> Sequences:
    """Lay out prompts and completions for one pass; all indices are made on the host.

    Args:
        prompts: Tokens of each prompt.
        completions: Tokens of each completion.
        device: Where the model is.
        pad: Token of the padding.
        padding: Its side.
    """
    rows = [[*p, *c] for p, c in zip(prompts, completions, strict=True)]
    width, longest = max(map(len, rows)), max(1, *map(len, completions))
    ids = torch.full((len(rows), width), pad)
    mask = torch.zeros((len(rows), longest), dtype=torch.bool)
    targets = torch.full((len(rows), longest), pad)
    real = torch.zeros((len(rows), width), dtype=torch.long)
    before, within = [], []
    for i, (row, prompt, completion) in enumerate(zip(rows, prompts, completions, strict=True)):
        shift = width - len(row) if padding == "left" else 0
        ids[i, shift : shift + len(row)] = torch.tensor(row)
        real[i, shift : shift + len(row)] = 1
        targets[i, : len(completion)] = torch.tensor(completion, dtype=torch.long)
        mask[i, : len(completion)] = True
        first = i * width + shift + len(prompt) - 1
        before += range(first, first + len(completion))
        within += range(i * longest, i * longest + len(completion))
    positions = (real.cumsum(-1) - 1).clamp(min=0)
    left = padding == "left"

    def moved(tensor: Tensor) -> Tensor:
        return tensor.to(device, non_blocking=True)

    return Sequences(
        ids=moved(ids),
        attention=moved(real) if left else None,
        positions=moved(positions) if left else None,
        targets=moved(targets),
        mask=moved(mask),
        before=moved(torch.tensor(before, dtype=torch.long)),
        within=moved(torch.tensor(within, dtype=torch.long)),
    )


def score(model: nn.Module, batch: Sequences, *, temperature: float, entropy_gradient: bool = False) -> TokenScores:
    """Log-probabilities and entropy at every completion token, in one pass.

    Args:
        model: A causal language model, wrapped or not.
        batch: What to score.
        temperature: The one the completions were sampled with.
        entropy_gradient: Whether the entropy has a gradient.

    Returns:
        Both of shape ``(B, T)``, nats, 0 outside the mask.
    """
    logits = completion_logits(model, batch)
    tokens = batch.targets.reshape(-1)[batch.within]
    found = logprobs_and_entropy(logits, tokens, temperature=temperature, entropy_gradient=entropy_gradient)
    return TokenScores(spread(found.logprobs, batch), spread(found.entropy, batch))


def completion_logits(model: nn.Module, batch: Sequences) -> Tensor:
    """Logits of the completion tokens only. Shape ``(N, V)``."""
    with _head_on(model, batch.before):
        logits: Tensor = model(
            input_ids=batch.ids, attention_mask=batch.attention, position_ids=batch.positions, use_cache=False
        ).logits
    return logits.reshape(-1, logits.shape[-1])


def spread(values: Tensor, batch: Sequences) -> Tensor:
    """Values of tokens, ``(N,)``, in their places in ``(B, T)``; 0 elsewhere."""
    flat = values.new_zeros(batch.mask.numel()).index_put((batch.within,), values)
    return flat.view(batch.mask.shape)


@contextmanager
def _head_on(model: nn.Module, rows: Tensor) -> Iterator[None]:
    """The model's head applied to these rows of its flattened input."""

    def pick(_: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        hidden, *rest = given
        return (hidden.reshape(1, -1, hidden.shape[-1])[:, rows], *rest)

    handle = _head(model).register_forward_pre_hook(pick)
    try:
        yield
    finally:
        handle.remove()


def _head(model: nn.Module) -> nn.Module:
    inner = getattr(model, "module", model)
    head: nn.Module = inner.get_output_embeddings()
    return head
