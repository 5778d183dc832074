"""Whether the reward gets better: what tells a healthy change of other signals from a sick one.

Completions that grow longer, groups that agree more and an entropy that is spent are what learning looks like as long as
the reward rises with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.rolling import running_max, trailing_median
from holter.detectors.statistics.trend import trend_z

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Series

RISES = 2.5
"""Slope of the reward, in standard deviations of a slope under noise alone, from which on it counts as rising."""
_START = 5


def rises(reward: Series | None, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the reward had a rising trend when each of the rows `at` was logged. Shape ``(len(at),)``.

    False where there is no reward or too little of it.
    """
    if reward is None:
        return np.zeros(len(at), bool)
    known = reward.finite()
    return _looked_up(trend_z(known.values) > RISES, known, at)


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
    return _looked_up(near, known, at)


def _looked_up(flags: NDArray[np.bool_], series: Series, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The newest flag at or before each row; False where there is none yet."""
    if not len(flags):
        return np.zeros(len(at), bool)
    newest = series.upto(at)
    return np.where(newest >= 0, flags[np.maximum(newest, 0)], False)
