"""One decoding step of the commonest decoder-only architecture, written out: what costs time is calling modules, not computing.

A decoding step of a small model, or of a large one on an accelerator, is a few hundred tiny operations, most of them spent on
module calls, cache concatenation and mask building. Here it is the arithmetic alone, on the model's own parameters and a cache
with room to grow. It serves Llama, Mistral, Qwen 2 and Qwen 3; the first step it takes with a model is checked against
the model itself, and on any difference the model decodes by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import torch
import torch.nn.functional as F  # noqa: N812

if TYPE_CHECKING:
    from torch import Tensor, nn

ARCHITECTURES = frozenset({"llama", "mistral", "qwen2", "qwen3"})
ROTATIONS = frozenset({"default", "linear", "llama3"})
"""Rotary embeddings whose angles depend on the position alone."""
FUSED_BYTES = 64 << 20
"""Projections of one input are joined for one multiplication, unless the copies of the weights would take more than this."""
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-9}
"""Largest difference of logits, relative to the largest logit, that rounding explains; 5 % in half precision."""


class Decoder:
    """Decoding steps after the prompts have been read into a cache by the model itself."""

    def __init__(self, model: Any, cache: Any, room: int) -> None:  # noqa: ANN401
        """Take over `cache`, for up to `room` more tokens. Use `of`, which knows which models it serves."""
        inner = model.model
        attention = inner.layers[0].self_attn
        self.heads_q = model.config.num_attention_heads
        self.heads_kv = model.config.num_key_value_heads
        self.width = attention.head_dim
        self.scale = attention.scaling
        self.embedding, self.head = inner.embed_tokens, model.lm_head
        self.norm = inner.norm
        self.rotary = inner.rotary_emb
        fused = sum(p.numel() * p.element_size() for p in model.parameters()) <= FUSED_BYTES
        self.layers = [_Layer(layer, fused=fused) for layer in inner.layers]
        self.length = int(cache.get_seq_length())
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        for held in cache.layers:
            rows, heads, length, width = held.keys.shape
            for store, given in ((self.keys, held.keys), (self.values, held.values)):
                roomy = given.new_empty((rows, heads, length + room, width))
                roomy[:, :, :length] = given
                store.append(roomy)
        positions = torch.arange(self.length + room, device=self.keys[0].device).unsqueeze(0)
        cos, sin = self.rotary(self.embedding.weight[:1].unsqueeze(0), position_ids=positions)
        half = self.width // 2
        # The second half of the sine's signs is folded in, so that a rotation is two products and a swap of halves.
        self.cos, self.sin = cos[0], torch.cat((-sin[0, :, :half], sin[0, :, half:]), -1)

    @classmethod
    def of(cls, model: nn.Module, cache: Any, room: int) -> Self | None:  # noqa: ANN401
        """A decoder for this model; None for one that it does not serve."""
        return cls(model, cache, room) if _served(model, int(cache.get_seq_length()) + room) else None

    def __call__(self, token: Tensor, mask: Tensor | None, position: Tensor) -> Tensor:
        """Logits after one more token of each completion.

        Args:
            token: The token. Shape ``(B,)``.
            mask: True on what may be looked at, the token included; None for everything. Shape ``(B, S)``.
            position: Place of the token. Shape ``(B,)``.

        Returns:
            Shape ``(B, V)``.
        """
        rows, at = token.shape[0], self.length
        self.length += 1
        seen = None if mask is None else mask[:, None, None, :]
        hidden = F.embedding(token, self.embedding.weight)
        cos, sin = self.cos[position].unsqueeze(1), self.sin[position].unsqueeze(1)  # (B, 1, D)
        grouped = self.heads_q != self.heads_kv
        for layer, keys, values in zip(self.layers, self.keys, self.values, strict=True):
            heads = layer.project(layer.normed_in(hidden), self.heads_q, self.heads_kv, self.width)
            turned = _rotated(heads[:, : self.heads_q + self.heads_kv], cos, sin)
            query = turned[:, : self.heads_q]
            keys[:, :, at], values[:, :, at] = turned[:, self.heads_q :], heads[:, self.heads_q + self.heads_kv :]
            out = F.scaled_dot_product_attention(
                query.unsqueeze(2),
                keys[:, :, : at + 1],
                values[:, :, : at + 1],
                attn_mask=seen,
                scale=self.scale,
                enable_gqa=grouped,
            )
            hidden = hidden + layer.output(out.reshape(rows, -1))
            hidden = hidden + layer.feed_forward(layer.normed_out(hidden))
        logits: Tensor = self.head(_normed(hidden, self.norm))
        return logits

    def select(self, rows: Tensor) -> None:
        """Go on with these completions only."""
        self.keys = [k[rows] for k in self.keys]
        self.values = [v[rows] for v in self.values]


class _Layer:
    """The parameters of one layer, and the arithmetic around attention."""

    def __init__(self, layer: Any, *, fused: bool) -> None:  # noqa: ANN401
        attention, mlp = layer.self_attn, layer.mlp
        self.before, self.between = layer.input_layernorm, layer.post_attention_layernorm
        self.query_norm, self.key_norm = getattr(attention, "q_norm", None), getattr(attention, "k_norm", None)
        self.qkv = _joined([attention.q_proj, attention.k_proj, attention.v_proj], fused=fused)
        self.gate_up = _joined([mlp.gate_proj, mlp.up_proj], fused=fused)
        self.out, self.down, self.activation = attention.o_proj, mlp.down_proj, mlp.act_fn

    def normed_in(self, hidden: Tensor) -> Tensor:
        return _normed(hidden, self.before)

    def normed_out(self, hidden: Tensor) -> Tensor:
        return _normed(hidden, self.between)

    def project(self, hidden: Tensor, queries: int, keys: int, width: int) -> Tensor:
        """Queries, then keys, then values. Shape ``(B, heads, D)``."""
        parts = [F.linear(hidden, weight, bias) for weight, bias in self.qkv]
        heads = (parts[0] if len(parts) == 1 else torch.cat(parts, -1)).view(hidden.shape[0], -1, width)
        if self.query_norm is None:
            return heads
        query, key, value = heads.split((queries, keys, keys), 1)
        return torch.cat([_normed(query, self.query_norm), _normed(key, self.key_norm), value], 1)

    def output(self, attended: Tensor) -> Tensor:
        return F.linear(attended, self.out.weight, self.out.bias)

    def feed_forward(self, hidden: Tensor) -> Tensor:
        if len(self.gate_up) == 1:
            gate, up = F.linear(hidden, *self.gate_up[0]).chunk(2, -1)
        else:
            gate, up = (F.linear(hidden, w, b) for w, b in self.gate_up)
        return F.linear(self.activation(gate) * up, self.down.weight, self.down.bias)


def _joined(parts: list[Any], *, fused: bool) -> list[tuple[Tensor, Tensor | None]]:
    """Weights and biases of projections of one input, as one where they may be copied."""
    if not fused:
        return [(p.weight, p.bias) for p in parts]
    bias = None if parts[0].bias is None else torch.cat([p.bias for p in parts])
    return [(torch.cat([p.weight for p in parts]), bias)]


def _normed(hidden: Tensor, norm: Any) -> Tensor:  # noqa: ANN401
    if hidden.dtype == norm.weight.dtype == torch.float32:
        return F.rms_norm(hidden, norm.weight.shape, norm.weight, norm.variance_epsilon)
    scaled = F.rms_norm(hidden.float(), norm.weight.shape, None, norm.variance_epsilon)
    return norm.weight * scaled.to(hidden.dtype)


def _rotated(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return torch.addcmul(heads * cos, heads.roll(heads.shape[-1] // 2, -1), sin)


def _served(model: Any, length: int) -> bool:  # noqa: ANN401
    """Whether the model is of an architecture that is written out here, with nothing added to it."""
    config = getattr(model, "config", None)
    if getattr(config, "model_type", None) not in ARCHITECTURES or torch.is_autocast_enabled(model.device.type):
        return False
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    rotation = rope.get("rope_type", rope.get("type", "default")) if isinstance(rope, dict) else "unknown"
    window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    if rotation not in ROTATIONS or (window is not None and length > window):
        return False
    plain = (torch.nn.Linear,)
    layers = getattr(getattr(model, "model", None), "layers", None)
    if not layers or type(model.lm_head) not in plain:
        return False
    needed = ("q_proj", "k_proj", "v_proj", "o_proj"), ("gate_proj", "up_proj", "down_proj")
    return all(
        type(getattr(part, name, None)) in plain
        for layer in layers
        for part, names in ((layer.self_attn, needed[0]), (layer.mlp, needed[1]))
        for name in names
    )


def agrees(mine: Tensor, theirs: Tensor) -> bool:
    """Whether logits are the same up to rounding."""
    limit = TOLERANCE.get(theirs.dtype, 5e-2) * float(theirs.abs().max().clamp(min=1.0))
    return float((mine - theirs).abs().max()) <= limit
