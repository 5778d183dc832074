"""Which series say how good the policy is without being what it is paid for.

The proxy's own value on held-out prompts is no such evidence: a policy that has learnt to please a reward function pleases it
on any prompt. A differently named score is, and so is a reward function that is logged with weight zero.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.runs.component_weights import held_out_components
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holter.runs.run import Run, Series

SCORES = (
    "eval_score",
    "eval_accuracy",
    "eval_reward",
    "eval_pass_at_k",
    "eval_avg_at_k",
    "eval_maj_at_k",
)
"""Concepts of evaluation scores."""

SAME = ("reward", "reward_component", "accuracy")
"""Concepts that mean a score when they are measured on held-out prompts."""

PAID = ("reward", "reward_penalised", "reward_component")
"""Concepts of what the policy is paid for."""

_PREFIX = re.compile(
    r"^(?:(?:train(?:ing)?|eval(?:uation)?|valid(?:ation)?|val|test|dev|held_?out)(?:-core|-aux)?[/_.:\-]+|评估|评测|验证|训练)+",
    re.I,
)
_NOT_A_SCORE = re.compile(
    r"(?:^|[/_.\-])(?:loss|ppl|perplexity|nll|error|errors|toxicity|kl|len|length|tokens?|time|runtime|seconds?|std|stderr|sem|var|"
    r"variance|min|max|entropy|lr|clip\w*|trunc\w*|count|num|refus\w*|repet\w*|size|steps?|epochs?|grad\w*|cost|latency|turns?|"
    r"calls?|invalid|fail\w*|hack\w*|samples|throughput|zero_std|id)(?:$|[/_.\-])",
    re.I,
)


def bare(metric: str) -> str:
    """A raw name without the prefix that says on which data it was measured."""
    return _PREFIX.sub("", metric.strip()).casefold()


def held_out(run: Run) -> list[Series]:
    """Series that are evidence about quality, higher being better, and independent of what the policy is paid for."""
    unpaid = {s.metric for s in held_out_components(run)}
    paid = {bare(s.metric) for s in _paid(run) if s.metric not in unpaid}
    evals = [s for s in _evaluations(run) if bare(s.metric) not in paid]
    return [*evals, *held_out_components(run)]


def known_since(run: Run, key: str, among: Callable[[Run], list[Series]] = held_out_components) -> int:
    """Row from which the log shows that a series is one of `among`: a reward function that is not paid; 0 for every other.

    Weights are solved from rows, so that what a function is cannot be known at the first of them.
    """
    if all(s.key != key for s in among(run)):
        return 0
    low, high = 0, len(run) - 1
    while low < high:
        middle = (low + high) // 2
        if any(s.key == key for s in among(run.until(float(run.steps[middle])))):
            high = middle
        else:
            low = middle + 1
    return low


def own_evaluations(run: Run) -> Iterator[tuple[Series, Series]]:
    """The paid reward on held-out prompts, each with the same quantity on training prompts."""
    unpaid = {s.metric for s in held_out_components(run)}
    paid = {bare(s.metric): s for s in _paid(run) if s.metric not in unpaid}
    for series in _evaluations(run):
        twin = paid.get(bare(series.metric))
        if twin is not None:
            yield series, twin


def _paid(run: Run) -> list[Series]:
    return [s for concept in PAID for s in run.all(concept)]


def _evaluations(run: Run) -> list[Series]:
    found = [s for concept in (*SCORES, *SAME) for s in run.all(concept, Split.EVAL)]
    return [s for s in found if not _NOT_A_SCORE.search(bare(s.metric))]
