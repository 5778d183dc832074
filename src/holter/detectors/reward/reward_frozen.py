"""The mean reward moves less than the mean of fresh samples possibly could.

## Why it matters
A plateau keeps its noise: new prompts and new samples give a new mean at every step. When the noise itself is gone, every
completion is the same, or the reward does not look at the completion. Nothing can be learnt from either.

## When it fires
- The mean moves, over the first `window` rows or twice as many later ones, less than the mean of `samples` samples with the
  logged spread would. Where no spread is logged, the smallest value loss v stands in for it: returns then spread by about
  sqrt(2 v).
- Or the noise of the mean fell below `quiet` of what it was, at a level below the best. At its best it is `reward-saturated`.
- Or it is exactly the same number from the first row on, and not zero (`zero-reward`).

## What to do
- Print completions: are they all the same, or all empty?
- Give the reward function different texts by hand; a parser that fails often answers with one fallback value.
- Raise the temperature, or go back to a checkpoint from before entropy fell.

## When it is wrong
The same few prompts with greedy decoding at every step; a log that prints the reward with two digits; a learning rate of
exactly zero with a fixed seed.

## References
Standard error of a mean. [DeepSpeedExamples issue 586](https://github.com/deepspeedai/DeepSpeedExamples/issues/586):
rewards of 0.2056 to 0.2065 with losses that vary by 0.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.ceiling import solved_from_the_start
from holter.detectors.statistics.constancy import equal_run, ever_lively, goes_constant, moves_less_than_noise
from holter.detectors.statistics.drawdown import lagged, spread_or_less
from holter.detectors.statistics.episodes import episodes, persist
from holter.detectors.statistics.rolling import running_max, trailing_mean
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

ADVICE = (
    "Print completions: all the same, or all empty?",
    "Give the reward function different texts by hand.",
    "Go back to a checkpoint from before entropy fell, or raise the temperature.",
)

ALTERNATIVES = (
    Alternative(says="the log rounds the reward to few digits", check="look at the digits of neighbouring values"),
    Alternative(
        says="the same prompts are decoded greedily at every step", check="look at the data loader and the temperature"
    ),
)


@dataclass(frozen=True, kw_only=True)
class RewardFrozen(Detector):
    """HLT304."""

    name: ClassVar = "reward-frozen"
    code: ClassVar = "HLT304"
    since: ClassVar = "0.1"
    says: ClassVar = "the reward is frozen"
    explains: ClassVar = ("no-learning",)
    needs: ClassVar = (Need(concepts=("reward",), points=5, log="the mean reward of every step"),)
    uses: ClassVar = ("reward_spread", "reward_group_spread", "value_loss")

    window: int = limit(5, unit="rows", help="looks at more rows together", low=4)
    samples: float = limit(65536.0, unit="samples", help="calls fewer means frozen", low=100.0)
    quiet: float = limit(0.03, unit="of the noise before", help="calls more means frozen", low=0.0, high=1.0)
    same: int = limit(12, unit="rows", help="waits longer when the reward is constant from the start", low=3)

    def check(self, run: Run) -> Iterator[Finding]:
        """Three ways to stand still, earliest first, one finding."""
        reward = run.get("reward")
        assert reward is not None
        reward = reward.finite()
        x = reward.values
        if len(x) < self.window:
            return
        constant = equal_run(x) == np.arange(1, len(x) + 1)
        still = self._still(x, self._spread(run, reward))
        lost = self._noise_is_gone(x)
        from_start = constant & (x != 0.0) & (np.arange(len(x)) >= self.same - 1)
        for episode in episodes(from_start | still | lost, quiet=self.window):
            k = episode.raised
            if from_start[k]:
                first, says = 0, said("exactly {value} since the first row", value=number(float(x[k])))
            else:
                rows = 2 * self.window if still[k] and k >= 2 * self.window - 1 else self.window
                first = max(0, k - rows + 1)
                says = said("moves less than a mean of fresh samples could" if still[k] else "its noise is gone")
            solved = bool(from_start[k] and solved_from_the_start(run, reward.at[[episode.last]])[0])
            yield self.finding(
                Severity.WARNING if episode.active and not solved else Severity.INFO,
                Confidence.CERTAIN if from_start[k] else Confidence.STRONG if still[k] else Confidence.MODERATE,
                said(
                    "{metric} stands still at {value}: {how}; the task was solved before training"
                    if solved
                    else "{metric} stands still at {value}: {how}",
                    metric=reward.metric,
                    value=number(float(x[k])),
                    how=says,
                ),
                run=run,
                first=int(reward.at[first]),
                last=int(reward.at[episode.last]),
                raised=int(reward.at[k]),
                active=episode.active,
                evidence=[quote(reward, range(max(0, k - self.window + 1), k + 1), says)],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )

    def _still(self, x: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Where the mean moves less than sampling alone would make it. Shape ``(n,)``.

        Few values may lie close together by chance, and every row is another chance for it; so few are asked of the first rows
        only, from which on it must hold, and twice as many later.
        """
        first = moves_less_than_noise(x, spread, self.samples, self.window)
        first[self.window - 1 :] = np.logical_and.accumulate(first[self.window - 1 :])
        return first | moves_less_than_noise(x, spread, self.samples, 2 * self.window)

    def _spread(self, run: Run, reward: Series) -> NDArray[np.float64]:
        """Spread of single rewards at the reward's rows; NaN where nothing tells it. Shape ``(n,)``."""
        for concept, root in (("reward_spread", False), ("reward_group_spread", False), ("value_loss", True)):
            series = run.get(concept)
            if series is None or not len(series.finite()):
                continue
            series = series.finite()
            i = series.upto(reward.at)
            # A critic that is off adds to the value loss, so the smallest one so far is what the spread may account for.
            known = np.minimum.accumulate(series.values) if root else series.values
            values = np.where(i >= 0, known[np.maximum(i, 0)], np.nan)
            with np.errstate(invalid="ignore"):
                return np.where(values > 0, np.sqrt(2 * values) if root else values, np.nan)
        return np.full(len(reward), np.nan)

    def _noise_is_gone(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Below the best level, with noise that fell to almost nothing; what stopped in one row is left out."""
        n, r = len(x), 10
        out = np.zeros(n, bool)
        if n < 3 * r:
            return out
        windows = np.lib.stride_tricks.sliding_window_view(x, r)
        reach = np.full(n, np.nan)
        reach[r - 1 :] = windows.max(axis=1) - windows.min(axis=1)
        loud = running_max(lagged(spread_or_less(x)[0], r))
        level = trailing_mean(x, r, least=r)
        best = running_max(level, lag=r)
        with np.errstate(invalid="ignore"):
            out = persist((reach < 3 * self.quiet * loud) & (best - level > loud) & ever_lively(x, r), 3, 3)
        for stretch in goes_constant(x, 4):
            if abs(stretch.jump) > 4:
                out[stretch.first : stretch.last + 1] = False
        out[: 3 * r - 1] = False
        return out
