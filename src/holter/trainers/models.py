"""The models of a run: policy, frozen reference, reward models, and the tokenizer that goes with them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from holter.errors import SettingsError, reason
from holter.language import Said, said
from holter.trainers.sharded import copied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.trainers.config import OnPolicyConfig


def load_policy(model: str | PreTrainedModel, args: OnPolicyConfig, peft_config: Any = None) -> PreTrainedModel:  # noqa: ANN401
    """The policy: loaded where it is a name or path, wrapped where an adapter is asked for.

    Raises:
        SettingsError: When settings meant for loading come with a model that is already there, or an adapter with an
            adapter.
    """
    if isinstance(model, str):
        options = _loading(args)
        # Updates smaller than the rounding of half-precision weights are lost; what computes in it is mixed precision.
        options.setdefault("dtype", "float32")
        model = loaded(AutoModelForCausalLM, model, said("model"), **options)
    elif args.model_init_kwargs:
        raise SettingsError("model_init_kwargs is for a model given by name or path; this one is already loaded")
    if peft_config is not None:
        if is_adapted(model):
            raise SettingsError("peft_config adds an adapter, and this model has one already: leave one of them out")
        from peft import get_peft_model

        model = get_peft_model(model, peft_config)
    if args.disable_dropout:
        without_dropout(model)
    return model


def loaded(kind: Any, name: str, what: Said, **options: Any) -> Any:  # noqa: ANN401
    """``kind.from_pretrained(name)``, with an error that says what could not be loaded for what.

    Args:
        kind: One of transformers' classes.
        name: Name or path.
        what: What it is to the run.
        **options: Arguments of ``from_pretrained``.

    Raises:
        SettingsError: When there is no such model here or on the hub, or it is another kind of thing.
    """
    try:
        return kind.from_pretrained(name, **options)
    except (OSError, ValueError) as error:
        raise SettingsError(
            said("{what} {name!r} cannot be loaded: {error}", what=what, name=name, error=reason(error))
        ) from error


def load_tokenizer(model: PreTrainedModel, given: PreTrainedTokenizerBase | None, args: OnPolicyConfig) -> Any:  # noqa: ANN401
    """The tokenizer that was given, or that of the model's own name or path; it has a padding token.

    Raises:
        SettingsError: When there is none to be found.
    """
    if given is None:
        name = getattr(model.config, "_name_or_path", "")
        if not name:
            raise SettingsError("this model carries no name to find its tokenizer by: pass it as processing_class")
        given = loaded(AutoTokenizer, name, said("tokenizer of"), trust_remote_code=args.trust_remote_code)
    tokenizer = getattr(given, "tokenizer", given)
    if tokenizer.pad_token_id is None:
        if tokenizer.eos_token_id is None:
            raise SettingsError("the tokenizer has neither a padding nor an end token: set tokenizer.eos_token")
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Every token that ends a completion: the tokenizer's, and those that the model declares.

    Raises:
        SettingsError: When there is none, so that every completion would run to the limit.
    """
    declared = getattr(model.generation_config, "eos_token_id", None)
    found = [tokenizer.eos_token_id, *([declared] if isinstance(declared, int) else declared or [])]
    ends = list(dict.fromkeys(e for e in found if e is not None))
    if not ends:
        raise SettingsError("neither tokenizer nor model has an end token: every completion would run to the limit")
    return ends


def frozen_copy(model: PreTrainedModel) -> PreTrainedModel:
    """The policy as it is now, in evaluation mode, without gradients: the reference.

    A copy, not what the policy's name loads: a policy whose weights are not those of its name would start with a KL.
    """
    reference: PreTrainedModel = copied(model)
    reference.eval()
    for parameter in reference.parameters():
        parameter.requires_grad_(False)
        parameter.grad = None
    return reference


def is_adapted(model: nn.Module) -> bool:
    """Whether the model carries a PEFT adapter."""
    return hasattr(model, "peft_config") and hasattr(model, "disable_adapter")


REFERENCE = "ref"
"""Name of the adapter that is a copy of the one that is trained, as it was at the start."""


def copy_adapter(model: Any) -> None:  # noqa: ANN401
    """Give an adapted policy a second, frozen adapter that is a copy of the active one: its reference.

    Raises:
        SettingsError: When the adapter is of a kind that there can be only one of.
    """
    name = model.active_adapter
    if not isinstance(name, str):
        raise SettingsError(
            said(
                "the policy has {n} active adapters {names}: activate the one that is to be trained",
                n=len(name),
                names=name,
            )
        )
    try:
        model.add_adapter(REFERENCE, model.peft_config[name])
    except (ValueError, TypeError) as error:
        raise SettingsError(
            said(
                "the reference is a frozen copy of the policy's adapter {name!r}, and there can be no second one "
                "({error}): merge the adapter into the model and pass a new one as peft_config",
                name=name,
                error=reason(error),
            )
        ) from error
    own = dict(model.named_parameters())
    with torch.no_grad():
        for path, parameter in own.items():
            copied = own.get(path.replace(f".{name}.", f".{REFERENCE}."))
            if copied is not None and copied is not parameter:
                copied.copy_(parameter)
    model.set_adapter(name)


@contextmanager
def as_reference(model: Any) -> Iterator[None]:  # noqa: ANN401
    """An adapted policy in evaluation mode, as it was at the start: with the copy of its adapter, or with none."""
    training = model.training
    model.eval()
    try:
        if REFERENCE in model.peft_config:
            name = model.active_adapter
            model.set_adapter(REFERENCE)
            try:
                yield
            finally:
                model.set_adapter(name)
        else:
            with model.disable_adapter():
                yield
    finally:
        model.train(training)


def load_reward_model(model: str | PreTrainedModel, args: OnPolicyConfig) -> PreTrainedModel:
    """A sequence classification model with one score, frozen.

    Raises:
        SettingsError: When it has more than one.
    """
    if isinstance(model, str):
        options = _loading(args)
        config = loaded(AutoConfig, model, said("reward model"), trust_remote_code=args.trust_remote_code)
        if config.num_labels != 1 and not getattr(config, "architectures", None):
            config.num_labels = 1
        options.setdefault("config", config)
        model = loaded(AutoModelForSequenceClassification, model, said("reward model"), **options)
    if getattr(model.config, "num_labels", 1) != 1:
        raise SettingsError(
            said(
                "reward model {name!r} has {num_labels} outputs; a reward is one number: load it with num_labels=1",
                name=name_of(model),
                num_labels=model.config.num_labels,
            )
        )
    model.eval()
    return model.requires_grad_(False)


def name_of(model: PreTrainedModel) -> str:
    """Last part of the name or path that a model was loaded from; its class where it has none."""
    return str(getattr(model.config, "_name_or_path", "")).rstrip("/").split("/")[-1] or type(model).__name__


RATES = ("dropout", "attention_dropout", "activation_dropout", "hidden_dropout")
"""Attributes of modules that apply dropout as a function."""


def without_dropout(model: nn.Module) -> None:
    """Set every dropout to zero: the layers, and the rates that some models keep as numbers."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        for rate in RATES:
            if isinstance(getattr(module, rate, None), float):
                setattr(module, rate, 0.0)


def _loading(args: OnPolicyConfig) -> dict[str, Any]:
    options = args.model_init_kwargs or {}
    if isinstance(options, str):
        options = json.loads(options)
    options = dict(options)
    options.setdefault("trust_remote_code", args.trust_remote_code)
    return options
