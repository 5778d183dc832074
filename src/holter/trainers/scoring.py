"""Log-probabilities and entropy of given completions, computed on the positions of their tokens and nowhere else.

The head is the largest layer of a small model and its output the largest tensor of any: here it never sees a prompt or a
padding position, because a hook on it picks the rows that count. So the pass goes through the model's own forward, whatever
wraps it. Sequences are padded on the right, where a causal model cannot see it and no mask is needed; or they are packed, several
in a row, for models that keep them apart by their positions: half of a batch of completions is padding otherwise.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch

from holter.signals import logprobs_and_entropy
from holter.signals.logprobs import TokenScores
from holter.trainers.decoder import READS, Trunk, agrees

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import Tensor, nn

    Outputs = Callable[[nn.Module, "Sequences"], Tensor]


PASS_TOKENS = 1024
"""Tokens of a pass from which on cutting it in two costs less than padding the shorter half."""


WORTH_PACKING = 0.9
"""Share of the tokens and padding that packing has to do with, to be worth the mask that it needs."""
Layout = Literal["left", "right", "packed"]


@dataclass(frozen=True)
class Sequences:
    """Prompts with their completions, ready for the model.

    Attributes:
        ids: Prompt and completion without a gap, padded or packed. Shape ``(R, S)``; R is B unless packed.
        attention: 1 on real tokens where padding is on the left, else None. Shape ``(R, S)``.
        positions: Places of tokens in their sequence; None where padding is on the right. Shape ``(R, S)``.
        targets: Completion tokens, padded on the right. Shape ``(B, T)``.
        mask: 1 on completion tokens, up to and including the end token. Shape ``(B, T)``.
        before: Where in the flat ``(R S)`` the token before each completion token lies. Shape ``(N,)``, N tokens in `mask`.
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
    padding: Layout = "right",
) -> Sequences:
    """Lay out prompts and completions for one pass; all indices are made on the host.

    Args:
        prompts: Tokens of each prompt.
        completions: Tokens of each completion.
        device: Where the model is.
        pad: Token of the padding.
        padding: Its side; or ``packed``, where that saves enough.
    """
    prompted = torch.tensor([len(p) for p in prompts])
    lengths = torch.tensor([len(c) for c in completions])
    totals = (prompted + lengths).tolist()
    width, longest = max(totals), max(1, int(lengths.max()))
    places = [(row, width - total if padding == "left" else 0) for row, total in enumerate(totals)]
    height = len(totals)
    if padding == "packed":
        found = min((_packed(totals, width * k // 2) for k in (2, 3, 4)), key=lambda p: p.height * p.width)
        if found.height * found.width <= WORTH_PACKING * height * width:
            places, height, width = found
        else:
            padding = "right"
    rows = [[pad] * width for _ in range(height)]
    # Padding at the end of a packed row is sequences of one token.
    positions = [[0] * width for _ in rows]
    for (row, at), prompt, completion, total in zip(places, prompts, completions, totals, strict=True):
        rows[row][at : at + total] = [*prompt, *completion]
        positions[row][at : at + total] = range(total)
    attention = None
    if padding == "left":
        attention = torch.arange(width).unsqueeze(0) >= torch.tensor([at for _, at in places]).unsqueeze(-1)
        attention = attention.long()
    mask = torch.arange(longest).unsqueeze(0) < lengths.unsqueeze(-1)
    within = mask.flatten().nonzero().squeeze(-1)
    starts = torch.tensor([row * width + at for row, at in places]) + prompted - 1
    before = (starts.unsqueeze(-1) + torch.arange(longest)).flatten()[within]
    targets = [[*c, *[pad] * (longest - len(c))] for c in completions]

    def moved(tensor: Tensor | None) -> Any:  # noqa: ANN401
        return None if tensor is None else tensor.to(device, non_blocking=True)

    return Sequences(
        ids=moved(torch.tensor(rows)),
        attention=moved(attention),
        positions=None if padding == "right" else moved(torch.tensor(positions)),
        targets=moved(torch.tensor(targets)),
        mask=moved(mask),
        before=moved(before),
        within=moved(within),
    )


class _Packing(NamedTuple):
    """Row and place of each sequence, how many rows they take, and how long these are."""

    places: list[tuple[int, int]]
    height: int
    width: int


def _packed(totals: Sequence[int], width: int) -> _Packing:
    """The longest sequences first, each into the fullest row it fits."""
    places: list[tuple[int, int]] = [(0, 0)] * len(totals)
    taken: list[int] = []
    for index in sorted(range(len(totals)), key=totals.__getitem__, reverse=True):
        fitting = [r for r, used in enumerate(taken) if used + totals[index] <= width]
        row = max(fitting, key=taken.__getitem__) if fitting else len(taken)
        if not fitting:
            taken.append(0)
        places[index] = (row, taken[row])
        taken[row] += totals[index]
    return _Packing(places, len(taken), max(taken))


def packs(
    model: nn.Module,
    prompts: Sequence[Sequence[int]],
    completions: Sequence[Sequence[int]],
    device: torch.device,
    precision: torch.dtype | None = None,
    *,
    outputs: Outputs | None = None,
) -> bool:
    """Whether the model keeps packed sequences apart. It is asked, because that is for its attention to decide.

    Args:
        model: A decoder, wrapped or not; called in evaluation mode and left as it was.
        prompts: Tokens of some prompts.
        completions: Tokens of their completions.
        device: Where it is.
        precision: Type it computes in, where its outputs do not say.
        outputs: What to compare: of each completion token, ``(N, ...)``; logits by default.
    """
    outputs = own_logits if outputs is None else outputs
    first, second = ((list(prompts[i]), list(completions[i][:16])) for i in (0, -1))
    # A third one as long as both together makes a row that holds both.
    third = first[0], [*first[1], *second[0], *second[1]]
    begun, ended = ([each[side] for each in (first, second, third)] for side in (0, 1))
    apart, together = (sequences(begun, ended, device, padding=p) for p in ("right", "packed"))
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            return agrees(outputs(model, together), outputs(model, apart), precision)
    finally:
        model.train(training)


def in_turn(count: int, most: int) -> list[list[int]]:
    """So many sequences in passes of at most `most`, in their order: like any others where they are packed."""
    return [list(range(i, min(i + most, count))) for i in range(0, count, most)]


def by_length(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Which sequences go through the model together: like lengths, so that little is padding.

    Args:
        lengths: Tokens of each sequence.
        most: Most sequences of one pass.

    Returns:
        Places of the sequences of each pass: few long ones or many short ones, `PASS_TOKENS` tokens where that many are left.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)
    passes: list[list[int]] = []
    while order:
        size = max(1, min(most, PASS_TOKENS // lengths[order[0]]))
        passes.append(order[:size])
        order = order[size:]
    return passes


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
    """Logits of the completion tokens only. Shape ``(N, V)``.

    Without gradients a `Trunk` computes them where it serves the model and does what the model does.
    """
    trunk = None if torch.is_grad_enabled() else Trunk.of(model, batch.ids.shape[1])
    if trunk is None:
        return own_logits(model, batch)
    found: Tensor = trunk.head(trunk.read(batch.ids, batch.attention, batch.positions)[batch.before])
    if model in READS:
        return found
    own = own_logits(model, batch)
    READS[model] = agrees(found, own)
    return found if READS[model] else own


def own_logits(model: nn.Module, batch: Sequences) -> Tensor:
    """Logits of the completion tokens only, by the model's own forward. Shape ``(N, V)``."""
    with _head_on(model, batch.before):
        logits: Tensor = model(
            input_ids=batch.ids, attention_mask=batch.attention, position_ids=batch.positions, use_cache=False
        ).logits
    return logits.reshape(-1, logits.shape[-1])


def hidden_states(model: nn.Module, batch: Sequences) -> Tensor:
    """What the head would get for each completion token, for a loss that applies the head itself. Shape ``(B, T, H)``."""
    found: list[Tensor] = []
    with _head_on(model, batch.before, seen=found):
        model(input_ids=batch.ids, attention_mask=batch.attention, position_ids=batch.positions, use_cache=False)
    flat = found[0].new_zeros((batch.mask.numel(), found[0].shape[-1]))
    return flat.index_put((batch.within,), found[0]).view(*batch.mask.shape, -1)


def spread(values: Tensor, batch: Sequences) -> Tensor:
    """Values of tokens, ``(N,)``, in their places in ``(B, T)``; 0 elsewhere."""
    flat = values.new_zeros(batch.mask.numel()).index_put((batch.within,), values)
    return flat.view(batch.mask.shape)


@contextmanager
def _head_on(model: nn.Module, rows: Tensor, seen: list[Tensor] | None = None) -> Iterator[None]:
    """The model's head applied to these rows of its flattened input; where they are only to be seen, to one of them."""

    def pick(_: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        hidden, *rest = given
        picked = hidden.reshape(-1, hidden.shape[-1])[rows]
        if seen is not None:
            seen.append(picked)
            picked = picked[:1]
        return (picked.unsqueeze(0), *rest)

    handle = head_of(model).register_forward_pre_hook(pick)
    try:
        yield
    finally:
        handle.remove()


def head_of(model: nn.Module) -> nn.Module:
    """The layer that makes logits, of a model wrapped or not."""
    head: nn.Module = getattr(model, "module", model).get_output_embeddings()
    return head
