"""How large returns are, from the rewards that are logged: the yardstick of a squared value error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.alignment import newest_on_rows
from holter.detectors.statistics.drawdown import spread_or_less
from holter.detectors.statistics.progress import samples_a_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run


def mean_square_return(run: Run, at: NDArray[np.int64], batch: float) -> NDArray[np.float64]:
    """Largest mean square of single returns so far, as far as rewards and KL penalty tell.

    Args:
        run: The run.
        at: Row positions.
        batch: Samples assumed behind every mean, where neither the spread of rewards nor a count of completions is logged: the
            noise of a mean of that many samples tells the spread of single ones.

    Returns:
        Shape of `at`, in units of the reward squared; NaN where no reward was logged yet.
    """
    reward = run.get("reward")
    if reward is None or not len(reward.finite()):
        return np.full(len(at), np.nan)
    reward = reward.finite()
    size = np.abs(reward.values)
    penalty = run.get("kl_penalty")
    if penalty is not None:
        size = size + np.abs(np.nan_to_num(newest_on_rows(penalty.finite(), reward.at)))
    spread = run.get("reward_spread")
    wide = newest_on_rows(spread.finite(), reward.at) if spread is not None else np.full(len(size), np.nan)
    sd, rho = spread_or_less(reward.values)
    fresh = np.nan_to_num(sd) * np.sqrt((1 + rho) / (1 - rho))  # what smoothing took of the noise
    wide = np.where(np.isfinite(wide), wide, np.sqrt(samples_a_row(run) or batch) * fresh)
    square = np.maximum.accumulate(size) ** 2 + np.maximum.accumulate(wide) ** 2
    i = reward.upto(at)
    return np.where(i >= 0, square[np.maximum(i, 0)], np.nan)
