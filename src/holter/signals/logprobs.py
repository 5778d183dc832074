"""Log-probabilities of the sampled tokens and the entropy of the policy, from logits, in one chunked pass.

A log-softmax and a softmax over ``(B, T, V)`` allocate several tensors of the size of the logits, which is what runs out of
memory first. Here rows are taken in chunks that stay in cache, and nothing of the size of the logits is allocated. The
backward pass makes the one tensor it must, the gradient.

Half-precision logits are widened before anything is subtracted: in bfloat16 the subtraction alone puts errors of 0.05 nats
and more into a log-probability, and with it into every ratio and every KL.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from holter.language import told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

CPU_CHUNK_BYTES = 2 << 20
"""A work buffer's share of each CPU thread: two of them stay in the core's cache."""
CPU_THREADS = 8
"""Threads counted for the size of a work buffer; more would trade memory for nothing."""
DEVICE_CHUNK_BYTES = 128 << 20
"""Size of a work buffer on an accelerator: enough to fill it, small beside the logits."""
FLOOR = -1e4
"""A shifted logit below this has probability zero; a finite one keeps ``0 * -inf`` out of the entropy."""


class TokenScores(NamedTuple):
    """What one pass over the logits gives.

    Attributes:
        logprobs: Log-probability of each given token. Shape ``(...)``, nats, never positive; 0 where masked out.
        entropy: Entropy of the distribution at each position. Shape ``(...)``, nats in [0, ln V]; 0 where masked out.
    """

    logprobs: Tensor
    entropy: Tensor


def logprobs_and_entropy(
    logits: Tensor,
    tokens: Tensor,
    *,
    mask: Tensor | None = None,
    temperature: float = 1.0,
    entropy_gradient: bool = False,
) -> TokenScores:
    """Log-probabilities of `tokens` and the entropy of ``softmax(logits / temperature)``.

    Extra memory is two work buffers; the backward pass adds the gradient of the logits. Logits may be -inf (forbidden
    tokens); a row with NaN or +inf gives NaN.

    Args:
        logits: Logits as the head gives them. Shape ``(..., V)``, any floating type.
        tokens: Tokens to score: the ones that were sampled. Shape ``(...)``.
        mask: 1 where a position counts; other rows are not computed and give 0. Finding them costs a host
            synchronisation on an accelerator, so drop them before the head where possible. Shape ``(...)``.
        temperature: The one the tokens were sampled with; log-probabilities and entropy are those of the sampler.
        entropy_gradient: Whether the entropy has a gradient too, for an entropy bonus. Log-probabilities always have.

    Returns:
        Both in float32, or in float64 for float64 logits.

    Raises:
        ValueError: When the temperature is not positive or the shapes do not belong together.
    """
    if not temperature > 0:
        raise ValueError(
            told(
                "temperature must be positive, not {temperature}; greedy decoding has no log-probabilities",
                temperature=temperature,
            )
        )
    if logits.shape[:-1] != tokens.shape:
        expected, seen = tuple(logits.shape[:-1]), tuple(tokens.shape)
        raise ValueError(
            told(
                "logits {shape} need tokens of shape {expected}, not {seen}",
                shape=tuple(logits.shape),
                expected=expected,
                seen=seen,
            )
        )
    if mask is not None and mask.shape != tokens.shape:
        raise ValueError(
            told(
                "tokens {shape} need a mask of the same shape, not {seen}",
                shape=tuple(tokens.shape),
                seen=tuple(mask.shape),
            )
        )
    rows = logits.reshape(-1, logits.shape[-1])
    chosen = None if mask is None else mask.reshape(-1).nonzero().squeeze(-1)
    logprobs, entropy = _fused().apply(rows, tokens.reshape(-1), chosen, 1.0 / temperature, entropy_gradient)
    return TokenScores(logprobs.view(tokens.shape), entropy.view(tokens.shape))


def selected_logprobs(
    logits: Tensor, tokens: Tensor, *, mask: Tensor | None = None, temperature: float = 1.0
) -> Tensor:
    """Log-probabilities of `tokens` under ``softmax(logits / temperature)``. Shape ``(...)``, nats.

    The pass of `logprobs_and_entropy`, with its arguments and errors, without its second result.
    """
    return logprobs_and_entropy(logits, tokens, mask=mask, temperature=temperature).logprobs


def entropy_from_logits(logits: Tensor, *, mask: Tensor | None = None, temperature: float = 1.0) -> Tensor:
    """Entropy of ``softmax(logits / temperature)``, with its gradient. Shape ``(...)``, nats in [0, ln V].

    The exact entropy over the vocabulary, not the surprisal of the sampled tokens that TRL calls ``objective/entropy``.
    """
    tokens = logits.new_zeros(logits.shape[:-1]).long()
    return logprobs_and_entropy(logits, tokens, mask=mask, temperature=temperature, entropy_gradient=True).entropy


def _sweep(
    rows: Tensor, chosen: Tensor | None, scale: float, maxima: Tensor, *, known: bool
) -> Iterator[tuple[slice | Tensor, Tensor, Tensor]]:
    """Chunks of rows: where they lie, their shifted logits and their weights, both to the base 2.

    The shifted logits are ``(logits - maximum) * scale / ln 2``, so that the weights, two to their power, are the probabilities
    times what they add up to. The two tensors are work buffers that the next chunk overwrites.

    Args:
        rows: Logits. Shape ``(N, V)``.
        chosen: Rows to take; all when None.
        scale: One over the temperature.
        maxima: The greatest logit of each row, in the type that is computed in. Shape ``(N,)``.
        known: Whether `maxima` are known; they are filled in where not.
    """
    import torch

    vocabulary = rows.shape[1]
    count = rows.shape[0] if chosen is None else chosen.shape[0]
    on_cpu = rows.device.type == "cpu"
    budget = CPU_CHUNK_BYTES * min(CPU_THREADS, torch.get_num_threads()) if on_cpu else DEVICE_CHUNK_BYTES
    size = max(1, min(count, budget // max(1, vocabulary * maxima.element_size())))
    to_base_2 = scale / math.log(2)
    shifted_buffer, weights_buffer = (rows.new_empty((size, vocabulary), dtype=maxima.dtype) for _ in range(2))
    for first in range(0, count, size):
        end = min(first + size, count)
        at = slice(first, end) if chosen is None else chosen[first:end]
        chunk, shifted, weights = rows[at], shifted_buffer[: end - first], weights_buffer[: end - first]
        if chunk.dtype != maxima.dtype:
            chunk = weights.copy_(chunk)
        if not known:
            maxima[at] = chunk.amax(-1)
        # Multiplied and added with one rounding: the maximum's own rounding is the same in a row's every weight.
        torch.add((maxima[at] * -to_base_2).unsqueeze(-1), chunk, alpha=to_base_2, out=shifted)
        # Base 2, because that power is computed in less than half the time of an exponential.
        torch.exp2(shifted, out=weights)
        yield at, shifted, weights


def _weighted_sum(weights: Tensor, shifted: Tensor) -> Tensor:
    """Sum over the last axis of ``weights * shifted``, where a weight of 0 outdoes a value of -inf. Overwrites `shifted`."""
    if weights.device.type != "cpu":
        return shifted.clamp_(min=FLOOR).mul_(weights).sum(-1)
    found = shifted.mul_(weights).sum(-1)
    if bool(found.isnan().any()):
        # Products of 0 and -inf; what the logits themselves had of NaN is in the weights, too.
        found = shifted.masked_fill_(weights == 0, 0.0).sum(-1)
    return found


@cache
def _fused() -> Any:  # noqa: ANN401
    """The autograd function, made on first use so that importing the signals does not import torch."""
    import torch

    class Fused(torch.autograd.Function):
        """Log-probabilities and entropy of rows of logits. Shapes ``(N, V)``, ``(N,)`` to ``(N,)``, ``(N,)``."""

        @staticmethod
        def forward(
            ctx: Any,  # noqa: ANN401
            rows: Tensor,
            tokens: Tensor,
            chosen: Tensor | None,
            scale: float,
            entropy_gradient: bool,  # noqa: FBT001
        ) -> tuple[Tensor, Tensor]:
            wide = torch.float64 if rows.dtype == torch.float64 else torch.float32
            logprobs, entropy, totals, maxima = (rows.new_zeros(rows.shape[0], dtype=wide) for _ in range(4))
            for at, shifted, weights in _sweep(rows, chosen, scale, maxima, known=False):
                total = weights.sum(-1)
                log_total = total.log2()
                logprobs[at] = (shifted.gather(-1, tokens[at].unsqueeze(-1)).squeeze(-1) - log_total) * math.log(2)
                entropy[at] = (log_total - _weighted_sum(weights, shifted) / total) * math.log(2)
                totals[at] = total
            # What rounding put on the wrong side of certainty.
            logprobs.clamp_(max=0.0)
            entropy.clamp_(min=0.0)
            ctx.save_for_backward(rows, tokens, chosen, maxima, totals, entropy)
            ctx.scale, ctx.entropy_gradient = scale, entropy_gradient
            if not entropy_gradient:
                ctx.mark_non_differentiable(entropy)
            return logprobs, entropy

        @staticmethod
        def backward(ctx: Any, to_logprobs: Tensor, to_entropy: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
            rows, tokens, chosen, maxima, totals, entropy = ctx.saved_tensors
            gradient = torch.empty_like(rows) if chosen is None else torch.zeros_like(rows)
            for at, shifted, weights in _sweep(rows, chosen, ctx.scale, maxima, known=True):
                pull = (to_logprobs[at] * ctx.scale).unsqueeze(-1)
                total = totals[at].unsqueeze(-1)
                if ctx.entropy_gradient:
                    # d entropy / d logit = -p * (log p + entropy)
                    shifted.sub_(total.log2() - entropy[at].unsqueeze(-1) / math.log(2)).clamp_(min=FLOOR)
                    shifted.mul_((to_entropy[at] * (ctx.scale * math.log(2))).unsqueeze(-1)).add_(pull)
                    weights.mul_(shifted.div_(-total))
                else:
                    weights.mul_(pull / -total)
                weights.scatter_add_(-1, tokens[at].unsqueeze(-1), pull)
                if chosen is None:
                    gradient[at].copy_(weights)
                else:
                    gradient[at] = weights.to(rows.dtype)
            return gradient, None, None, None, None

    return Fused
