"""Whether a table is the log of a training run at all.

Results of evaluations, data sets, samples and source code are tables too. Reading one of them as a run would be followed
by a confident diagnosis of nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Collection


class NotALogError(UnreadableLogError):
    """A file that can be read and is no log of a training run: results, a data set, samples, a configuration.

    The reader that says so has understood the file, so no other one is asked.
    """


class OtherFormatError(NotALogError):
    """A file that began like a reader's format and went on otherwise: a reader of another format may find a log in it."""


_REMEMBERED = 4096
"""Names of which is remembered what they are: a console says the same ones in line after line."""
_LONGEST = 500
"""Characters of the longest name that is looked at. Data may be longer, and no pattern fits them sooner for it."""
_SIGNS = re.compile(r"[^0-9a-z\u00c0-\uffff]+")
_AXIS = re.compile(
    r"(?:(?:global|train(?:er|ing)?|current|total|env(?:ironment)?|optim(?:izer)?|gradient|update|time|progress|rollout"
    r"|policy|actor|learner|outer|inner|num|n|system|ppo|grpo|rl|log)_)*"
    r"(?:steps?|iters?|iterations?|updates?|episodes?|eps|epochs?|(?:mini_?|micro_?)?batch(?:es)?|timesteps?|rollouts?|frames?"
    r"|global_step_max_steps|samples_seen|tokens_seen|num_tokens)|步骤|步数|步|迭代|迭代次数|训练步数|轮次|回合|轮数",
)
_TRAINING = re.compile(
    r"(?:^|.*_)(?:loss(?:es)?|kl|ppo_?kl|approx_?kl|policykl|kl_div|kl_divergence|entropy|grad(?:ient)?_?norm|lr|learning_rate|clip_?frac\w*"
    r"|clip_?ratio\w*|advantages?|ppo|grpo|rlhf|policy|critic|actor|returns?|explained_var(?:iance)?|mult_prob_error"
    r"|importance_(?:sampling_)?(?:ratios?|weights?)|(?:log_?p(?:rob)?s?|probs?)_(?:abs_)?diff(?:erence)?"
    r"|zero_(?:std|variance)|completions_(?:mean|min|max|clipped|aborted)\w*|num_eos_tokens)(?:_.*|$)"
    r"|(?:val_)?ratios?(?:_(?:mean|avg|max|min|std|var))?|(?:mean|avg|max|min)_ratio|.*(?:损失|散度|学习率|策略|熵).*",
)
_BARE = frozenset({"ppo", "grpo", "rlhf", "policy", "critic", "actor"})
"""Algorithms and models, which are part of a metric's name and none by themselves."""
_SETTING = re.compile(r"(?:^|.*_)(?:lr|learning_rate|coeff?|coefficient)")
"""Training metrics by name that a configuration has as well."""
_PLANNED = re.compile(r"(?:num|n|max|total)_")
"""Beginnings of counts that a configuration plans for the whole run."""
_SAMPLE_ID = re.compile(r"(?:data|sample|example|question|prompt|problem|item|task|response)_?(?:id|idx|index)|uu?id")
_REWARD = re.compile(r"(?:^|.*_)(?:rewards?|scores?)(?:_.*|$)|.*(?:奖励|得分).*")
_SAMPLE = frozenset(
    {"prompt", "prompts", "messages", "conversations", "question", "chosen", "rejected", "instruction", "query"}
)


def _plain(name: str) -> str:
    return _SIGNS.sub("_", name.lower()).strip("_") if len(name) <= _LONGEST else ""


@lru_cache(maxsize=_REMEMBERED)
def is_axis(name: str) -> bool:
    """Whether a column of this name counts steps, updates, episodes or the like."""
    return _AXIS.fullmatch(_plain(name)) is not None


@lru_cache(maxsize=_REMEMBERED)
def is_training_metric(name: str) -> bool:
    """Whether a column of this name is measured while training, and hardly anywhere else."""
    plain = _plain(name)
    return plain not in _BARE and _TRAINING.fullmatch(plain) is not None


@lru_cache(maxsize=_REMEMBERED)
def is_reward(name: str) -> bool:
    """Whether a column of this name is a reward or a score, which evaluations have too."""
    return _REWARD.fullmatch(_plain(name)) is not None


def objection(numbers: Collection[str], texts: Collection[str] = ()) -> str | None:
    """Why columns of these names are not the log of a training run, or None when they may be one.

    Args:
        numbers: Names of the columns of numbers.
        texts: Names of the columns of text.
    """
    if not numbers:
        return "it holds no numbers under names."
    if all(map(is_axis, numbers)):
        return said("it counts steps ({names}) and has no metric beside them.", names=_some(numbers))
    stepless = not any(map(is_axis, numbers))
    training = any(map(is_training_metric, numbers))
    settings = [n for n in numbers if _SETTING.fullmatch(_plain(n))]
    counted = any(is_axis(n) and not _PLANNED.match(_plain(n)) for n in numbers)
    measured = any(is_reward(n) or (is_training_metric(n) and n not in settings) for n in numbers)
    if settings and not counted and not measured:
        return said("it holds settings ({names}) and neither a step nor a metric.", names=_some(settings))
    if stepless and not training and any(_SAMPLE_ID.fullmatch(_plain(n)) for n in numbers):
        return said("its rows are samples ({names}), not steps of training.", names=_some(numbers))
    if not training and any(_plain(t) in _SAMPLE for t in texts):
        return said("it is a table of samples or data ({names}), not of metrics over steps.", names=_some(texts))
    if training or not stepless or (not texts and any(map(is_reward, numbers))):
        return None
    return said(
        "its columns ({names}) have no step and no metric of training, so it seems to be something else.",
        names=_some([*texts, *numbers]),
    )


def _some(names: Collection[str]) -> str:
    shown = ", ".join(str(n)[:40] for n in list(names)[:6])
    return shown + (", ..." if len(names) > 6 else "")
