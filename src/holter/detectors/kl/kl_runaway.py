"""KL to the reference policy climbs much faster than it did.

## Why it matters
Past some distance the reward model scores text unlike anything it was trained on. Reward can go on rising while
quality falls, and a policy that runs away seldom comes back by itself.

## When it fires
The tests run on d = sqrt(KL), because KL is quadratic in the distance of the parameters: a healthy KL is convex, and
every rule that looks for "acceleration" or "doubling" in raw KL fires on healthy runs. One of them has to hold while
KL itself is above `level_token` or `level_sequence`, whichever unit the log uses: d of the newest points lies more
than `z` robust standard deviations and `ratio` times beyond the line through the points before; it is `lag` times
their median and a new extreme; or it climbed `climb` times as much over the last stretch as over the one before, unless
KL is below three times the level and the reward gained `price` of its spread within a few rows. In the first 20 values
each rise of d is compared with the rises before it; that is a "pattern", not more, and an info once KL came back or
statistics can speak. It is critical when another signal changes for the worse with it: reward, held-out score, size of
the updates, the text. Where none did and KL came half of the way back, it is an info.

## What to do
- Read a few completions from the first flagged step, beside some from before.
- Go back to the last checkpoint before the onset.
- Divide the learning rate by 3 to 10, or raise the KL coefficient 2 to 5 times.
- Fewer epochs per batch, gradient clipping at 0.1 to 1.0.

## When it is wrong
A KL coefficient lowered on purpose, a learning rate that is still warming up, a k3 estimate carried by a few outlier
tokens (it returns at the next step), a reference model swapped in mid-run (KL jumps in one row and nothing else
moves).

## References
Gao et al., ["Scaling Laws for Reward Model Overoptimization"](https://arxiv.org/abs/2210.10760) (2022): d = sqrt(KL).
Bai et al., ["Training a Helpful and Harmless Assistant"](https://arxiv.org/abs/2204.05862) (2022), section 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.breaks import accelerates, breaks_trend, leaves_level
from holter.detectors.statistics.corroboration import agreeing
from holter.detectors.statistics.episodes import Episode, episodes, leap, onset
from holter.detectors.statistics.progress import Progress
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

ADVICE = (
    "Read completions from {onset} on beside some from {before}.",
    "Go back to the last checkpoint at or before {before}.",
    "Lower the learning rate (a third to a tenth), or raise the KL coefficient (2 to 5 times) or set a KL target.",
)
SHORT = 20
FEW = 10
SMALL = 0.05
"""Rise of sqrt(KL), as a share of its value at the level, below which differences between calm rows say nothing."""
LATE = 10
"""Values by which the tests may lag behind a jump; a KL that once climbed from 0 has its largest break there otherwise."""
DEAR = 3
"""Multiple of the level from which on a rising reward is no excuse for a bend."""


@dataclass(frozen=True, kw_only=True)
class KLRunaway(Detector):
    """HLT201."""

    name: ClassVar = "kl-runaway"
    code: ClassVar = "HLT201"
    since: ClassVar = "0.1"
    says: ClassVar = "the policy drifts too far from the reference"
    explains: ClassVar = (
        "reward-hacking",
        "eval-declines",
        "reward-collapse",
        "reward-decline",
        "policy-loss-diverges",
        "value-loss-diverges",
        "entropy-collapse",
        "entropy-explosion",
        "kl-above-budget",
        "kl-spike",
        "truncation",
        "length-explosion",
        "no-learning",
        "gradient-growth",
        "kl-bought-nothing",
        "eos-falling",
    )
    needs: ClassVar = (Need(concepts=("ref_kl",), points=4, log="the KL to the reference (beta or kl_coef above 0)"),)
    uses: ClassVar = ("reward", "reward_spread", "policy_kl", "clip_fraction", "grad_norm", "truncation", "entropy")

    z: float = limit(8.0, unit="robust sd", help="needs a clearer break", low=2.0)
    ratio: float = limit(1.3, unit="x", help="needs a larger break of sqrt(KL)", low=1.0)
    lag: float = limit(3.5, unit="x", help="needs a larger rise of sqrt(KL) over its past median", low=1.0)
    climb: float = limit(3.0, unit="x", help="needs a sharper bend of sqrt(KL)", low=1.0)
    price: float = limit(
        0.5, unit="of the reward's spread", help="calls more bends a runaway while the reward rises", low=0.0
    )
    level_token: float = limit(0.1, unit="nats/token", help="ignores runs that stay nearer to the reference", low=0.0)
    level_sequence: float = limit(5.0, unit="nats/sequence", help="ignores runs that stay nearer", low=0.0)
    bend: float = limit(2.0, unit="x", help="short logs: needs a sharper bend", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """The first rows by comparing rises, everything after by statistics on sqrt(KL)."""
        series = run.get("ref_kl")
        assert series is not None
        kl = series.finite()
        level = self.level_sequence if kl.unit == Unit.NATS_PER_SEQUENCE else self.level_token
        yield from self._short(run, kl, level)
        if len(kl) > SHORT:
            yield from self._long(run, kl, level)

    def _long(self, run: Run, kl: Series, level: float) -> Iterator[Finding]:
        d = np.sqrt(np.maximum(kl.values, 0.0) + 1e-8)
        middle = trailing_median(kl.values, 5, least=3)
        high = middle > level
        beyond = breaks_trend(d, z=self.z, ratio=self.ratio) | leaves_level(d, factor=self.lag, extreme=1.4)
        bends = accelerates(d, z=self.z, ratio=self.climb, growth=1.5)
        progress = Progress.of(run)
        if progress is not None:
            bends &= (middle > DEAR * level) | ~progress.soars(run, kl.at, self.price)
        straight = np.log(np.maximum(kl.values, 0.0) + 0.03 * level)
        up = np.flatnonzero(high & (beyond | bends))
        while len(up):
            raised = int(up[0])
            jump = leap(d, raised, recent=LATE)
            when = onset(straight, raised) if jump is None else (jump, jump, jump)
            usual = float(np.median(d[max(0, when[0] - 5) : max(1, when[0])]))
            half = ((usual + np.sqrt(middle[raised])) / 2) ** 2
            back = np.flatnonzero(middle[raised + 1 :] < half)
            last = raised + int(back[0]) if len(back) else len(kl) - 1
            yield self._left(run, kl, Episode(raised, last, active=not len(back)), when)
            up = up[up > last]

    def _left(self, run: Run, kl: Series, episode: Episode, when: tuple[int, int, int]) -> Finding:
        """KL left its trend, and stays away until it has come half of the way back."""
        best, low, late = when
        before = max(best - 1, 0)
        first, last = int(kl.at[best]), int(kl.at[episode.last])
        agree = agreeing(run, max(first - 1, 0), last)[:3]
        alone = Severity.WARNING if episode.active else Severity.INFO
        return self.finding(
            Severity.CRITICAL if agree else alone,
            Confidence.STRONG if agree else Confidence.MODERATE,
            said(
                "{metric} leaves its trend: {before} before, {now} at the alarm ({unit})"
                if episode.active or agree
                else "{metric} leaves its trend: {before} before, {now} at the alarm ({unit}); it came back",
                metric=kl.metric,
                before=number(kl.values[before]),
                now=number(kl.values[episode.raised]),
                unit=kl.unit,
            ),
            run=run,
            first=first,
            last=last,
            raised=int(kl.at[max(episode.raised, SHORT)]),  # with fewer values it does not look
            onset=(int(kl.at[low]), int(kl.at[late])),
            active=episode.active,
            evidence=[
                quote(
                    kl, sorted({before, best, episode.raised}), "sqrt(KL) is far beyond what the points before led to"
                ),
                *agree,
            ],
            advice=ADVICE,
            alternatives=_ALTERNATIVES,
        )

    def _short(self, run: Run, kl: Series, level: float) -> Iterator[Finding]:
        many = len(kl) > SHORT  # statistics have taken over by then, and what the first rows hinted at is history
        for episode in episodes(self._bends(kl.values[:SHORT], level), quiet=1):
            i = episode.raised
            usual = float(np.median(np.diff(kl.values[:i])))
            yield self.finding(
                Severity.INFO if many or not episode.active else Severity.WARNING,
                Confidence.PATTERN,
                said(
                    "{metric} rises {rise} in one row, {usual} a row before",
                    metric=kl.metric,
                    rise=number(kl.values[i] - kl.values[i - 1]),
                    usual=number(usual),
                ),
                run=run,
                first=int(kl.at[i]),
                last=int(kl.at[episode.last]),
                active=episode.active and not many,
                evidence=[
                    quote(kl, range(max(0, i - 3), episode.last + 1), "each rise against the rises before it"),
                    *agreeing(run, int(kl.at[i - 1]), int(kl.at[episode.last]))[:2],
                ],
                advice=ADVICE,
                alternatives=_ALTERNATIVES,
            )

    def _bends(self, values: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
        """Rises of sqrt(KL) far larger than any before, above the level, until half of the rise is undone. Shape ``(n,)``."""
        flags = np.zeros(len(values), bool)
        d = np.sqrt(np.maximum(values, 0.0))
        changes = np.diff(d)
        calm: list[float] = list(np.abs(changes[:2]))
        half = np.inf
        for i in range(3, len(values)):
            if flags[i - 1] and d[i] > half:
                flags[i] = True
                continue
            change = float(changes[i - 1])
            bend = self.bend if i < FEW else 2 * self.bend  # the more rises were seen, the larger a chance rise is
            sharp = values[i] > level and change > bend * max(*calm, SMALL * np.sqrt(level))
            flags[i] = sharp and values[i] > 1.25 * abs(values[i - 1])
            half = (d[i - 1] + d[i]) / 2
            calm.append(abs(change))
        return flags


_ALTERNATIVES = (
    Alternative(
        says="a few outlier tokens carry a k3 estimate",
        check="log the median or the 99th percentile of the per-token KL",
    ),
    Alternative(
        says="the KL coefficient was lowered, or the reference was swapped",
        check="compare the configuration at the onset",
    ),
)
