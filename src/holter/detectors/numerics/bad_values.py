"""Where the series of a run hold NaN or infinity, split by what that means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.base import number
from holter.language import listed, said
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from holter.runs.run import Run, Series

LOSS = ("total_loss", "policy_loss")
REWARD = frozenset(
    {"reward", "reward_component", "reward_component_spread", "reward_group_spread", "reward_max", "reward_min"}
    | {"reward_penalised", "reward_spread", "advantage_mean", "advantage_std", "advantage_max", "advantage_min"}
    | {"advantage_abs", "kl_penalty"}
)
"""What a reward function or the advantages made of it produce."""
CRITIC = frozenset(
    {"critic_grad_norm", "value_error", "value_loss", "value_max", "value_mean", "value_min", "value_std", "value_var"}
    | {"value_clip_fraction"}
)
"""What the value network produces."""
STRUCTURAL = frozenset(
    {"ratio_variance", "terminated_length", "terminated_length_max", "terminated_length_min", "length_correct"}
    | {"length_incorrect", "explained_variance", "mismatch_correlation", "return_max", "return_mean", "return_min"}
    | {"return_std", "return_var", "axis"}
)
"""NaN by construction when there is nothing to average: one slot, nothing that ended, no spread to explain."""


@dataclass(frozen=True, slots=True, eq=False)
class Bad:
    """A series with values that are not finite.

    Attributes:
        series: All its values.
        bad: Which of them are NaN or infinite. Shape ``(n,)``.
        lead: How many come before the first finite value; ``n`` when none ever was.
    """

    series: Series
    bad: NDArray[np.bool_]
    lead: int

    @property
    def never(self) -> bool:
        """Whether no value so far was finite."""
        return self.lead == len(self.bad)

    def rank_in(self, order: Sequence[str]) -> int:
        """Place of its concept in an order of blame; what the order does not name comes last."""
        return order.index(self.series.concept) if self.series.concept in order else len(order)

    def rows(self, first: int, last: int) -> NDArray[np.int64]:
        """Positions in the series that are not finite, in rows `first` to `last`, after a finite value."""
        at = self.series.at
        keep = self.bad & (at >= first) & (at <= last)
        keep[: self.lead] = False
        return np.flatnonzero(keep)

    def heals(self, last: int) -> bool:
        """Whether its first value after row `last` is finite again."""
        later = np.flatnonzero(self.series.at > last)
        return bool(len(later)) and not self.bad[later[0]]


def bad_series(
    run: Run, wanted: Callable[[str], bool], split: Split = Split.TRAIN, without: NDArray[np.int64] | None = None
) -> list[Bad]:
    """Series of the wanted concepts that hold a value that is not finite, rows in `without` left out."""
    found = []
    for series in run.series.values():
        if series.split is not split or not wanted(series.concept):
            continue
        if np.isfinite(series.values).all():
            continue
        s = series if without is None else series.where(~np.isin(series.at, without))
        bad = ~np.isfinite(s.values)
        if bad.any():
            found.append(Bad(s, bad, len(bad) if bad.all() else int(np.argmin(bad))))
    return sorted(found, key=lambda b: b.series.key)


def flags(bads: Iterable[Bad], rows: int) -> NDArray[np.bool_]:
    """Rows of the run at which any series is not finite after it had been; gaps between neighbouring values are filled."""
    edge = np.zeros(rows + 1, np.int64)
    for each in bads:
        i = np.flatnonzero(each.bad)
        i = i[i >= each.lead]
        if not len(i):
            continue
        starts = i[np.concatenate(([True], np.diff(i) > 1))]
        ends = i[np.concatenate((np.diff(i) > 1, [True]))]
        np.add.at(edge, each.series.at[starts], 1)
        np.add.at(edge, each.series.at[ends] + 1, -1)
    out: NDArray[np.bool_] = np.cumsum(edge[:-1]) > 0
    return out


def word(values: NDArray[np.float64]) -> str:
    """What the values are: ``NaN``, ``Infinity``, or both."""
    return listed(dict.fromkeys(number(float(v)) for v in values), " and ")


def names(bads: Iterable[Bad], most: int = 3) -> str:
    """Metrics by the names of the log: ``kl, entropy and 2 more``."""
    each = [b.series.metric for b in bads]
    if len(each) > most:
        return said("{metrics} and {n} more", metrics=listed(each[: most - 1]), n=len(each) - most + 1)
    return listed([listed(each[:-1]), each[-1]], " and ") if len(each) > 1 else "".join(each)


def row_count(n: int) -> str:
    """``1 row``, ``24 rows``."""
    return said("1 row" if n == 1 else "{n} rows", n=n)


def value_count(n: int) -> str:
    """``1 value``, ``24 values``."""
    return said("1 value" if n == 1 else "{n} values", n=n)
