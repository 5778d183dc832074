"""Whether a task was solved before training began: then nothing is left to learn, and nothing is broken.

A constant reward looks the same whether every answer is right or the reward function returns a constant. Only a signal whose
greatest value is known tells the two apart: a share of right answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.reward.task_reward import TASK
from holter.detectors.statistics.progress import looked_up
from holter.detectors.statistics.rolling import trailing_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run, Series

SOLVED = 0.95
"""Share of right answers from which on a task counts as solved; what is left is mostly wrong reference answers."""

LATELY = 10
"""Values that are averaged."""


def solved_from_the_start(run: Run, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the share of right answers had been `SOLVED` and more since its first value when each row was logged.

    A share is what the log calls one: solved groups, accuracy, or a reward function that is named after the task, as long as no
    value lies outside 0 to 1. False where the log has none.

    Args:
        run: The run.
        at: Rows of the run. Shape ``(k,)``.
    """
    parts = [s for s in run.all("reward_component") if TASK.search(s.metric)]
    shares = [s.finite() for s in [*run.all("groups_solved"), *run.all("accuracy"), *parts]]
    out = np.zeros(len(at), bool)
    for share in shares:
        if len(share):
            out |= looked_up(_always(share.values), share, at)
    return out


def one_from_the_start(reward: Series | None, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the reward had been exactly 1 since its first value, which is the most that right or wrong can earn."""
    known = reward.finite() if reward is not None else None
    if known is None or not len(known):
        return np.zeros(len(at), bool)
    return looked_up(np.logical_and.accumulate(known.values == 1.0), known, at)


def _always(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    share = (x >= 0) & (x <= 1) & (trailing_mean(x, LATELY) >= SOLVED)
    out: NDArray[np.bool_] = np.logical_and.accumulate(share)
    return out
