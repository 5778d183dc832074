"""The policy and its value function as one module, and reward models that read tokens.

Trainers, optimizers and what shards parameters want one module, so there is one. To everything else it looks like the policy;
asked for more, it gives values too, of the tokens that count and of no others.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification, PreTrainedModel

from holter.errors import SettingsError
from holter.language import said
from holter.signals import logprobs_and_entropy
from holter.signals.logprobs import TokenScores
from holter.trainers.models import is_adapted, loaded, name_of
from holter.trainers.scoring import by_length, in_turn, packs, sequences, spread
from holter.trainers.sharded import copy_weights, gathered, in_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from torch import Tensor

    from holter.trainers.config import OnPolicyConfig
    from holter.trainers.scoring import Layout, Sequences

HEAD_FILE = "value_head.pt"


class PolicyAndValue(nn.Module):
    """A policy with a value function: a model of its own, or a head on the policy's last hidden states."""

    def __init__(self, policy: PreTrainedModel, value_model: PreTrainedModel | None) -> None:
        """Join them.

        Args:
            policy: A causal language model, with an adapter or without.
            value_model: A sequence classification model with one output; None for a head on the policy's trunk.
        """
        super().__init__()
        self.policy = policy
        self.value_model = value_model
        self.value_head: nn.Linear | None = None
        if value_model is None:
            weight = policy.get_output_embeddings().weight
            # Of a weight in parts its own shape is that of the part.
            width = getattr(weight, "ds_shape", weight.shape)[1]
            self.value_head = nn.Linear(width, 1, dtype=weight.dtype, device=weight.device)
            _zero(self.value_head)

    # What Trainer asks a model.

    @property
    def config(self) -> Any:  # noqa: ANN401
        """The policy's."""
        return self.policy.config

    @property
    def generation_config(self) -> Any:  # noqa: ANN401
        """The policy's."""
        return self.policy.generation_config

    @property
    def device(self) -> torch.device:
        """The policy's."""
        device: torch.device = self.policy.device
        return device

    def get_input_embeddings(self) -> nn.Module:
        """The policy's."""
        embeddings: nn.Module = self.policy.get_input_embeddings()
        return embeddings

    def get_output_embeddings(self) -> nn.Module:
        """The policy's."""
        head: nn.Module = self.policy.get_output_embeddings()
        return head

    def tie_weights(self) -> None:
        """Have what each model shares with itself shared again, after its parameters were replaced."""
        for model in filter(None, (self.policy, self.value_model)):
            model.tie_weights()

    @property
    def _no_split_modules(self) -> list[str]:
        """Names of the layers' classes, each of which FSDP shards as a whole."""
        models = filter(None, (self.policy, self.value_model))
        return sorted({name for model in models for name in getattr(model, "_no_split_modules", None) or ()})

    def gradient_checkpointing_enable(self, **options: Any) -> None:  # noqa: ANN401
        """Forget activations in both models."""
        for model in filter(None, (self.policy, self.value_model)):
            model.gradient_checkpointing_enable(**options)

    def gradient_checkpointing_disable(self) -> None:
        """Keep activations in both models."""
        for model in filter(None, (self.policy, self.value_model)):
            model.gradient_checkpointing_disable()

    # What is trained.

    @property
    def is_shared(self) -> bool:
        """Whether policy and value function share a trunk."""
        return self.value_model is None

    def value_parameters(self) -> list[nn.Parameter]:
        """Parameters that only the value function has."""
        own = self.value_head if self.value_model is None else self.value_model
        assert own is not None
        return list(own.parameters())

    def forward(self, *args: Any, at: Tensor | None = None, only: str = "", **kwargs: Any) -> Any:  # noqa: ANN401
        """The policy's output; or logits and values of chosen positions.

        Args:
            *args: What the policy takes.
            at: Positions in the flat ``(B S)``. Shape ``(N,)``.
            only: ``"values"`` where logits are not wanted.
            **kwargs: What the policy takes.

        Returns:
            With `at`, logits of shape ``(N, V)``, None where they are not wanted, and values of shape ``(N,)``, reward.
        """
        if at is None:
            return self.policy(*args, **kwargs)
        if self.value_model is None:
            logits, hidden = self._policy_at(at, only, *args, **kwargs)
            assert self.value_head is not None
            return logits, self.value_head(hidden).squeeze(-1).float()
        trunk, head = trunk_and_head(self.value_model)
        hidden = trunk(*args, **kwargs).last_hidden_state
        values = head(hidden.reshape(-1, hidden.shape[-1])[at]).squeeze(-1).float()
        if only == "values":
            return None, values
        return self._policy_at(at, only, *args, **kwargs)[0], values

    def _policy_at(self, at: Tensor, only: str, *args: Any, **kwargs: Any) -> tuple[Tensor | None, Tensor]:  # noqa: ANN401
        """Logits ``(N, V)`` and last hidden states ``(N, H)``; the head sees no position that is not wanted."""
        seen: list[Tensor] = []

        def pick(_: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            hidden, *rest = given
            seen.append(hidden.reshape(-1, hidden.shape[-1])[at])
            return (seen[0].unsqueeze(0)[:, : 0 if only == "values" else None], *rest)

        handle = self.get_output_embeddings().register_forward_pre_hook(pick)
        try:
            logits = self.policy(*args, **kwargs).logits
        finally:
            handle.remove()
        return None if only == "values" else logits.reshape(-1, logits.shape[-1]), seen[0]

    # Checkpoints.

    def save_value(self, folder: Path, state: dict[str, Tensor] | None = None) -> None:
        """Save the value function; a model of its own can be loaded again by the folder's name."""
        folder.mkdir(parents=True, exist_ok=True)
        if self.value_model is not None:
            self.value_model.save_pretrained(folder, state_dict=state)
        else:
            assert self.value_head is not None
            torch.save(state if state is not None else self.value_head.state_dict(), folder / HEAD_FILE)

    def split(self, state: dict[str, Tensor] | None) -> tuple[dict[str, Tensor] | None, dict[str, Tensor] | None]:
        """The parts of a state dictionary of both that belong to the policy and to the value function."""
        if state is None:
            return None, None
        prefix = "value_head." if self.is_shared else "value_model."
        policy = {n.removeprefix("policy."): t for n, t in state.items() if n.startswith("policy.")}
        return policy, {n.removeprefix(prefix): t for n, t in state.items() if n.startswith(prefix)}


def score_and_value(model: nn.Module, batch: Sequences, *, temperature: float) -> tuple[TokenScores, Tensor]:
    """Log-probabilities, entropy and values at every completion token, in one pass.

    Args:
        model: A `PolicyAndValue`, wrapped or not.
        batch: What to score.
        temperature: The one the completions were sampled with.

    Returns:
        All of shape ``(B, T)``, 0 outside the mask: nats and nats, and reward: what was expected before each token.
    """
    logits, values = model(**_inputs(batch), at=batch.before)
    found = logprobs_and_entropy(logits, batch.targets.reshape(-1)[batch.within], temperature=temperature)
    scores = TokenScores(spread(found.logprobs, batch), spread(found.entropy, batch))
    return scores, spread(values, batch)


def value(model: nn.Module, batch: Sequences) -> Tensor:
    """Values before every completion token. Shape ``(B, T)``, reward, 0 outside the mask."""
    _, values = model(**_inputs(batch), at=batch.before, only="values")
    return spread(values, batch)


def hidden_states(model: nn.Module, batch: Sequences) -> Tensor:
    """What the head of a value or reward model gets before every completion token. Shape ``(N, H)``."""
    return _states(model, batch)[batch.before]


def _states(model: nn.Module, batch: Sequences) -> Tensor:
    trunk, _ = trunk_and_head(getattr(model, "module", model))
    hidden: Tensor = trunk(**_inputs(batch)).last_hidden_state
    return hidden.reshape(-1, hidden.shape[-1])


def _inputs(batch: Sequences) -> dict[str, Any]:
    return {
        "input_ids": batch.ids,
        "attention_mask": batch.attention,
        "position_ids": batch.positions,
        "use_cache": False,
    }


def load_value_model(
    given: str | PreTrainedModel | None, policy: PreTrainedModel, args: OnPolicyConfig
) -> PreTrainedModel:
    """The value model: loaded where it is a name or path, made from the policy's trunk where there is none.

    Raises:
        SettingsError: When it has more than one output, or no head that reads hidden states.
    """
    if given is None:
        return _from_trunk(policy)
    if given is policy:
        raise SettingsError(
            "value_model is the policy itself: leave it out, and set share_value_trunk=True to share a trunk"
        )
    model: Any = given
    if isinstance(given, str):
        options = {"num_labels": 1, "dtype": policy.dtype, "trust_remote_code": args.trust_remote_code}
        model = loaded(AutoModelForSequenceClassification, given, said("value model"), **options)
    trunk_and_head(model)
    if getattr(model.config, "num_labels", 1) != 1:
        raise SettingsError(
            said(
                "value model {name!r} has {num_labels} outputs; a value is one number: load it with num_labels=1",
                name=name_of(model),
                num_labels=model.config.num_labels,
            )
        )
    return cast("PreTrainedModel", model)


def _from_trunk(policy: PreTrainedModel) -> PreTrainedModel:
    """A value model with the policy's weights and a head of zeros: at first nothing is expected of any token."""
    base: Any = policy
    if is_adapted(policy):
        with gathered(policy.parameters()):
            base = copy.deepcopy(policy).unload()
    config = copy.deepcopy(base.config)
    config.num_labels = 1
    try:
        model = AutoModelForSequenceClassification.from_config(config, dtype=policy.dtype)
    except ValueError as error:
        raise SettingsError(
            said(
                "there is no value model for {model_type}: pass one as value_model, or set share_value_trunk=True",
                model_type=config.model_type,
            )
        ) from error
    trunk, head = trunk_and_head(model)
    copy_weights(base.base_model, trunk)
    _zero(head)
    return model.to(next(base.parameters()).device)


def _zero(head: nn.Module) -> None:
    with torch.no_grad(), gathered(head.parameters(), written=True):
        for parameter in head.parameters():
            parameter.zero_()


def trunk_and_head(model: Any) -> tuple[nn.Module, nn.Module]:  # noqa: ANN401
    """The part of a sequence classification model that gives hidden states, and the part that reads a number from them.

    Raises:
        SettingsError: When the model is not made of the two.
    """
    inner = model.get_base_model() if is_adapted(model) else model
    trunk = getattr(inner, getattr(inner, "base_model_prefix", "") or "-", None)
    head = getattr(inner, "score", None)
    if trunk is None or head is None:
        raise SettingsError(
            said(
                "{kind} is no sequence classification model of a decoder: it has no trunk or no 'score' head. Load it "
                "with AutoModelForSequenceClassification, or pass a reward model in reward_funcs, which reads text",
                kind=type(inner).__name__,
            )
        )
    return trunk, head


class TokenReward:
    """A reward model as a reward function that reads the policy's own tokens, the end token included.

    Reward models in `reward_funcs` read text, which is right where they have a tokenizer of their own. One that shares the
    policy's tokenizer needs no detour over text, which may come back as other tokens and comes back without the end token.
    """

    def __init__(self, model: PreTrainedModel, tokens: Callable[[Sequence[Any]], list[list[int]]], size: int) -> None:
        """Wrap a reward model.

        Args:
            model: A sequence classification model with one output.
            tokens: Tokens of prompts.
            size: Most completions that are scored at a time.

        Raises:
            SettingsError: When the model is none.
        """
        trunk_and_head(model)
        self.model, self.tokens, self.size = model, tokens, size
        self._packs: bool | None = None
        self.__name__ = name_of(model)

    def check(self, tokens: int) -> None:
        """Refuse a model that knows fewer tokens than the policy's tokenizer has: it was trained with another one.

        Raises:
            SettingsError: When it does.
        """
        known = getattr(self.model.config, "vocab_size", tokens)
        if known < tokens:
            raise SettingsError(
                said(
                    "reward_model knows {known} tokens and the policy's tokenizer has {tokens}: it has a tokenizer of "
                    "its own, so pass it in reward_funcs, where it reads text",
                    known=known,
                    tokens=tokens,
                )
            )

    @torch.no_grad()
    def __call__(self, prompts: Sequence[Any], completion_ids: Sequence[list[int]], **_: Any) -> Tensor:  # noqa: ANN401
        """Score at the last token of each completion. Shape ``(B,)``, on the model's device."""
        inner = getattr(self.model, "module", self.model)
        _, head = trunk_and_head(inner)
        device = next(inner.parameters()).device
        whole = [[*p, *c] for p, c in zip(self.tokens(prompts), completion_ids, strict=True)]
        # Only the last token is read from.
        most, last = [tokens[:-1] for tokens in whole], [tokens[-1:] for tokens in whole]
        if self._packs is None:
            self._packs = packs(inner, most, last, device, outputs=hidden_states)
        layout: Layout = "packed" if self._packs else "right"
        # In parts it is called as often on every process.
        in_order = self._packs or any(map(in_parts, inner.parameters()))
        passes = in_turn(len(whole), self.size) if in_order else by_length(list(map(len, whole)), self.size)
        out = torch.zeros(len(whole), device=device)
        for rows in passes:
            batch = sequences([most[i] for i in rows], [last[i] for i in rows], device, padding=layout)
            at = torch.tensor(rows).to(device, non_blocking=True)
            out[at] = head(_states(inner, batch)[batch.before + 1]).squeeze(-1).float()
        return out
