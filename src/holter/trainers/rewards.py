"""Reward functions and reward models, called on completions.

A reward function is any callable, plain or async, with TRL's contract: it gets ``prompts``, ``completions``,
``completion_ids``, every other column of the dataset, and returns one number a completion, or None where it does not
apply. None becomes NaN: a completion that was not scored is left out of means and groups, it does not count as zero.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from transformers import AutoTokenizer, PreTrainedModel

from holter.errors import HolterError, SettingsError, reason
from holter.language import listed, said
from holter.trainers.models import load_reward_model, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor

    from holter.trainers.config import OnPolicyConfig
    from holter.trainers.prompts import Prompt, PromptTokenizer

    RewardFunction = Callable[..., Any]


class RewardError(HolterError, ValueError):
    """A reward function that returned something else than one number a completion."""


@dataclass(frozen=True)
class Texts:
    """Completions as reward functions see them.

    Attributes:
        prompts: Prompt of each completion.
        completions: Text, or a message after a conversation.
        completion_ids: Its tokens.
        columns: The other columns of the dataset, and what is told to reward functions besides.
    """

    prompts: Sequence[Prompt]
    completions: Sequence[Any]
    completion_ids: Sequence[list[int]]
    columns: Mapping[str, Any]


class Rewards:
    """All reward functions of a run with their names and weights."""

    def __init__(
        self,
        functions: Any,  # noqa: ANN401
        args: OnPolicyConfig,
        tokens: PromptTokenizer,
        tokenizers: Any = None,  # noqa: ANN401
        batch: int = 8,
    ) -> None:
        """Load what has to be loaded.

        Args:
            functions: Callables, reward models, or names or paths of reward models; one or several.
            args: The run's settings.
            tokens: How conversations become text.
            tokenizers: Tokenizers of the reward models, in the order of `functions`; found by themselves where None.
            batch: Completions that a reward model scores at a time.

        Raises:
            SettingsError: When there is no function, or as many weights or tokenizers as there are not.
        """
        several = list(functions) if isinstance(functions, list | tuple) else [functions]
        if not several or any(f is None for f in several):
            raise SettingsError("reward_funcs: there must be at least one reward function or reward model")
        given = list(tokenizers) if isinstance(tokenizers, list | tuple) else [tokenizers] * len(several)
        if len(given) != len(several):
            raise SettingsError(
                said("reward_processing_classes: {n} for {count} reward functions", n=len(given), count=len(several))
            )
        weights = args.reward_weights if args.reward_weights is not None else [1.0] * len(several)
        if len(weights) != len(several):
            raise SettingsError(
                said("reward_weights: {n} weights for {count} reward functions", n=len(weights), count=len(several))
            )
        self.tokens, self.batch = tokens, batch
        self.weights = torch.tensor(weights, dtype=torch.float32)
        self.functions: list[Any] = [
            load_reward_model(f, args) if isinstance(f, str | PreTrainedModel) else f for f in several
        ]
        for function in self.functions:
            if not callable(function):
                raise SettingsError(
                    said("reward_funcs: {function!r} is neither callable nor a model", function=function)
                )
        self.names = _distinct([_name(f) for f in self.functions])
        self.tokenizers = [_tokenizer(f, t, args) for f, t in zip(self.functions, given, strict=True)]

    def to(self, prepare: Callable[[PreTrainedModel], Any]) -> None:
        """Have reward models put where they run."""
        self.functions = [prepare(f) if isinstance(f, PreTrainedModel) else f for f in self.functions]

    def __call__(self, texts: Texts, device: torch.device) -> Tensor:
        """Raw output of every function. Shape ``(B, K)``, NaN where a function did not score.

        Async functions run together, while nothing else does.

        Raises:
            RewardError: When a function does not return one number or None a completion.
        """
        columns: list[Any] = [None] * len(self.functions)
        waiting = {}
        for k, function in enumerate(self.functions):
            if isinstance(function, torch.nn.Module):
                columns[k] = self._scores(function, self.tokenizers[k], texts, device)
            elif _is_async(function):
                waiting[k] = _call(function, texts)
            else:
                columns[k] = _call(function, texts)
        if waiting:
            for k, result in zip(waiting, _together(list(waiting.values())), strict=True):
                columns[k] = result
        count = len(texts.completions)
        found = [
            c.detach()
            if isinstance(c, torch.Tensor) and c.device == device and c.shape == (count,) and c.is_floating_point()
            else _numbers(c, name, count).to(device)
            for c, name in zip(columns, self.names, strict=True)
        ]
        return torch.stack([f.float() for f in found], -1)

    def total(self, scores: Tensor) -> Tensor:
        """Weighted sum of the functions' outputs. Shape ``(B,)``, NaN for a completion that none of them scored.

        Functions of weight 0 have no say, not even by their NaN.
        """
        weights = self.weights.to(scores.device)
        paid = scores[:, weights != 0] * weights[weights != 0]
        return paid.nansum(-1).where(~paid.isnan().all(-1), float("nan"))

    @torch.no_grad()
    def _scores(self, model: Any, tokenizer: Any, texts: Texts, device: torch.device) -> Tensor:  # noqa: ANN401
        joined = [self.tokens.joined(p, c, tokenizer) for p, c in zip(texts.prompts, texts.completions, strict=True)]
        parts = []
        for first in range(0, len(joined), self.batch):
            inputs = tokenizer(
                text=joined[first : first + self.batch],
                return_tensors="pt",
                padding=True,
                padding_side="right",
                add_special_tokens=False,
            )
            inputs = {k: v.to(device) for k, v in inputs.items() if k != "token_type_ids"}
            parts.append(model(**inputs).logits[:, 0])
        return torch.cat(parts)


def called(function: RewardFunction, texts: Texts) -> Any:  # noqa: ANN401
    """What a function says of completions, waited for where it is asynchronous."""
    said = _call(function, texts)
    return _together([said])[0] if _is_async(function) else said


def _call(function: RewardFunction, texts: Texts) -> Any:  # noqa: ANN401
    own = {
        "prompts": list(texts.prompts),
        "completions": list(texts.completions),
        "completion_ids": list(texts.completion_ids),
    }
    given = {**own, **texts.columns, **own}
    try:
        return function(**given)
    except TypeError as error:
        why = _misfit(function, given)
        if not why:
            raise
        raise RewardError(
            said(
                "reward function {name!r} is given {names} by name, and cannot take that ({why}): let it take **kwargs",
                name=_name(function),
                names=listed(given),
                why=why,
            )
        ) from error


def _misfit(function: RewardFunction, given: Mapping[str, object]) -> str:
    """Why a function cannot be called so; empty where it can, or where nobody knows."""
    try:
        inspect.signature(function).bind(**given)
    except TypeError as error:
        return reason(error)
    except ValueError:
        pass
    return ""


def _together(pending: list[Any]) -> list[Any]:
    """Results of all coroutines; in a thread of its own where a loop runs already, as in a notebook."""

    async def gathered() -> list[Any]:
        return list(await asyncio.gather(*pending))

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(gathered())
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, gathered()).result()


def _numbers(result: Any, name: str, count: int) -> Tensor:  # noqa: ANN401
    if isinstance(result, torch.Tensor):
        result = result.detach().reshape(-1).tolist()
    try:
        values = [math.nan if v is None else float(v) for v in result]
    except (TypeError, ValueError) as error:
        raise RewardError(
            said(
                "reward function {name!r} must return a list of numbers or None, one a completion: {error}",
                name=name,
                error=reason(error),
            )
        ) from error
    if len(values) != count:
        raise RewardError(
            said(
                "reward function {name!r} returned {n} rewards for {count} completions",
                name=name,
                n=len(values),
                count=count,
            )
        )
    return torch.tensor(values, dtype=torch.float32)


def _is_async(function: object) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _name(function: Any) -> str:  # noqa: ANN401
    """What TRL calls it: the function's name, without partial's wrapping; a model's path; a callable object's class."""
    if isinstance(function, PreTrainedModel):
        return name_of(function)
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _distinct(names: list[str]) -> list[str]:
    """Names that tell functions apart: two of one name would share one column."""
    out: list[str] = []
    for name in names:
        number, unique = 2, name
        while unique in out:
            unique = f"{name}_{number}"
            number += 1
        out.append(unique)
    return out


def _tokenizer(function: Any, given: Any, args: OnPolicyConfig) -> Any:  # noqa: ANN401
    if not isinstance(function, PreTrainedModel):
        return None
    tokenizer = given
    if tokenizer is None:
        tokenizer = AutoTokenizer.from_pretrained(
            function.config._name_or_path, trust_remote_code=args.trust_remote_code
        )
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    # The model reads its score at the last token that is no padding, so it has to know which is.
    function.config.pad_token_id = tokenizer.pad_token_id
    return tokenizer
