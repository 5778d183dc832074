"""Completions that a reward function did not score, from the gap they leave between the total and its parts.

TRL averages each function over the completions it scored, and the total over all of them, a NaN or None counting as 0:

    reward = sum of weight * mean - weight of one * mean of that one * unscored / completions

so the gap is a whole number of completions, of one function, in every row: arithmetic that chance does not imitate.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.alignment import on_rows
from holter.runs.component_weights import component_weights
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.runs.run import Run, Series

ROWS = 10
"""First rows that tell how many completions there are in a row, and before which nothing is said."""
ENOUGH = 5
"""Rows with a gap without which a whole number may be chance."""
MOST_FUNCTIONS = 5
MOST_COMPLETIONS = 4096
WHOLE = 0.02
"""Distance from a whole number of completions that single precision may cause."""
SAME = 1e-5
"""Gap, as a share of the rewards it is made of, that is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Unscored:
    """Completions without a score of one reward function.

    Attributes:
        series: Means of the function.
        at: Rows that hold the total and all means. Shape ``(n,)``.
        counts: Completions it left without a score. Shape ``(n,)``.
        completions: Completions in a row.
        raised: Position at which it could first be said.
    """

    series: Series
    at: NDArray[np.int64]
    counts: NDArray[np.int64]
    completions: int
    raised: int


def unscored(run: Run) -> Unscored | None:
    """The function that scores some completions of a prompt and not others; None where the total is the sum of its parts.

    Of several that fit, the one that could be told first. A function that abstains on whole prompts, as those for one task of
    a mixture do, leaves out whole groups: a multiple of their size in every row. That is no fault, and None too.
    """
    reward = run.get("reward")
    parts = [s for s in run.all("reward_component") if s.split is Split.TRAIN and not s.derived]
    if reward is None or not 0 < len(parts) <= MOST_FUNCTIONS:
        return None
    means = np.stack([on_rows(s, reward.at) for s in parts])
    known = np.isfinite(means).all(axis=0) & np.isfinite(reward.values)
    at, means, total = reward.at[known], means[:, known], reward.values[known]
    completions = _completions(run, at)
    if completions is None:
        return None
    told = [_Told.of(weights, means, total) for weights in _weights(run, parts)]
    # A total that some weights make of its parts to the last bit is not short of anything.
    whole_sum = np.logical_or.reduce([np.logical_and.accumulate(t.none) for t in told])
    found = []
    for one in told:
        for j in np.flatnonzero(one.weights).tolist():
            counts = one.counts(j, completions)
            raised = _raised(counts, whole_sum)
            if raised is not None:
                found.append(Unscored(parts[j], at, np.maximum(counts, 0), completions, raised))
    return min(found, key=lambda u: u.raised, default=None)


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """What the total lacks if the functions have these weights.

    Attributes:
        weights: Weight of each function. Shape ``(p,)``.
        terms: Weighted means. Shape ``(p, n)``.
        gap: Their sum less the total. Shape ``(n,)``.
        none: Where that is rounding. Shape ``(n,)``.
    """

    weights: NDArray[np.float64]
    terms: NDArray[np.float64]
    gap: NDArray[np.float64]
    none: NDArray[np.bool_]

    @classmethod
    def of(cls, weights: NDArray[np.float64], means: NDArray[np.float64], total: NDArray[np.float64]) -> _Told:
        terms = weights[:, None] * means
        gap = terms.sum(axis=0) - total
        return cls(weights, terms, gap, np.abs(gap) <= SAME * np.abs(terms).sum(axis=0))

    def counts(self, j: int, completions: int) -> NDArray[np.int64]:
        """Completions that function `j` left without a score, if the gap is its; -1 where that is no whole number of them."""
        with np.errstate(all="ignore"):
            share = np.where(self.none, 0.0, self.gap / self.terms[j] * completions)
            near = np.round(np.where(np.isfinite(share), share, -1.0))
            whole = (np.abs(share - near) <= WHOLE) & (near >= 0) & (near < completions)
        return np.where(whole, near, -1).astype(np.int64)


def _raised(counts: NDArray[np.int64], whole_sum: NDArray[np.bool_]) -> int | None:
    """First position at which all rows so far fit, enough have a gap, and the gaps have no common divisor, as whole groups have.

    Args:
        counts: Completions without a score, -1 where the row does not fit. Shape ``(n,)``.
        whole_sum: Where the total has been the sum of its parts on all rows so far. Shape ``(n,)``.
    """
    fits = np.logical_and.accumulate(counts >= 0)
    enough = np.cumsum(counts > 0) >= ENOUGH
    single = np.gcd.accumulate(np.maximum(counts, 0)) == 1
    ready = fits & enough & single & ~whole_sum
    ready[: ROWS - 1] = False
    return int(np.argmax(ready)) if ready.any() else None


def _completions(run: Run, at: NDArray[np.int64]) -> int | None:
    """Completions in a row: the smallest number by which the mean lengths of the first rows become whole."""
    length = on_rows(run.series.get("completions/mean_length"), at[:ROWS])
    if len(length) < ROWS or not np.isfinite(length).all():
        return None
    sizes = np.arange(2, MOST_COMPLETIONS + 1)
    tokens = length[None, :] * sizes[:, None]
    whole = (np.abs(tokens - np.round(tokens)) <= 1e-6 * np.maximum(tokens, 1e3)).all(axis=1)
    return int(sizes[np.argmax(whole)]) if whole.any() else None


def _weights(run: Run, parts: list[Series]) -> Iterator[NDArray[np.float64]]:
    """Weights of the functions that the log tells or allows: TRL's 1 for each that is paid, whichever those are."""
    told = component_weights(run)
    weights = [told.get(s.labels.get("name", s.key)) for s in parts]
    if all(w is not None for w in weights):
        yield np.asarray(weights, float)
        return
    for paid in range(len(parts), 0, -1):
        for chosen in combinations(range(len(parts)), paid):
            yield np.isin(np.arange(len(parts)), chosen).astype(np.float64)
