"""How many groups agree in reward, and how many would by chance.

A group whose rewards are all equal has zero advantages and no gradient. Frameworks log the share of such groups, or let
it be read off other numbers; with right-or-wrong rewards it can be compared with what independent samples would give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.alignment import newest_on_rows, on_rows
from holter.runs.hyperparameters import hyperparameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run, Series


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """Share of groups whose rewards are all equal, as the log gives it away.

    Attributes:
        series: What it was read off, finite rows only; quote this one.
        share: Share of groups without a gradient. Shape ``(n,)``.
        exact: Whether `share` is measured. Otherwise it is 1 where the whole batch has one reward and 0 where it has not,
            which says nothing of single groups.
        says: What the numbers mean, in words.
    """

    series: Series
    share: NDArray[np.float64]
    exact: bool
    says: str


def agreement(run: Run) -> Agreement | None:
    """The share of groups with equal rewards, by the best signal there is; None when no signal gives it away."""
    if (share := run.get("zero_std_groups")) is not None and len(share.finite()):
        known = share.finite()
        return Agreement(known, known.values, True, "share of groups with equal rewards")
    if (mixed := run.get("groups_mixed")) is not None and len(mixed.finite()):
        known = mixed.finite()
        return Agreement(known, 1.0 - known.values, True, "share of groups with different rewards")
    solved, failed = run.get("groups_solved"), run.get("groups_failed")
    if solved is not None and failed is not None and len(failed.finite()):
        known = failed.finite()
        both = known.values + on_rows(solved, known.at)
        return Agreement(known, np.nan_to_num(both), True, "share of groups with every answer wrong")
    return _of_the_batch(run)


def _of_the_batch(run: Run) -> Agreement | None:
    for concept in ("reward_group_spread", "reward_spread"):
        spread = run.get(concept)
        if spread is not None and len(spread.finite()):
            known = spread.finite()
            return Agreement(known, (known.values == 0).astype(np.float64), False, "spread of the rewards")
    high, low = run.get("reward_max"), run.get("reward_min")
    if high is not None and low is not None and len(high.finite()):
        known = high.finite()
        equal = known.values == on_rows(low, known.at)
        return Agreement(known, equal.astype(np.float64), False, "largest reward, equal to the smallest")
    return None


def binary_success(run: Run, at: NDArray[np.int64]) -> NDArray[np.float64]:
    """Success rate behind each row, where rewards are known to be right-or-wrong; NaN where they are not.

    Rewards are binary exactly when their variance over the batch is p(1-p), which the log shows where it has the spread.
    """
    accuracy = newest_on_rows(run.get("accuracy"), at)
    if np.isfinite(accuracy).any():
        return np.where((accuracy >= 0) & (accuracy <= 1), accuracy, np.nan)
    p = on_rows(run.get("reward"), at)
    spread = on_rows(run.get("reward_spread"), at)
    with np.errstate(all="ignore"):
        inside = (p >= 0) & (p <= 1)
        largest = np.sqrt(np.where(inside, p * (1 - p), 0.0))
        # the sample standard deviation (n - 1) is larger by up to a few per cent in small batches
        binary = inside & (spread >= 0.99 * largest) & (spread <= 1.08 * largest + 1e-9)
    return np.where(binary, p, np.nan)


def chance(p: NDArray[np.float64], size: float) -> NDArray[np.float64]:
    """Share of groups of `size` that agree if samples are independent and all prompts have success rate `p`.

    A lower bound: prompts of unequal difficulty agree more often.
    """
    with np.errstate(all="ignore"):
        out: NDArray[np.float64] = np.clip(p, 0, 1) ** size + (1 - np.clip(p, 0, 1)) ** size
    return out


def group_size(run: Run) -> float | None:
    """Completions per prompt, when the configuration says it and it is a group at all."""
    size = hyperparameter(run, "group_size")
    return size if size is not None and 2 <= size <= 1e6 else None
