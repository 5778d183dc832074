"""The reward and its spread jump together by one factor, from one row to the next.

## Why it matters
The reward was rescaled: another reward model, another normalisation, another weight. Group-normalised advantages hide it; a
critic, a KL penalty or a fixed learning rate do not: the value loss jumps with the square of the factor.

## When it fires
The level of the spread of rewards (or, without one, the square root of the value loss) changes by a factor of `factor` or more,
the level of the reward jumps at the same row by more than `z` standard deviations of its noise, and the two factors agree within
`agree`. Half of both changes must come in one row, of a growth in two, because a row may be a mean over steps of both sides.
Learning changes both too, but not so fast; a reward that collapses takes its spread along, and often over some rows.
A value loss may grow by more than the square of the factor: a critic that knew the old rewards well is now off by the whole jump.
So a reward that grows by the factor, and a value loss that goes to half the square of the jump, agree as well.

## What to do
- Compare reward function, its weights and its normalisation on both sides of the row.
- With a critic: reset or warm up the value function, or scale the reward back.
- Do not compare rewards across the row.

## When it is wrong
Another data set, whose rewards are on another level and spread.

## References
TRL: advantages are divided by the group's standard deviation unless `scale_rewards` is off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.drawdown import lagged, spread_or_less
from holter.detectors.statistics.episodes import episodes
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

AFTER = 5
BEFORE = 10
LEFT_BEHIND = "a critic that learned the old rewards is off by the jump"


@dataclass(frozen=True, kw_only=True)
class RewardScaleShift(Detector):
    """HLT307."""

    name: ClassVar = "reward-scale-shift"
    code: ClassVar = "HLT307"
    since: ClassVar = "0.1"
    says: ClassVar = "the scale of the reward changes"
    explains: ClassVar = ("value-loss-diverges", "critic-useless", "advantage-too-large", "reward-collapse")
    needs: ClassVar = (
        Need(concepts=("reward",), points=AFTER + BEFORE, log="the mean reward of every step"),
        Need(concepts=("reward_spread", "reward_group_spread", "value_loss"), points=20, log="the spread of rewards"),
    )

    factor: float = limit(2.5, unit="x", help="needs a larger jump of the spread", low=1.2)
    z: float = limit(5.0, unit="standard deviations", help="needs a larger jump of the reward", low=2.0)
    agree: float = limit(1.6, unit="x", help="lets the two factors differ more", low=1.1)

    def check(self, run: Run) -> Iterator[Finding]:
        """One row against the rows around it."""
        reward = run.get("reward")
        assert reward is not None
        reward = reward.finite()
        for concept in ("reward_spread", "reward_group_spread", "value_loss"):
            spread = run.get(concept)
            if spread is None:
                continue
            spread = spread.finite()
            spread = spread.where(spread.values > 0)
            rows, at_reward, at_spread = np.intersect1d(reward.at, spread.at, return_indices=True)
            if len(rows) < AFTER + BEFORE:
                continue
            x, s = reward.values[at_reward], spread.values[at_spread]
            if concept == "value_loss":
                s = np.sqrt(s)
            yield from self._jumps(run, reward, spread, (at_reward, at_spread), x, s, of_critic=concept == "value_loss")
            return

    def _jumps(
        self,
        run: Run,
        reward: Series,
        spread: Series,
        at: tuple[NDArray[np.int64], NDArray[np.int64]],
        x: NDArray[np.float64],
        s: NDArray[np.float64],
        *,
        of_critic: bool,
    ) -> Iterator[Finding]:
        n = len(x)
        windows_s = np.lib.stride_tricks.sliding_window_view(np.log(s), BEFORE + AFTER)
        windows_x = np.lib.stride_tricks.sliding_window_view(x, BEFORE + AFTER)
        before_s, after_s = np.median(windows_s[:, :BEFORE], axis=1), np.median(windows_s[:, BEFORE:], axis=1)
        before_x, after_x = np.median(windows_x[:, :BEFORE], axis=1), np.median(windows_x[:, BEFORE:], axis=1)
        noise = lagged(spread_or_less(x)[0], AFTER)[BEFORE + AFTER - 1 :]
        grows = after_s > before_s
        apart_s, apart_x = _apart(windows_s, grows), _apart(windows_x, grows)
        scale = np.abs(after_s - before_s)
        with np.errstate(all="ignore"):
            level = np.abs(np.log(np.abs(after_x) / np.abs(before_x)))
            sudden = (apart_x > 0.5 * np.abs(after_x - before_x)) & (apart_s > 0.5 * scale)
            hit = (scale > np.log(self.factor)) & (np.abs(after_x - before_x) > self.z * noise) & sudden
            agrees = np.abs(level - scale) < np.log(self.agree)
            if of_critic:
                off = np.log(np.sqrt(2) * np.exp(after_s) / np.abs(after_x - before_x))
                larger = (np.abs(after_x) > self.factor * np.abs(before_x)) & (before_x != 0)
                agrees |= grows & larger & (np.abs(off) < np.log(self.agree))
            hit &= agrees
            hit &= ((after_x > 0) == (before_x > 0)) & (np.ptp(windows_x[:, BEFORE:], axis=1) > 0)
        flags = np.zeros(n, bool)
        flags[BEFORE + AFTER - 1 :] = hit
        for episode in episodes(flags, quiet=AFTER):
            k = episode.raised
            first = k - AFTER + 1
            if first + 1 < n and abs(np.log(s[first + 1] / s[first])) > abs(np.log(s[first] / s[first - 1])):
                first += 1  # a growth was seen over two rows, and most of it came in the second
            now, then = slice(first, k + 1), slice(first - BEFORE, first)
            if of_critic:
                window = k - (BEFORE + AFTER - 1)
                times = float(after_x[window] / before_x[window])
                title = said(
                    "{metric} changes by a factor of {factor} in one row, and {loss} jumps with it",
                    metric=reward.metric,
                    factor=number(times),
                    loss=spread.metric,
                )
            else:
                times = float(np.exp(np.median(np.log(s[now])) - np.median(np.log(s[then]))))
                title = said(
                    "{metric} and its spread change by a factor of {factor} in one row",
                    metric=reward.metric,
                    factor=number(times),
                )
            a, b = int(at[0][first]), int(at[1][first])
            yield self.finding(
                Severity.WARNING,
                Confidence.STRONG,
                title,
                run=run,
                first=int(reward.at[a]),
                last=int(reward.at[int(at[0][episode.last])]),
                raised=int(reward.at[int(at[0][k])]),
                onset=(int(reward.at[a - 1]), int(reward.at[a])),
                active=True,
                evidence=[
                    quote(reward, [a - 1, a], "the level jumps"),
                    quote(spread, [b - 1, b], LEFT_BEHIND if of_critic else "the spread jumps at the same row"),
                ],
                advice=(
                    "Compare the reward function, its weights and its normalisation on both sides of the row.",
                    "With a critic: warm up the value function again, or scale the reward back.",
                    "Do not compare rewards across the row.",
                ),
                alternatives=(
                    Alternative(says="another data set begins there", check="see whether prompt length steps as well"),
                ),
            )


def _apart(windows: NDArray[np.float64], twice: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Change from the last value before to the first after, or to the second where `twice` and farther. Shape ``(k,)``."""
    once = np.abs(windows[:, BEFORE] - windows[:, BEFORE - 1])
    out: NDArray[np.float64] = np.fmax(
        once, np.where(twice, np.abs(windows[:, BEFORE + 1] - windows[:, BEFORE - 1]), 0.0)
    )
    return out
