"""Passes of the commonest decoder-only architecture, written out: what costs time is calling modules, not computing.

A decoding step of a small model, or of a large one on an accelerator, is a few hundred tiny operations, most of the time of
which goes into module calls, cache concatenation and mask building. Here it is the arithmetic alone, on the model's own
parameters and a cache with room to grow. It serves Llama, Mistral, Qwen 2 and Qwen 3, without gradients; what it does with a
model for the first time is checked against the model itself, and on any difference the model goes on by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from transformers import PreTrainedModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    Attend = Callable[[int, Tensor, Tensor], Tensor]

ARCHITECTURES = frozenset({"llama", "mistral", "qwen2", "qwen3"})
ROTATIONS = frozenset({"default", "linear", "llama3"})
"""Rotary embeddings whose angles depend on the position alone."""
FUSED_BYTES = 64 << 20
"""Projections of one input are joined for one multiplication, unless the copies of the weights would take more than this."""
ROUNDING = {torch.float32: 1e-4, torch.float64: 1e-9}
"""Difference of logits, relative to their spread, that rounding explains; 5 % in half precision."""

READS: WeakKeyDictionary[nn.Module, bool] = WeakKeyDictionary()
"""Whether a whole sequence comes out as the model has it, by model; those it was not tried with are not there."""
STEPS: WeakKeyDictionary[nn.Module, bool] = WeakKeyDictionary()
"""The same of a decoding step."""


class Trunk:
    """A model's parameters, and the arithmetic on tokens as one flat list, ``(N, C)``, whatever sequences they belong to."""

    def __init__(self, model: Any, length: int) -> None:  # noqa: ANN401
        """Take over the parameters of `model`, for positions below `length`. Use `of`, which knows which models it serves."""
        inner = model.model
        attention = inner.layers[0].self_attn
        self.queries = model.config.num_attention_heads
        self.pairs = model.config.num_key_value_heads
        self.width, self.scale = attention.head_dim, attention.scaling
        self.embedding, self.norm, self.head = inner.embed_tokens, inner.norm, model.lm_head
        fused = sum(p.numel() * p.element_size() for p in model.parameters()) <= FUSED_BYTES
        self.layers = [_Layer(layer, fused=fused) for layer in inner.layers]
        positions = torch.arange(length, device=self.embedding.weight.device).unsqueeze(0)
        cos, sin = inner.rotary_emb(self.embedding.weight[:1].unsqueeze(0), position_ids=positions)
        half = self.width // 2
        # The sign of the sine's first half is folded in, so that a rotation is two products and a swap of halves.
        self.cos, self.sin = cos[0], torch.cat((-sin[0, :, :half], sin[0, :, half:]), -1)

    @classmethod
    def of(cls, model: nn.Module, length: int) -> Self | None:
        """The trunk of this model as it is now; None for one that is not served, or was found to do otherwise."""
        return cls(model, length) if READS.get(model, True) and _served(model, length) else None

    def hidden(self, tokens: Tensor, positions: Tensor, attend: Attend) -> Tensor:
        """What the head gets.

        Args:
            tokens: Shape ``(N,)``.
            positions: Their places. Shape ``(N,)``.
            attend: Attention of a layer: its number, the turned queries and keys ``(N, queries + pairs, D)`` and all
                projected heads ``(N, queries + 2 pairs, D)``, to ``(N, queries D)``.

        Returns:
            Shape ``(N, C)``.
        """
        hidden = F.embedding(tokens, self.embedding.weight)
        cos, sin = self.cos[positions].unsqueeze(1), self.sin[positions].unsqueeze(1)  # (N, 1, D)
        turning = self.queries + self.pairs
        for number, layer in enumerate(self.layers):
            heads = layer.project(_normed(hidden, layer.before), self.queries, self.pairs, self.width)
            turned = _rotated(heads[:, :turning], cos, sin)
            hidden = hidden + F.linear(attend(number, turned, heads), layer.out.weight, layer.out.bias)
            hidden = hidden + layer.feed_forward(_normed(hidden, layer.between))
        return _normed(hidden, self.norm)

    def attention(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, *, causal: bool) -> Tensor:
        """Shapes ``(B, heads, S, D)``."""
        return F.scaled_dot_product_attention(
            query,
            keys,
            values,
            attn_mask=mask,
            is_causal=causal,
            scale=self.scale,
            enable_gqa=self.queries != self.pairs,
        )

    def read(
        self,
        ids: Tensor,
        mask: Tensor | None,
        positions: Tensor | None = None,
        kept: list[tuple[Tensor, Tensor]] | None = None,
    ) -> Tensor:
        """Whole sequences.

        Args:
            ids: Tokens. Shape ``(B, S)``.
            mask: 1 on real tokens where padding is on the left, else None. Shape ``(B, S)``.
            positions: Places of the tokens in their sequence; None where every row is one. Shape ``(B, S)``.
            kept: Gets keys and values of each layer, ``(B, pairs, S, D)``, to decode after them.

        Returns:
            What the head gets. Shape ``(B S, C)``.
        """
        rows, length = ids.shape
        seen = None
        if mask is not None:
            positions = (mask.cumsum(-1) - 1).clamp(min=0)
            # Padding looks at itself: a row without anything to look at would be NaN.
            itself = torch.eye(length, dtype=torch.bool, device=ids.device)
            seen = (_lower(length, ids.device) & mask.bool()[:, None, :]) | itself
        elif positions is not None:
            sequence = (positions == 0).cumsum(-1)
            seen = _lower(length, ids.device) & (sequence.unsqueeze(-1) == sequence.unsqueeze(-2))
        seen = seen if seen is None else seen.unsqueeze(1)
        where = torch.arange(length, device=ids.device).repeat(rows) if positions is None else positions.flatten()

        def attend(_: int, turned: Tensor, heads: Tensor) -> Tensor:
            query = turned[:, : self.queries].view(rows, length, -1, self.width).transpose(1, 2)
            keys = turned[:, self.queries :].view(rows, length, -1, self.width).transpose(1, 2)
            values = heads[:, self.queries + self.pairs :].view(rows, length, -1, self.width).transpose(1, 2)
            if kept is not None:
                kept.append((keys, values))
            out = self.attention(query, keys, values, seen, causal=seen is None)
            return out.transpose(1, 2).reshape(rows * length, -1)

        return self.hidden(ids.flatten(), where, attend)


class Decoder:
    """Decoding steps after prompts that were read, by a `Trunk` or by the model itself."""

    def __init__(self, trunk: Trunk, kept: list[tuple[Tensor, Tensor]], room: int) -> None:
        """Go on after these keys and values, for up to `room` more tokens."""
        self.trunk, self.length = trunk, kept[0][0].shape[2]
        self.keys = [_roomy(keys, room) for keys, _ in kept]
        self.values = [_roomy(values, room) for _, values in kept]

    def __call__(self, token: Tensor, mask: Tensor | None, position: Tensor) -> Tensor:
        """Logits after one more token of each completion.

        Args:
            token: The token. Shape ``(B,)``.
            mask: True on what may be looked at, the token included; None for everything. Shape ``(B, S)``.
            position: Place of the token. Shape ``(B,)``.

        Returns:
            Shape ``(B, V)``.
        """
        trunk, at, rows = self.trunk, self.length, token.shape[0]
        self.length += 1
        seen = None if mask is None else mask[:, None, None, :]

        def attend(number: int, turned: Tensor, heads: Tensor) -> Tensor:
            keys, values = self.keys[number], self.values[number]
            keys[:, :, at], values[:, :, at] = turned[:, trunk.queries :], heads[:, trunk.queries + trunk.pairs :]
            query = turned[:, : trunk.queries].unsqueeze(2)
            return trunk.attention(query, keys[:, :, : at + 1], values[:, :, : at + 1], seen, causal=False).view(
                rows, -1
            )

        logits: Tensor = trunk.head(trunk.hidden(token, position, attend))
        return logits

    def select(self, rows: Tensor) -> None:
        """Go on with these completions only; one may occur several times."""
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]


class _Layer:
    """The parameters of one layer, and the arithmetic around attention."""

    def __init__(self, layer: Any, *, fused: bool) -> None:  # noqa: ANN401
        attention, mlp = layer.self_attn, layer.mlp
        self.before, self.between = layer.input_layernorm, layer.post_attention_layernorm
        self.query_norm, self.key_norm = getattr(attention, "q_norm", None), getattr(attention, "k_norm", None)
        self.qkv = _joined([attention.q_proj, attention.k_proj, attention.v_proj], fused=fused)
        self.gate_up = _joined([mlp.gate_proj, mlp.up_proj], fused=fused)
        self.out, self.down, self.activation = attention.o_proj, mlp.down_proj, mlp.act_fn

    def project(self, hidden: Tensor, queries: int, pairs: int, width: int) -> Tensor:
        """Queries, then keys, then values. Shape ``(N, heads, D)``."""
        parts = [F.linear(hidden, weight, bias) for weight, bias in self.qkv]
        heads = (parts[0] if len(parts) == 1 else torch.cat(parts, -1)).view(hidden.shape[0], -1, width)
        if self.query_norm is None:
            return heads
        query, key, value = heads.split((queries, pairs, pairs), 1)
        return torch.cat([_normed(query, self.query_norm), _normed(key, self.key_norm), value], 1)

    def feed_forward(self, hidden: Tensor) -> Tensor:
        """Shape ``(N, C)``."""
        if len(self.gate_up) == 1:
            gate, up = F.linear(hidden, *self.gate_up[0]).chunk(2, -1)
        else:
            gate, up = (F.linear(hidden, weight, bias) for weight, bias in self.gate_up)
        return F.linear(self.activation(gate) * up, self.down.weight, self.down.bias)


def _joined(parts: list[Any], *, fused: bool) -> list[tuple[Tensor, Tensor | None]]:
    """Weights and biases of projections of one input, as one where they may be copied."""
    if not fused:
        return [(p.weight, p.bias) for p in parts]
    bias = None if parts[0].bias is None else torch.cat([p.bias for p in parts])
    return [(torch.cat([p.weight for p in parts]), bias)]


def _roomy(held: Tensor, room: int) -> Tensor:
    rows, heads, length, width = held.shape
    roomy = held.new_empty((rows, heads, length + room, width))
    roomy[:, :, :length] = held
    return roomy


def _normed(hidden: Tensor, norm: Any) -> Tensor:  # noqa: ANN401
    wide = hidden.float() if hidden.element_size() < 4 else hidden
    # In place, and not by `rms_norm`, which on a CPU takes twice as long for the few rows of a decoding step.
    scaled = wide.square().mean(-1, keepdim=True).add_(norm.variance_epsilon).rsqrt_().mul(wide)
    if wide is hidden:
        return scaled.mul_(norm.weight)
    out: Tensor = norm.weight * scaled.to(hidden.dtype)
    return out


def _rotated(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return torch.addcmul(heads * cos, heads.roll(heads.shape[-1] // 2, -1), sin)


def _served(model: Any, length: int) -> bool:  # noqa: ANN401
    """Whether the model is of an architecture that is written out here, with nothing added to it."""
    if not isinstance(model, PreTrainedModel) or model.config.model_type not in ARCHITECTURES:
        return False
    config, weight = model.config, getattr(model.get_output_embeddings(), "weight", None)
    # Parameters that are gathered when a module is called are not there without calling it.
    if type(getattr(weight, "data", None)) is not torch.Tensor or hasattr(weight, "ds_id"):
        return False
    if torch.is_autocast_enabled(model.device.type):
        return False
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    rotation = rope.get("rope_type", rope.get("type", "default")) if isinstance(rope, dict) else "unknown"
    window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    if rotation not in ROTATIONS or (window is not None and length > window):
        return False
    layers = getattr(getattr(model, "model", None), "layers", None)
    if not layers or type(getattr(model, "lm_head", None)) is not nn.Linear:
        return False
    names = ("q_proj", "k_proj", "v_proj", "o_proj"), ("gate_proj", "up_proj", "down_proj")
    return all(
        type(getattr(part, name, None)) is nn.Linear
        for layer in layers
        for part, needed in ((layer.self_attn, names[0]), (layer.mlp, names[1]))
        for name in needed
    )


def _lower(length: int, device: torch.device) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def agrees(mine: Tensor, theirs: Tensor, precision: torch.dtype | None = None) -> bool:
    """Whether logits are the same up to rounding. Looks at the device.

    Args:
        mine: Shape ``(N, V)``.
        theirs: Shape ``(N, V)``.
        precision: Type that they were computed in; that of `theirs` by default.
    """
    error = (mine.double() - theirs.double()).square().mean().sqrt()
    return float(error / theirs.double().std()) <= ROUNDING.get(precision or theirs.dtype, 5e-2)
