"""The critic predicts returns no better than their mean would, or is stuck away from them.

## Why it matters
Advantages are returns minus values. A critic that explains nothing adds its error to every advantage; one that is biased pushes
every completion the same way.

## When it fires
- The median of `rows` values of the explained variance is below `explained`, after a warm-up of `warm` rows.
- The mean value lies outside the range of the returns, or more than `bias` standard deviations of them from their mean, in the
  median of `rows` rows. In a log of fewer rows it is information: a critic starts out wrong.
- Without explained variance: the value loss has neither fallen below `stuck` of where it began nor grown by as much, after `late`
  rows, and is larger than predicting zero everywhere would give: half the mean square of single rewards. Their spread, where it
  is not logged, is taken from the noise of the mean and an assumed `batch` of samples.

## What to do
- Initialise the critic from the reward model, or train it alone for some hundred steps.
- Check that values and returns belong to the same tokens; an offset of one makes explained variance zero.
- Raise the value learning rate; check that critic gradients are not zero.

## When it is wrong
The first rows of a run. A reward that is nearly constant: then there is no variance to explain, and the number is noise.

## References
Schulman, "The Nuts and Bolts of Deep RL Research" (2016): explained variance. Yuan et al., ["What's Behind PPO's
Collapse in Long-CoT?"](https://arxiv.org/abs/2503.01491) (2025): bias of value initialisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.alignment import newest_on_rows
from holter.detectors.statistics.episodes import episodes, persist
from holter.detectors.statistics.rolling import trailing_median
from holter.detectors.value.return_size import mean_square_return
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

ADVICE = (
    "Initialise the critic from the reward model, or train it alone first.",
    "Check that values and returns belong to the same tokens.",
    "Raise the value learning rate; check that the critic's gradients are not zero.",
)

ALTERNATIVES = (Alternative(says="there is hardly any variance to explain", check="look at the spread of returns"),)


@dataclass(frozen=True, kw_only=True)
class CriticUseless(Detector):
    """HLT602."""

    name: ClassVar = "critic-useless"
    code: ClassVar = "HLT602"
    since: ClassVar = "0.1"
    says: ClassVar = "the critic explains nothing"
    needs: ClassVar = (
        Need(concepts=("explained_variance", "value_mean", "value_loss"), log="the explained variance of the critic"),
    )
    uses: ClassVar = ("return_mean", "return_std", "return_min", "return_max", "reward_min", "reward_max", "reward")

    explained: float = limit(0.0, unit="1", help="calls more critics useless", high=1.0)
    warm: int = limit(20, unit="rows", help="gives the critic longer", low=0)
    rows: int = limit(10, unit="rows", help="waits longer", low=3)
    bias: float = limit(2.0, unit="standard deviations of returns", help="allows a larger bias", low=0.5)
    stuck: float = limit(0.8, unit="of the first value loss", help="calls fewer critics stuck", low=0.0)
    batch: float = limit(64.0, unit="samples", help="without a spread: calls fewer critics stuck", low=1.0)
    late: int = limit(40, unit="rows", help="waits longer before it calls a critic stuck", low=10)

    def check(self, run: Run) -> Iterator[Finding]:
        """Explained variance, then bias, then a loss that does not fall."""
        explained = run.get("explained_variance")
        value = run.get("value_mean")
        if explained is not None:
            yield from self._nothing(run, explained.finite())
        if value is not None:
            yield from self._biased(run, value.finite())
        loss = run.get("value_loss")
        if explained is None and loss is not None:
            yield from self._stuck(run, loss.finite())

    def _nothing(self, run: Run, explained: Series) -> Iterator[Finding]:
        usual = trailing_median(explained.values, self.rows, least=self.rows)
        with np.errstate(invalid="ignore"):
            flags = persist(usual < self.explained, 3, 3)
        flags[: self.warm + self.rows] = False
        for episode in episodes(flags):
            k = episode.raised
            past = np.flatnonzero(explained.values[: k + 1] >= self.explained)
            first = int(past[-1]) + 1 if len(past) and k - past[-1] < 3 * self.rows else max(0, k - self.rows)
            first = min(first, k)
            yield self.finding(
                Severity.WARNING if episode.active else Severity.INFO,
                Confidence.MODERATE,
                said(
                    "{metric} is {value} in the median of {n} rows: the critic predicts no better than the mean",
                    metric=explained.metric,
                    value=number(float(usual[k])),
                    n=self.rows,
                ),
                run=run,
                first=int(explained.at[first]),
                last=int(explained.at[episode.last]),
                raised=int(explained.at[k]),
                active=episode.active,
                evidence=[quote(explained, range(k - self.rows + 1, k + 1), "below zero is worse than no critic")],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )

    def _biased(self, run: Run, value: Series) -> Iterator[Finding]:
        low, high, against = self._range(run, value)
        if against is None:
            return
        with np.errstate(invalid="ignore"):
            outside = (value.values < low) | (value.values > high)
        flags = persist(outside, (self.rows + 1) // 2, self.rows)
        flags[: self.warm] = False
        found = list(episodes(flags))
        for episode in found:
            yield self._bias(run, value, against, episode.raised, episode.last, active=episode.active, sure=True)
        if not found and 0 < len(value) <= self.rows and outside.all():
            yield self._bias(run, value, against, 0, len(value) - 1, active=True, sure=False)

    def _bias(
        self, run: Run, value: Series, against: Series, k: int, last: int, *, active: bool, sure: bool
    ) -> Finding:
        j = max(int(against.upto(value.at[k : k + 1])[0]), 0)
        return self.finding(
            Severity.WARNING if sure and active else Severity.INFO,
            Confidence.MODERATE if sure else Confidence.PATTERN,
            said(
                "{metric} is {value} while {returns} is {level}: the critic is biased",
                metric=value.metric,
                value=number(float(value.values[k])),
                returns=against.metric,
                level=number(float(against.values[j])),
            ),
            run=run,
            first=int(value.at[k]),
            last=int(value.at[last]),
            active=active,
            evidence=[
                quote(value, [k], "mean prediction, outside what returns can be"),
                quote(against, [j], "mean return"),
            ],
            advice=ADVICE,
            alternatives=ALTERNATIVES,
        )

    def _range(self, run: Run, value: Series) -> tuple[NDArray[np.float64], NDArray[np.float64], Series | None]:
        """Plausible range of the mean value at each row, and the mean return it is compared with."""
        nothing = np.full(len(value), np.nan)
        mean = run.get("return_mean")
        mean = mean.finite() if mean is not None else None
        if mean is None or not len(mean):
            return nothing, nothing, None
        centre = newest_on_rows(mean, value.at)
        spread = run.get("return_std")
        if spread is not None and len(spread.finite()):
            wide = np.maximum(self.bias * newest_on_rows(spread.finite(), value.at), 1e-6)
            return centre - wide, centre + wide, mean
        for lowest, highest in (("return_min", "return_max"), ("reward_min", "reward_max")):
            a, b = run.get(lowest), run.get(highest)
            if a is not None and b is not None and len(a.finite()) and len(b.finite()):
                low, high = newest_on_rows(a.finite(), value.at), newest_on_rows(b.finite(), value.at)
                slack = 0.5 * (high - low)
                return np.minimum(low, centre) - slack, np.maximum(high, centre) + slack, mean
        return nothing, nothing, None

    def _stuck(self, run: Run, loss: Series) -> Iterator[Finding]:
        reward = run.get("reward")
        reward = reward.finite() if reward is not None else None
        if reward is None or len(loss) < self.late or not len(reward):
            return
        x = loss.values
        began = float(np.median(x[:5]))
        usual = trailing_median(x, 20, least=20)
        zero = 0.5 * mean_square_return(run, loss.at, self.batch)
        with np.errstate(invalid="ignore"):
            flags = (usual > self.stuck * began) & (usual < began / self.stuck) & (usual > zero)
        flags[: self.late] = False
        for episode in list(episodes(flags, quiet=20))[:1]:
            k = episode.raised
            yield self.finding(
                Severity.WARNING if episode.active else Severity.INFO,
                Confidence.MODERATE,
                said(
                    "{metric} stays at {value}, above what predicting zero would give ({zero})",
                    metric=loss.metric,
                    value=number(float(usual[k])),
                    zero=number(float(zero[k])),
                ),
                run=run,
                first=int(loss.at[0]),
                last=int(loss.at[episode.last]),
                raised=int(loss.at[k]),
                active=episode.active,
                evidence=[
                    quote(
                        loss,
                        [0, k],
                        said(
                            "began at about {began}, median of 20 rows now {now}",
                            began=number(began),
                            now=number(float(usual[k])),
                        ),
                    ),
                    quote(reward, [int(reward.upto(loss.at[k : k + 1])[0])], "rewards, for their size"),
                ],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )
