"""How many groups agree in reward, and how many would by chance.

A group whose rewards are all equal has zero advantages and no gradient. Frameworks log the share of such groups, or let
it be read off other numbers; with right-or-wrong rewards it can be compared with what independent samples would give.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.base import quote
from holter.detectors.statistics.alignment import newest_on_rows, on_rows
from holter.language import said
from holter.runs.hyperparameters import NAMES, hyperparameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Evidence
    from holter.runs.run import Run, Series

SPREADS = {
    "reward_group_spread": said("spread of the rewards"),
    "reward_spread": said("spread of the rewards"),
    "advantage_std": said("spread of the advantages"),
}
"""Concepts that are 0 where no completion of the batch differs from another, and what they say."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One signal that gives the share of agreeing groups away.

    Attributes:
        series: The signal, finite rows only.
        share: Share of groups without a gradient. Shape ``(len(series),)``.
        exact: Whether `share` is measured. Otherwise it is 1 where the whole batch has one reward and 0 where it has not,
            which says nothing of single groups.
        says: What the numbers of the signal mean, in words.
        proof: Whether one row of it proves that several groups were compared and none differed.
    """

    series: Series
    share: NDArray[np.float64]
    exact: bool
    says: str
    proof: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """Share of groups whose rewards are all equal, row by row from the best signal that the row holds.

    Attributes:
        at: Rows of the run. Shape ``(n,)``.
        share: Share of groups without a gradient. Shape ``(n,)``.
        exact: Where it is measured and not concluded from the whole batch. Shape ``(n,)``.
        which: Position in `sources` of the signal behind each row. Shape ``(n,)``.
        sources: Signals, the best first.
    """

    at: NDArray[np.int64]
    share: NDArray[np.float64]
    exact: NDArray[np.bool_]
    which: NDArray[np.int64]
    sources: tuple[Source, ...]

    @property
    def proven(self) -> NDArray[np.bool_]:
        """Where the row alone proves what its share says. Shape ``(n,)``."""
        return np.asarray([s.proof for s in self.sources])[self.which]

    def source(self, i: int) -> Series:
        """The signal behind a position."""
        return self.sources[int(self.which[i])].series

    def metric(self, i: int) -> str:
        """Name of the metric behind a position."""
        return self.source(i).metric

    def quotes(self, positions: Iterable[int]) -> Iterator[Evidence]:
        """What the log says at these positions, by metric."""
        wanted = sorted(set(positions))
        for number, source in enumerate(self.sources):
            mine = [int(np.searchsorted(source.series.at, self.at[i])) for i in wanted if self.which[i] == number]
            if mine:
                yield quote(source.series, mine, source.says)


def agreement(run: Run) -> Agreement | None:
    """The share of groups with equal rewards; None when no signal gives it away."""
    sources = tuple(_sources(run))
    if not sources:
        return None
    at = np.unique(np.concatenate([s.series.at for s in sources]))
    share, which = np.full(len(at), np.nan), np.full(len(at), -1)
    for number, source in enumerate(sources):
        mine = on_rows(replace(source.series, values=source.share), at)
        new = np.isfinite(mine) & (which < 0)
        share[new], which[new] = mine[new], number
    known = which >= 0
    exact = np.asarray([s.exact for s in sources])
    return Agreement(at[known], share[known], exact[which[known]], which[known], sources)


def _sources(run: Run) -> Iterator[Source]:
    if (share := run.get("zero_std_groups")) is not None:
        known = share.finite()
        yield Source(known, known.values, exact=True, says="share of groups with equal rewards")
    if (mixed := run.get("groups_mixed")) is not None:
        known = mixed.finite()
        yield Source(known, 1.0 - known.values, exact=True, says="share of groups with different rewards")
    solved, failed = run.get("groups_solved"), run.get("groups_failed")
    if solved is not None and failed is not None:
        known = failed.finite()
        both = known.values + on_rows(solved, known.at)
        yield Source(known, both, exact=True, says="share of groups with every answer wrong")
    yield from _no_advantage(run)
    for concept, says in SPREADS.items():
        if (spread := run.get(concept)) is not None:
            known = spread.finite()
            yield Source(known, (known.values == 0).astype(np.float64), exact=False, says=says)
    high, low = run.get("reward_max"), run.get("reward_min")
    if high is not None and low is not None:
        known = high.finite()
        equal = known.values == on_rows(low, known.at)
        yield Source(known, equal.astype(np.float64), exact=False, says="largest reward, equal to the smallest")


def _no_advantage(run: Run) -> Iterator[Source]:
    """Rows in which every advantage is 0: each completion scored like the others of its group.

    Divided by the group's deviation, the largest advantage of a group with any spread is far above what a printer rounds to 0.
    Where the largest and smallest reward are logged, they must differ: without a spread in the batch they say it themselves.
    Where they are not, the advantages stand for the whole batch, as the spread of its rewards does.
    """
    largest, smallest = run.get("advantage_max"), run.get("advantage_min")
    if largest is None or smallest is None:
        return
    high, low = run.get("reward_max"), run.get("reward_min")
    none = (largest.values == 0) & (on_rows(smallest, largest.at) == 0)
    if high is None or low is None:
        known = np.isfinite(largest.values) & np.isfinite(on_rows(smallest, largest.at))
        share = none[known].astype(np.float64)
        yield Source(largest.where(known), share, exact=False, says="largest advantage, 0 where the smallest is 0 too")
        return
    proof = largest.where(none & (on_rows(high, largest.at) > on_rows(low, largest.at)))
    if len(proof):
        says = "largest advantage, 0 as the smallest is, although rewards differ from prompt to prompt"
        yield Source(proof, np.ones(len(proof)), exact=True, says=says, proof=True)


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


def counted(share: NDArray[np.float64]) -> NDArray[np.int64]:
    """Groups behind each share, at least: the smallest number of which it can be a part, as printed to two decimals or more.

    A share of 0.9 takes ten groups, 0.92 takes twelve (11 of them are 0.917), 1 and 0 may be of a single one.
    """
    sizes = np.arange(1, 101)
    parts = np.clip(share, 0, 1)[:, None] * sizes
    whole = np.abs(parts - np.round(parts)) <= 0.005 * sizes
    out: NDArray[np.int64] = np.where(whole.any(axis=1), sizes[np.argmax(whole, axis=1)], sizes[-1])
    return out


def chance(p: NDArray[np.float64], size: float | NDArray[np.float64]) -> NDArray[np.float64]:
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


def group_sizes(run: Run, at: NDArray[np.int64]) -> NDArray[np.float64]:
    """Completions per prompt on each row: of the configuration, or of a column that repeats it, as pasted tables often do."""
    said = group_size(run)
    if said is not None:
        return np.full(len(at), said)
    for name in NAMES["group_size"]:
        column = run.unknown.get(name)
        if column is not None:
            i = np.searchsorted(column.at, at, side="right") - 1
            size = np.where(i >= 0, column.values[np.maximum(i, 0)], np.nan)
            return np.where((size >= 2) & (size <= 1e6), size, np.nan)
    return np.full(len(at), np.nan)
