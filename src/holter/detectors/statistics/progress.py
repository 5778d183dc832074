"""How the reward moves and whether it gets better: what tells a healthy change of other signals from a sick one.

Completions that grow longer, groups that agree more and an entropy that is spent are what learning looks like as long as
the reward rises with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.drawdown import spread_or_less
from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.rolling import running_max, trailing_mean, trailing_median
from holter.detectors.statistics.trend import trend_z

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run, Series

RISES = 2.5
"""Slope of the reward, in standard deviations of a slope under noise alone, from which on it counts as rising."""
_START = 5

SETTLED = 20
"""Values of the reward's spread that make its unit: the first ones, so that a later change of scale does not change it."""


LATELY = 10
"""Values that make a level of the reward."""

LEAP = 5
"""Newest values that a sudden rise of the reward shows in."""
BEFORE_LEAP = 20
"""Values before them that they are held against."""
BATCH = 16.0
"""Samples behind a mean reward where the log does not count them; few, so that less reward counts as much."""

ENDS = 3
"""Times that a value must come to be an end of the scale: means that are no such end hardly ever repeat."""

COUNTED = 5
"""Differences of a count of completions that tell how many there are in a row."""


@dataclass(frozen=True, slots=True, eq=False)
class Since:
    """How the reward differs from what it was before a row.

    Attributes:
        before: Mean before.
        change: Newest mean minus that; 0 where there is no value since. Shape ``(k,)``.
        z: The same in standard errors; 0 where it cannot be told. Shape ``(k,)``.
    """

    before: float
    change: NDArray[np.float64]
    z: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """The reward of a run, made comparable.

    Attributes:
        series: Finite values of the reward.
        sd: Noise of one value, from the values up to it. Shape ``(n,)``, NaN while unknown.
        rho: Autocorrelation of neighbouring values. Shape ``(n,)``.
    """

    series: Series
    sd: NDArray[np.float64]
    rho: NDArray[np.float64]

    @classmethod
    def of(cls, run: Run) -> Progress | None:
        """Progress of a run; None when it logs no finite reward."""
        reward = run.get("reward")
        series = reward.finite() if reward is not None else None
        if series is None or not len(series):
            return None
        return cls(series, *spread_or_less(series.values))

    def z(self, early: NDArray[np.int64], late: NDArray[np.int64], window: int) -> NDArray[np.float64]:
        """Change of the reward between two sets of rows in standard errors, from means over `window` values.

        Args:
            early: Row positions of the run. Shape ``(k,)``.
            late: Row positions, each at or after its `early`. Shape ``(k,)``.
            window: Values up to each row that are averaged; the first values where fewer came before.

        Returns:
            Shape ``(k,)``; 0 where it cannot be told.
        """
        a, b = self._index(early), self._index(late)
        first = np.maximum(a, np.minimum(window - 1, (b + 1) // 2 - 1))
        first = np.maximum(first, 0)
        # Only the stretch that is asked of: many callers ask of one place in a long run.
        start = max(int(first.min(initial=len(self.series))) - window + 1, 0)
        end = int(np.concatenate((first, b)).max(initial=0)) + 1
        mean = trailing_mean(self.series.values[start:end], window)
        with np.errstate(all="ignore"):
            inflated = (1 + self.rho[b]) / (1 - self.rho[b])
            se = self.sd[b] * np.sqrt(inflated * (1 / np.minimum(first + 1, window) + 1 / np.minimum(b + 1, window)))
            out = (mean[b - start] - mean[first - start]) / se
        return np.where(np.isfinite(out), out, 0.0)

    def change(self, early: int, late: int, window: int) -> float:
        """Change of the mean reward over `window` values between two rows, in the reward's own units."""
        a, b = self._index(np.asarray([early, late])).tolist()
        values = self.series.values
        first = max(a, min(window - 1, (b + 1) // 2 - 1), 0)
        return float(
            values[max(0, b - window + 1) : b + 1].mean() - values[max(0, first - window + 1) : first + 1].mean()
        )

    def since(self, first: int, at: NDArray[np.int64]) -> Since:
        """How the reward at rows `at` differs from what it was up to row `first`.

        Means of up to `LATELY` values are compared, on both sides of the row.

        Args:
            first: Row of the run that the change is counted from.
            at: Rows of the run after it. Shape ``(k,)``.
        """
        x = self.series.values
        split = max(int(np.searchsorted(self.series.at, first, side="right")), 1)
        end = np.searchsorted(self.series.at, at, side="right")
        old = x[max(0, split - LATELY) : split]
        count = np.minimum(np.maximum(end - split, 0), LATELY)
        total = np.concatenate(([0.0], np.cumsum(x - x[0])))
        with np.errstate(all="ignore"):
            change = x[0] + (total[end] - total[end - count]) / count - old.mean()
            inflated = (1 + self.rho[split - 1]) / (1 - self.rho[split - 1])
            # Before there is an estimate of the noise, the values themselves are all that is known of it.
            sd = self.sd[split - 1] if np.isfinite(self.sd[split - 1]) else float(np.std(old))
            z = change / (sd * np.sqrt(inflated * (1 / len(old) + 1 / count)))
        # Of values that never differed any change is beyond their noise; whether it matters is the caller's question.
        z = np.where(change == 0, 0.0, z)
        told = (count > 0) & ~np.isnan(z)
        return Since(float(old.mean()), np.where(count > 0, change, 0.0), np.where(told, z, 0.0))

    def matters(self, run: Run, first: int) -> float:
        """Unit of a change of the reward after row `first`: the spread of single rewards, else three fifths of its level."""
        i = max(int(np.searchsorted(self.series.at, first, side="right")), 1) - 1
        unit = float(self.unit(run)[i])
        level = abs(float(np.mean(self.series.values[max(0, i - LATELY + 1) : i + 1])))
        return unit if np.isfinite(unit) else 0.6 * level

    def unit(self, run: Run) -> NDArray[np.float64]:
        """Spread of single rewards around their mean, known at each value: what a change is measured in.

        Returns:
            Shape ``(n,)``; NaN where the log has no spread of rewards, or it is zero.
        """
        out = np.full(len(self.series), np.nan)
        for concept in ("reward_spread", "reward_group_spread"):
            spread = run.get(concept)
            if spread is None:
                continue
            spread = spread.finite()
            if not len(spread):
                continue
            early = trailing_median(spread.values[:SETTLED], SETTLED)
            i = np.minimum(spread.upto(self.series.at), len(early) - 1)
            known = np.where(i >= 0, early[np.maximum(i, 0)], np.nan)
            return np.where(known > 1e-9, known, np.nan)
        return out

    def of_single(self, run: Run, batch: float) -> NDArray[np.float64]:
        """Spread of single rewards, as `unit` has it, or as the noise of the means tells it where the log has no spread.

        What the noise tells is more than can be where the means stand on both ends of a scale again and again, as they do
        where a row is one prompt, right or wrong: single rewards on that scale differ by half of it at the most.

        Args:
            run: The run.
            batch: Samples taken to stand behind a mean where the log does not count them.

        Returns:
            Shape ``(n,)``; NaN while neither is known.
        """
        spread = self.unit(run)
        by_noise = np.minimum(np.sqrt(samples_a_row(run) or batch) * self.sd, half_scale(self.series.values))
        return np.where(np.isfinite(spread), spread, by_noise)

    def soars(
        self, run: Run, at: NDArray[np.int64], share: float, *, newest: int = LEAP, before: int = BEFORE_LEAP
    ) -> NDArray[np.bool_]:
        """Where the reward had risen so much within a few rows that it pays for a sudden change.

        Args:
            run: The run.
            at: Rows of the run. Shape ``(k,)``.
            share: Of the spread of single rewards, by which the mean of the newest rewards must exceed that of those before.
            newest: Newest rewards.
            before: Rewards before them.

        Returns:
            Shape ``(k,)``; False where it cannot be told.
        """
        x = self.series.values
        level = trailing_mean(x, before, lag=newest)
        with np.errstate(invalid="ignore"):
            up = trailing_mean(x, newest) - level > share * self.of_single(run, BATCH)
        return looked_up(up, self.series, at)

    def _index(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.maximum(self.series.upto(rows), 0)


def half_scale(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half the distance from the least to the largest value so far where each came `ENDS` times, else inf. Shape ``(n,)``."""
    low, high = np.minimum.accumulate(x), np.maximum.accumulate(x)
    known = (_times(x, low) >= ENDS) & (_times(x, high) >= ENDS) & (high > low)
    return np.where(known, (high - low) / 2, np.inf)


def _times(x: NDArray[np.float64], extreme: NDArray[np.float64]) -> NDArray[np.int64]:
    """How often the extreme value so far has come. Shape ``(n,)``."""
    total = np.cumsum(x == extreme)
    newer = np.concatenate(([False], np.diff(extreme) != 0))
    since = np.maximum.accumulate(np.where(newer, np.arange(len(x)), 0))
    times: NDArray[np.int64] = total - total[since] + 1
    return times


def samples_a_row(run: Run) -> float | None:
    """Completions behind each logged mean, where the log counts them; None where it does not."""
    episodes = run.series.get("episode")
    counted = np.diff(episodes.finite().values) if episodes is not None else np.empty(0)
    counted = counted[counted > 0]
    return float(np.median(counted)) if len(counted) >= COUNTED else None


def rises(reward: Series | None, at: NDArray[np.int64], window: int = 40) -> NDArray[np.bool_]:
    """Whether the reward had a rising trend over `window` values when each of the rows `at` was logged. Shape ``(len(at),)``.

    False where there is no reward or too little of it.
    """
    if reward is None:
        return np.zeros(len(at), bool)
    known = reward.finite()
    return looked_up(trend_z(known.values, window) > RISES, known, at)


def falls(reward: Series | None, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the reward had a falling trend when each of the rows `at` was logged; as `rises` is. Shape ``(len(at),)``."""
    if reward is None:
        return np.zeros(len(at), bool)
    known = reward.finite()
    return looked_up(trend_z(known.values) < -RISES, known, at)


def near_best(reward: Series | None, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the reward had gained beyond its noise and stood near its best when each row was logged.

    That is what a task looks like that is being solved: groups agree because every answer is right.
    """
    if reward is None:
        return np.zeros(len(at), bool)
    known = reward.finite()
    x = known.values
    level = trailing_median(x, 10, least=_START)
    if len(x) <= _START:
        return np.zeros(len(at), bool)
    start = float(np.median(x[:_START]))
    best = running_max(level)
    with np.errstate(all="ignore"):
        gain = best - start
        near = (gain > 4 * noise(x).of_mean(10)) & (gain > 0.05 * abs(start)) & (level >= start + 0.8 * gain)
    near[: 2 * _START] = False
    return looked_up(near, known, at)


def looked_up(flags: NDArray[np.bool_], series: Series, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The newest flag at or before each row; False where there is none yet."""
    if not len(flags):
        return np.zeros(len(at), bool)
    newest = series.upto(at)
    return np.where(newest >= 0, flags[np.maximum(newest, 0)], False)
