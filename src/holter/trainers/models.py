"""The models of a run: policy, frozen reference, reward models, and the tokenizer that goes with them."""

from __future__ import annotations

import copy
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from holter.errors import SettingsError

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
        model = AutoModelForCausalLM.from_pretrained(model, **options)
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


def load_tokenizer(model: PreTrainedModel, given: PreTrainedTokenizerBase | None, args: OnPolicyConfig) -> Any:  # noqa: ANN401
    """The tokenizer that was given, or that of the model's own name or path; it has a padding token.

    Raises:
        SettingsError: When there is none to be found.
    """
    if given is None:
        name = getattr(model.config, "_name_or_path", "")
        if not name:
            raise SettingsError("this model carries no name to find its tokenizer by: pass it as processing_class")
        given = AutoTokenizer.from_pretrained(name, trust_remote_code=args.trust_remote_code)
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
    reference = copy.deepcopy(model)
    reference.eval()
    for parameter in reference.parameters():
        parameter.requires_grad_(False)
        parameter.grad = None
    return reference


def is_adapted(model: nn.Module) -> bool:
    """Whether the model carries a PEFT adapter."""
    return hasattr(model, "peft_config") and hasattr(model, "disable_adapter")


@contextmanager
def as_reference(model: nn.Module) -> Iterator[None]:
    """An adapted policy with its adapter off, in evaluation mode: the model it started from."""
    training = model.training
    model.eval()
    try:
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
        config = AutoConfig.from_pretrained(model, trust_remote_code=args.trust_remote_code)
        if config.num_labels != 1 and not getattr(config, "architectures", None):
            config.num_labels = 1
        options.setdefault("config", config)
        model = AutoModelForSequenceClassification.from_pretrained(model, **options)
    if getattr(model.config, "num_labels", 1) != 1:
        raise SettingsError(
            f"reward model {name_of(model)!r} has {model.config.num_labels} outputs; a reward is one number: load it with "
            "num_labels=1"
        )
    model.eval()
    return model.requires_grad_(False)


def name_of(model: PreTrainedModel) -> str:
    """Last part of the name or path that a model was loaded from; its class where it has none."""
    return str(getattr(model.config, "_name_or_path", "")).rstrip("/").split("/")[-1] or type(model).__name__


def without_dropout(model: nn.Module) -> None:
    """Set every dropout to zero."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        elif isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = 0.0


def _loading(args: OnPolicyConfig) -> dict[str, Any]:
    options = args.model_init_kwargs or {}
    if isinstance(options, str):
        options = json.loads(options)
    options = dict(options)
    options.setdefault("trust_remote_code", args.trust_remote_code)
    return options
