"""The policy loss explodes, or turns up together with the value loss.

## Why it matters
With normalised advantages the surrogate is a mean of numbers of order one, near zero at every update: it has no trend
worth reading, up or down. A value far outside its own spread is different: ratios or advantages have exploded.

## When it fires
Where at least `history` values came before: on a loss more than `spread` robust standard deviations from the median
of those, and above `size` times the spread of the rewards (1 where none is logged), in two of five values. In short
logs: when the loss and the value loss rise in the same row, the policy loss by more than `turn` times its range so
far and 1.5 times its largest value, the value loss above all it was and 1.5 times the value before; that is a
"pattern". A first value above `first` times the spread of the rewards is a pattern too, a thousand times as much where no
framework says that the loss is a mean over tokens: what was before it is not in the log. So is one of the first `history`
values that is above `first` times the median size of those before it as well. Values of exactly 0 are left out: in such a
batch all groups were tied. There is no rule on its trend.

## What to do
- Look at ratio, approximate KL and advantages of the same rows: one of them exploded first.
- Lower the learning rate; clip the gradient; fewer epochs per batch.
- Normalise advantages, or bound the rewards.

## When it is wrong
Rewards without normalisation make losses of their own scale. Overflow of a loss in fp16 is the last act, not the
first.

## References
SB3 calls the number without much meaning, and healthy runs agree: it fluctuates around zero.
[microsoft/DeepSpeedExamples issue 444](https://github.com/deepspeedai/DeepSpeedExamples/issues/444): losses of 30,
then infinity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.episodes import Episode, episodes, persist
from holter.detectors.statistics.rolling import trailing_mad, trailing_median
from holter.dialects.registry import GENERIC
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

SUMMED = 1000.0
"""Tokens that a loss may be summed over where no framework says that it is their mean."""


@dataclass(frozen=True, kw_only=True)
class PolicyLossDiverges(Detector):
    """HLT506."""

    name: ClassVar = "policy-loss-diverges"
    code: ClassVar = "HLT506"
    since: ClassVar = "0.1"
    says: ClassVar = "the policy loss turns up"
    needs: ClassVar = (Need(concepts=("policy_loss", "total_loss"), log="the policy loss"),)
    uses: ClassVar = ("value_loss", "reward_spread")

    history: int = limit(20, unit="values", help="needs more values before it judges by their spread", low=8)
    spread: float = limit(10.0, unit="robust sd", help="needs a larger departure", low=3.0)
    size: float = limit(1.0, unit="reward spreads", help="ignores losses below it", low=0.0)
    first: float = limit(10.0, unit="reward spreads", help="first value: needs a larger one", low=1.0)
    turn: float = limit(2.0, unit="x its range", help="short logs: needs a sharper turn", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """By its own spread where the log is long, beside the value loss where it is short."""
        there = [s for concept in self.needs[0].concepts if (s := run.get(concept)) is not None]
        # The one that begins first, so that what was said of it stands when the other one begins.
        loss = min(there, key=lambda s: int(s.at[0])).finite()
        if not len(loss):
            return
        # A batch in which all groups are tied has no advantages: its loss is 0 and tells nothing of the usual size.
        learnt = loss.where(loss.values != 0)
        if len(learnt):
            yield from self._explosions(run, learnt, self._scale(run, learnt))
        yield from self._turns(run, loss)

    def _scale(self, run: Run, loss: Series) -> NDArray[np.float64]:
        """Spread of the rewards so far, at least 1, at each value of the loss. Shape ``(n,)``."""
        spread = run.get("reward_spread")
        s = spread.finite() if spread is not None else None
        if s is None or not len(s):
            return np.ones(len(loss))
        newest = s.upto(loss.at)
        return np.where(newest >= 0, np.maximum(s.values[np.maximum(newest, 0)], 1.0), 1.0)

    def _explosions(self, run: Run, loss: Series, scale: NDArray[np.float64]) -> Iterator[Finding]:
        x = loss.values
        large = np.abs(x) > self.size * scale
        usual = trailing_median(x, 80, lag=5, least=self.history - 5, where=large)
        own = trailing_mad(x, 80, lag=5, least=self.history - 5, where=large)
        with np.errstate(invalid="ignore"):
            far = large & (np.abs(x - usual) > self.spread * np.maximum(own, 1e-6))
        flags = persist(far, 2, 5) & far
        early = slice(0, self.history)
        beyond = self.first * scale[early]
        if run.dialect == GENERIC:
            beyond[0] *= SUMMED
        for i in range(1, len(beyond)):
            beyond[i] = max(beyond[i], self.first * float(np.median(np.abs(x[:i]))))
        flags[early] |= np.abs(x[early]) > beyond
        for episode in episodes(flags):
            yield self._say_explosion(run, loss, episode)

    def _say_explosion(self, run: Run, loss: Series, episode: Episode) -> Finding:
        i = episode.raised
        pattern = i < self.history
        first = i
        if not pattern:
            before = loss.values[max(0, i - 4) : i]
            usual = float(np.median(loss.values[max(0, i - 80) : max(1, i - 4)]))
            jump = np.flatnonzero(np.abs(before - usual) > 0.5 * abs(float(loss.values[i]) - usual))
            first = i - len(before) + int(jump[0]) if len(jump) else i
        top = i + int(np.argmax(np.abs(loss.values[i : episode.last + 1])))
        return self.finding(
            Severity.WARNING,
            Confidence.PATTERN if pattern else Confidence.MODERATE,
            said(
                "{metric} explodes: {value}, up to {top}",
                metric=loss.metric,
                value=number(float(loss.values[i])),
                top=number(float(loss.values[top])),
            ),
            run=run,
            first=int(loss.at[first]),
            last=int(loss.at[episode.last]),
            raised=int(loss.at[i]),
            active=episode.active,
            evidence=[
                quote(
                    loss,
                    sorted({max(0, first - 1), first, i, top}),
                    "a surrogate of normalised advantages is of order one" if pattern else "far outside its own spread",
                )
            ],
            advice=_ADVICE,
            alternatives=(
                Alternative(says="rewards are not normalised", check="the spread of rewards and advantages"),
                Alternative(says="fp16 overflows", check="the loss scale; bf16"),
            ),
        )

    def _turns(self, run: Run, loss: Series) -> Iterator[Finding]:
        """Short logs: policy loss and value loss turn up in one row, both beyond everything before."""
        series = run.get("value_loss")
        if series is None:
            return
        value = series.finite()
        loss = loss.where(np.isin(loss.at, value.at))
        value = value.where(np.isin(value.at, loss.at))
        m = min(len(loss), self.history)
        flags = np.zeros(m, bool)
        for i in range(3, m):
            x, v = loss.values, value.values
            k = next((j for j in range(3, i) if flags[j]), i)
            top, span = float(np.max(x[:k])), float(np.max(x[:k]) - np.min(x[:k]))
            both = x[i] - x[k - 1] > self.turn * span and x[i] > 1.5 * abs(top) and x[i] > 0.1
            critic = v[i] > 1.25 * float(np.max(v[:k])) and v[i] > 1.5 * v[k - 1]
            flags[i] = both and critic
        for episode in episodes(flags, quiet=2):
            i = episode.raised
            active = episode.last == len(loss) - 1
            yield self.finding(
                Severity.WARNING if active else Severity.INFO,
                Confidence.PATTERN,
                said(
                    "{loss} and {value_loss} turn up together: {loss_before} to {loss_now}, {value_before} to {value_now}",
                    loss=loss.metric,
                    value_loss=value.metric,
                    loss_before=number(float(loss.values[i - 1])),
                    loss_now=number(float(loss.values[i])),
                    value_before=number(float(value.values[i - 1])),
                    value_now=number(float(value.values[i])),
                ),
                run=run,
                first=int(loss.at[i]),
                last=int(loss.at[episode.last]),
                active=active,
                evidence=[
                    quote(loss, range(max(0, i - 3), episode.last + 1), "fell or stood before, beyond its range since"),
                    quote(value, range(max(0, i - 3), episode.last + 1), "the critic's loss turns in the same row"),
                ],
                advice=_ADVICE,
                alternatives=(
                    Alternative(
                        says="the scale of the rewards changed", check="mean and spread of the reward in that row"
                    ),
                ),
            )


_ADVICE = (
    "Look at ratio, approximate KL and advantages of the same rows: one of them exploded first.",
    "Lower the learning rate, clip the gradient, fewer epochs per batch.",
    "Normalise advantages, bound the rewards.",
)
