"""KL to the reference grew far, and the reward did not move.

## Why it matters
KL is the price and reward is what it buys. A policy that drifts away from the reference without any gain follows
noise: of the reward, of the advantages or of the sampler. It loses what the reference could do, for nothing.

## When it fires
When the median of the last `window` values of KL is above `level_token` or `level_sequence` and twice its early
level, and the reward of the same rows is no higher than at the start: the upper end of a 95 % interval of its gain
lies below `gain` of the reward's spread in a batch (below the noise, where no spread is logged), `window` values
running. From `short` values on, where statistics are not possible yet, a KL that nearly doubled while the reward
stayed inside the range of its first values is a "pattern". It becomes an info when the reward rises later.

## What to do
- Check that the reward tells good from bad completions: score known good and bad answers by hand.
- Check that advantages belong to their completions (order of the batch, masks, grouping).
- Lower the learning rate; larger batches, more completions a prompt.

## When it is wrong
A slow start: reasoning runs can be flat for the first 50 to 150 steps. A reward already at its ceiling.

## References
[Gao et al. (2022)](https://arxiv.org/abs/2210.10760): reward as a function of sqrt(KL). [huggingface/trl issues
204](https://github.com/huggingface/trl/issues/204) and [1098](https://github.com/huggingface/trl/issues/1098).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.corroboration import reward_rises
from holter.detectors.statistics.episodes import episodes, persist
from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.rolling import trailing_mean, trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series


@dataclass(frozen=True, kw_only=True)
class KLBoughtNothing(Detector):
    """HLT206."""

    name: ClassVar = "kl-bought-nothing"
    code: ClassVar = "HLT206"
    since: ClassVar = "0.1"
    says: ClassVar = "KL is spent and no reward bought with it"
    needs: ClassVar = (
        Need(concepts=("ref_kl",), points=8, log="the KL to the reference (beta or kl_coef above 0)"),
        Need(concepts=("reward",), points=8, log="the reward"),
    )
    uses: ClassVar = ("reward_spread",)

    level_token: float = limit(0.5, unit="nats/token", help="ignores runs that stay nearer to the reference", low=0.0)
    level_sequence: float = limit(10.0, unit="nats/sequence", help="ignores runs that stay nearer", low=0.0)
    gain: float = limit(0.25, unit="reward spreads", help="calls larger gains nothing", low=0.0)
    window: int = limit(20, unit="values", help="looks at more values before it speaks", low=8)
    short: int = limit(8, unit="values", help="needs more values for the pattern of a short log", low=4)

    def check(self, run: Run) -> Iterator[Finding]:
        """The price beside what it bought, in rows that hold both."""
        kl, reward = run.get("ref_kl"), run.get("reward")
        assert kl is not None
        assert reward is not None
        kl, reward = kl.finite(), reward.finite()
        kl, reward = kl.where(np.isin(kl.at, reward.at)), reward.where(np.isin(reward.at, kl.at))
        if len(kl) < self.short:
            return
        level = self.level_sequence if kl.unit == Unit.NATS_PER_SEQUENCE else self.level_token
        flags = self._long(run, kl.values, reward, level)
        short = self._short(kl.values, reward.values, level)
        flags[: len(short)] |= short
        for episode in episodes(flags, quiet=self.window):
            i = episode.raised
            pattern = i < 2 * self.window + 10
            rises = reward_rises(run, int(reward.at[min(9, i)]), len(run) - 1)
            worth = not episode.active or (rises is not None and i < len(kl) // 2)
            yield self.finding(
                Severity.INFO if worth else Severity.WARNING,
                Confidence.PATTERN if pattern else Confidence.MODERATE,
                said(
                    "{kl} grows from {start} to {now} {unit} and {reward} does not rise: {before} to {after}",
                    kl=kl.metric,
                    start=number(float(kl.values[0])),
                    now=number(float(kl.values[i])),
                    unit=kl.unit,
                    reward=reward.metric,
                    before=number(float(reward.values[0])),
                    after=number(float(reward.values[i])),
                ),
                run=run,
                first=int(kl.at[i]),
                last=int(kl.at[episode.last]),
                active=episode.active and not worth,
                evidence=[
                    quote(kl, [0, i // 2, i], "is what was paid"),
                    quote(reward, [0, i // 2, i], "is what it bought"),
                ],
                advice=(
                    "Score a few good and bad completions by hand: does the reward tell them apart?",
                    "Check that advantages belong to their completions: order of the batch, masks, grouping.",
                    "Lower the learning rate, or take more completions a prompt.",
                ),
                alternatives=(
                    Alternative(says="a slow start", check="more steps; reasoning runs can be flat for 150"),
                    Alternative(says="the reward is at its ceiling", check="the highest reward that is possible"),
                ),
            )

    def _long(self, run: Run, kl: NDArray[np.float64], reward: Series, level: float) -> NDArray[np.bool_]:
        n, w = len(kl), self.window
        out = np.zeros(n, bool)
        if n < 2 * w + 10:
            return out
        x = reward.values
        paid = trailing_median(kl, w, least=w, every=2)
        early = float(np.median(kl[:10]))
        start = float(np.mean(x[:10]))
        grain = noise(x)
        with np.errstate(invalid="ignore"):
            error = np.hypot(grain.of_mean(w), grain.of_mean(10))
            upper = trailing_mean(x, w, least=w) - start + 1.96 * error
            floor = self.gain * self._spread(run, reward)
            nothing = upper < np.where(floor > 0, floor, 1.96 * error)
            out = (paid > level) & (paid > 2 * early) & nothing
        out[: 2 * w + 10] = False
        return persist(out, w, w)

    def _spread(self, run: Run, reward: Series) -> NDArray[np.float64]:
        """Median spread of the reward in a batch up to each of its rows; 0 where none is logged."""
        spread = run.get("reward_spread")
        if spread is None:
            return np.zeros(len(reward))
        s = spread.finite()
        if not len(s):
            return np.zeros(len(reward))
        i = s.upto(reward.at)
        middle = trailing_median(s.values, 20, least=1)
        return np.where(i >= 0, middle[np.maximum(i, 0)], 0.0)

    def _short(self, kl: NDArray[np.float64], reward: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
        """The first values only: KL nearly doubled and high, the reward inside the range of its first half."""
        m = min(len(kl), 2 * self.window)
        out = np.zeros(m, bool)
        for i in range(self.short - 1, m):
            start, half = float(np.median(kl[:3])), max(3, (i + 1) // 2)
            low, high = float(np.min(reward[:half])), float(np.max(reward[:half]))
            newest = float(np.median(reward[i - 2 : i + 1]))
            far = start > level / 2 and float(np.median(kl[i - 2 : i + 1])) > max(1.6 * start, level)
            out[i] = far and low <= newest <= high and float(np.max(reward[half : i + 1])) <= high
        return out
