"""Sampling completions, with the log-probabilities they were sampled at.

A plain loop over the model's own forward pass, instead of `generate`: prompts are read once however many completions they get,
completions that have ended leave the batch, and the log-probabilities are kept, so that no second pass has to find them
again. They are those of ``softmax(logits / temperature)`` before top-p, top-k, min-p and the repetition penalty, like all
log-probabilities of a trainer. The device is looked at every few tokens, not every token.
"""

from __future__ import annotations

import inspect
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from transformers import DynamicCache

from holter.errors import HolterError
from holter.trainers.decoder import READS, STEPS, Decoder, Trunk, agrees

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor, nn

LOOK_EVERY = 8
"""Tokens between two looks at which completions have ended, where looking means waiting for the device."""
LEAVE_BELOW = 0.75
"""Share of running completions below which the ended ones leave the batch: leaving costs a copy of the cache."""


class SamplingError(HolterError, FloatingPointError):
    """The policy gives no distribution to sample from: its logits are NaN."""


@dataclass(frozen=True)
class Sampling:
    """How completions are sampled.

    Attributes:
        max_tokens: Most tokens of a completion.
        ends: Tokens that end a completion and belong to it.
        pad: Token in the padding of prompts.
        temperature: Logits are divided by it.
        top_p: Sample from the likeliest tokens of this total probability.
        top_k: Sample from so many likeliest tokens; 0 for all.
        min_p: Sample from tokens of at least this share of the likeliest one's probability; 0 for all.
        repetition_penalty: Above 1, tokens of prompt and completion become less likely.
        synchronised: Whether every process has to make the same number of passes, because they gather parameters in it.
    """

    max_tokens: int
    ends: tuple[int, ...]
    pad: int = 0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    synchronised: bool = False

    @property
    def plain(self) -> bool:
        """Whether tokens are sampled from the policy as it is."""
        return self.top_p >= 1 and not self.top_k and not self.min_p and self.repetition_penalty == 1


@dataclass(frozen=True)
class Completions:
    """Sampled completions; on the host, except where said.

    Attributes:
        tokens: Tokens of each, up to and including the end token.
        ended: Whether each one ended, instead of hitting the limit.
        logprobs: Log-probabilities of the tokens, padded with 0. Shape ``(B, T)``, nats, on the device.
    """

    tokens: list[list[int]]
    ended: list[bool]
    logprobs: Tensor


@torch.no_grad()
def sample(model: nn.Module, prompts: Sequence[list[int]], sampling: Sampling, device: torch.device) -> Completions:
    """One completion of each prompt; prompts that stand next to each other and are alike are read once.

    Args:
        model: The policy; sampled in evaluation mode and left as it was.
        prompts: Tokens of each prompt.
        sampling: How.
        device: Where the model is.

    Raises:
        SamplingError: When the policy's logits are NaN.
    """
    step = _Stepper(model, max(map(len, prompts)), sampling.max_tokens)
    # A model's own forward may keep tensors for later, and those of inference mode are of no use to training.
    with nullcontext() if step.is_sure else evaluating(model), torch.inference_mode(step.trunk is not None):
        tokens, logprobs, ended = _sample(step, prompts, sampling, device)
    table, finished, broken = tokens.tolist(), ended.tolist(), bool(logprobs.isnan().any())
    if broken:
        raise SamplingError(
            "the policy's logits are NaN, so there is nothing to sample from: its weights are broken since the last update. "
            "Look at grad_norm and loss of the last rows, and resume from a checkpoint before them."
        )
    ends = set(sampling.ends)
    lists = [_until_end(row, ends) for row in table]
    longest = max(map(len, lists))
    real = torch.arange(longest).unsqueeze(0) < torch.tensor([len(row) for row in lists]).unsqueeze(-1)
    return Completions(lists, finished, logprobs[:, :longest].where(real.to(device, non_blocking=True), 0.0))


def _until_end(row: list[int], ends: set[int]) -> list[int]:
    return next((row[: i + 1] for i, token in enumerate(row) if token in ends), row)


def _sample(
    step: _Stepper, prompts: Sequence[list[int]], sampling: Sampling, device: torch.device
) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens and log-probabilities, both ``(B, T)``, and which completions ended, ``(B,)``."""
    rows = len(prompts)
    unique, copies = _runs(prompts)
    ids, mask = left_padded(unique, sampling.pad, device)
    logits = step.read(ids, mask)
    if len(unique) < rows:
        at = torch.repeat_interleave(torch.arange(len(unique)), torch.tensor(copies)).to(device)
        step.select(at)
        logits, mask, ids = logits[at], mask[at], ids[at]
    width, look_every = ids.shape[1], 1 if device.type == "cpu" else LOOK_EVERY
    padded = len(set(map(len, unique))) > 1
    whole = torch.cat([mask.bool(), mask.new_ones((rows, sampling.max_tokens), dtype=torch.bool)], 1)
    position = mask.sum(-1)
    out = torch.full((rows, sampling.max_tokens), sampling.pad, device=device)
    logprobs = torch.zeros((rows, sampling.max_tokens), device=device)
    running, ended = torch.arange(rows, device=device), torch.zeros(rows, dtype=torch.bool, device=device)
    ended_all = ended.clone()
    first = 0
    news: list[tuple[Tensor, Tensor]] = []

    def settle() -> None:
        """Write what was sampled since the completions that run were last settled."""
        out[running, first : first + len(news)] = torch.stack([token for token, _ in news], 1)
        logprobs[running, first : first + len(news)] = torch.stack([logprob for _, logprob in news], 1)
        ended_all[running] = ended

    for t in range(sampling.max_tokens):
        seen = None
        if sampling.repetition_penalty != 1:
            told = [out[running, :first], *(token.unsqueeze(-1) for token, _ in news)]
            seen = torch.cat([ids[running], *told], 1)
        # What a completion "samples" after its end is cut off afterwards: cheaper than holding it still meanwhile.
        token, logprob = _next(logits, sampling, seen)
        news.append((token, logprob))
        for end in sampling.ends:
            ended = ended | (token == end)
        if t + 1 == sampling.max_tokens:
            break
        if (t + 1) % look_every == 0:
            left = running.numel() - int(ended.sum())
            if _all_done(left, sampling, device):
                break
            if 0 < left < LEAVE_BELOW * running.numel():
                settle()
                first, news = t + 1, []
                rest = (~ended).nonzero().squeeze(-1)
                step.select(rest)
                running, token, ended, position, whole = (x[rest] for x in (running, token, ended, position, whole))
        logits = step(token, whole[:, : width + t + 1] if padded else None, position)
        position = position + 1
    settle()
    return out, logprobs, ended_all


def _next(logits: Tensor, sampling: Sampling, seen: Tensor | None) -> tuple[Tensor, Tensor]:
    """The next token of each completion and its log-probability under the policy. Shapes ``(B,)``."""
    logits = logits.float()
    scaled = logits if sampling.temperature == 1 else logits / sampling.temperature
    logprobs = scaled.log_softmax(-1)
    if sampling.plain:
        probabilities = logprobs.exp()
    else:
        probabilities = _allowed(logits, sampling, seen)
    token = _drawn(probabilities)
    return token, logprobs.gather(-1, token.unsqueeze(-1)).squeeze(-1)


def _drawn(probabilities: Tensor) -> Tensor:
    """A token for each row of probabilities, ``(B, V)`` to ``(B,)``; anything for a row of NaN.

    The place of one random number among the cumulated probabilities: `multinomial` draws one a token of the vocabulary, waits
    for the device and crashes on NaN. Cumulated in double precision, or rare tokens would come too often or never.
    """
    wide = torch.float32 if probabilities.device.type == "mps" else torch.float64
    cumulated = probabilities.cumsum(-1, dtype=wide)
    least = torch.rand((len(cumulated), 1), dtype=wide, device=cumulated.device) * cumulated[:, -1:]
    found = torch.searchsorted(cumulated, least, right=True).squeeze(-1)
    return found.clamp_(max=probabilities.shape[-1] - 1)


def _allowed(logits: Tensor, sampling: Sampling, seen: Tensor | None) -> Tensor:
    """Probabilities to sample from, after penalty, temperature, top-k, top-p and min-p, in this order."""
    if seen is not None:
        past = logits.gather(-1, seen)
        penalty = sampling.repetition_penalty
        logits = logits.scatter(-1, seen, torch.where(past < 0, past * penalty, past / penalty))
    logits = logits / sampling.temperature
    if sampling.top_k:
        least = logits.topk(min(sampling.top_k, logits.shape[-1]), -1).values[:, -1:]
        logits = logits.masked_fill(logits < least, float("-inf"))
    if sampling.top_p < 1:
        ordered, order = logits.sort(-1, descending=True)
        before = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
        logits = logits.masked_fill(
            (before >= sampling.top_p).scatter(-1, order, before >= sampling.top_p), float("-inf")
        )
    probabilities = logits.softmax(-1)
    if sampling.min_p:
        probabilities = probabilities.where(probabilities >= sampling.min_p * probabilities.amax(-1, keepdim=True), 0.0)
    return probabilities


class _Stepper:
    """Passes that remember what was read: a `Decoder`'s where it serves the model and does what the model does."""

    def __init__(self, model: nn.Module, longest: int, room: int) -> None:
        self.model, self.room = model, room
        inner = getattr(model, "module", model)
        base = inner.get_base_model() if hasattr(inner, "get_base_model") else inner
        accepted = inspect.signature(base.forward).parameters
        self.cache_name = "cache" if "cache" in accepted else "past_key_values"
        self.options: dict[str, Any] = {"logits_to_keep": 1} if "logits_to_keep" in accepted else {}
        self.cache: Any = DynamicCache(config=getattr(base, "config", None))
        self.trunk = Trunk.of(model, longest + room) if STEPS.get(model, True) else None
        self.decoder: Decoder | None = None

    @property
    def is_sure(self) -> bool:
        """Whether the model itself will not be called."""
        return self.trunk is not None and self.model in READS and self.model in STEPS

    def read(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Logits after the prompts. Shape ``(B, V)``."""
        own = None if self.is_sure else self._pass(ids, mask, (mask.cumsum(-1) - 1).clamp(min=0))
        if self.trunk is None:
            assert own is not None
            return own
        kept: list[tuple[Tensor, Tensor]] = []
        hidden = self.trunk.read(ids, mask, kept=kept)
        logits: Tensor = self.trunk.head(hidden.view(*ids.shape, -1)[:, -1])
        if own is not None:
            READS[self.model] = agrees(logits, own)
            if not READS[self.model]:
                self.trunk = None
                return own
        self.decoder = Decoder(self.trunk, kept, self.room)
        return logits

    def __call__(self, token: Tensor, mask: Tensor | None, position: Tensor) -> Tensor:
        """Logits after one more token of each completion. Shape ``(B, V)``."""
        if self.decoder is None:
            return self._pass(token.unsqueeze(-1), mask, position.unsqueeze(-1))
        logits = self.decoder(token, mask, position)
        if self.model in STEPS:
            return logits
        own = self._pass(token.unsqueeze(-1), mask, position.unsqueeze(-1))
        STEPS[self.model] = agrees(logits, own)
        if STEPS[self.model]:
            # Not the model's own: then the first pass, which a resumed run makes again, would round otherwise than later ones.
            return logits
        self.decoder = None
        return own

    def _pass(self, ids: Tensor, mask: Tensor | None, positions: Tensor) -> Tensor:
        out = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            use_cache=True,
            **{self.cache_name: self.cache},
            **self.options,
        )
        logits: Tensor = out.logits[:, -1]
        return logits

    def select(self, rows: Tensor) -> None:
        """Go on with these completions only; one may occur several times."""
        if self.decoder is not None:
            self.decoder.select(rows)
        if self.decoder is None or self.model not in STEPS:
            self.cache.batch_select_indices(rows)


def left_padded(rows: Sequence[list[int]], pad: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Tokens and mask, both ``(B, S)``, real tokens at the end."""
    length = max(map(len, rows))
    ids = torch.tensor([[pad] * (length - len(r)) + list(r) for r in rows])
    mask = torch.tensor([[0] * (length - len(r)) + [1] * len(r) for r in rows])
    return ids.to(device, non_blocking=True), mask.to(device, non_blocking=True)


def _runs(prompts: Sequence[list[int]]) -> tuple[list[list[int]], list[int]]:
    """Prompts without repetitions next to each other, and how often each stood there."""
    unique: list[list[int]] = []
    copies: list[int] = []
    for prompt in prompts:
        if unique and unique[-1] == prompt:
            copies[-1] += 1
        else:
            unique.append(prompt)
            copies.append(1)
    return unique, copies


def _all_done(left: int, sampling: Sampling, device: torch.device) -> bool:
    if not sampling.synchronised:
        return left == 0
    import torch.distributed as dist

    total = torch.tensor(left, device=device)
    dist.all_reduce(total)
    return int(total) == 0


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """The model without dropout, and as it was afterwards."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
