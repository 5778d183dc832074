"""Which series say how good the policy is without being what it is paid for.

The proxy's own value on held-out prompts is no such evidence: a policy that has learnt to please a reward function pleases it
on any prompt. A differently named score is, and so is a reward function that is logged with weight zero.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    unpaid = {s.metric for s in unpaid_components(run)}
    paid = {bare(s.metric) for s in _paid(run) if s.metric not in unpaid}
    evals = [s for s in _evaluations(run) if bare(s.metric) not in paid]
    return [*evals, *(s for s in _train_scores(run) if s.metric in unpaid)]


def own_evaluations(run: Run) -> Iterator[tuple[Series, Series]]:
    """The paid reward on held-out prompts, each with the same quantity on training prompts."""
    unpaid = {s.metric for s in unpaid_components(run)}
    paid = {bare(s.metric): s for s in _paid(run) if s.metric not in unpaid}
    for series in _evaluations(run):
        twin = paid.get(bare(series.metric))
        if twin is not None:
            yield series, twin


def unpaid_components(run: Run) -> list[Series]:
    """Reward functions that are logged but have no part in the reward (weight zero).

    Their weights are not in the log; they follow from ``reward = sum of weight * mean``, solved on the first rows that
    determine it. Where the rows never determine it, no component is called unpaid.
    """
    reward = run.get("reward")
    parts = _train_scores(run)
    if reward is None or not parts:
        return []
    rows = reward.at
    for part in parts:
        rows = np.intersect1d(rows, part.at, assume_unique=True)
    table = np.stack([p.values[np.searchsorted(p.at, rows)] for p in parts], axis=1)
    total = reward.values[np.searchsorted(reward.at, rows)]
    finite = np.isfinite(table).all(axis=1) & np.isfinite(total)
    table, total = table[finite], total[finite]
    count = 2 * len(parts) + 4
    while count <= len(total):
        weights = _weights(table[:count], total[:count])
        if weights is not None:
            return [p for p, w in zip(parts, weights.tolist(), strict=True) if abs(w) < 1e-3]
        count *= 2
    return []


def _weights(table: np.ndarray, total: np.ndarray) -> np.ndarray | None:
    """Weights that give the total exactly; None where they are not determined."""
    scale = table.std(axis=0)
    if (scale < 1e-9).any():
        return None
    weights, _, rank, singular = np.linalg.lstsq(table / scale, total, rcond=None)
    wrong = np.abs(table / scale @ weights - total).max()
    if rank < table.shape[1] or singular[-1] < 1e-2 * singular[0] or wrong > 1e-3 * max(float(total.std()), 1e-9):
        return None
    out: np.ndarray = weights / scale
    return out


def _paid(run: Run) -> list[Series]:
    return [s for concept in PAID for s in run.all(concept)]


def _train_scores(run: Run) -> list[Series]:
    return run.all("reward_component")


def _evaluations(run: Run) -> list[Series]:
    found = [s for concept in (*SCORES, *SAME) for s in run.all(concept, Split.EVAL)]
    return [s for s in found if not _NOT_A_SCORE.search(bare(s.metric))]
