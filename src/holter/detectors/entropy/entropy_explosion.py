"""Entropy breaks away upwards, and the reward does not rise with it.

## Why it matters
The policy is turning to noise: completions get longer, run into the limit, and mix languages and symbols. Gradient and clip
fraction may fall meanwhile, so the usual alarms stay silent.

## When it fires
The newest values lie `z` robust standard deviations and `ratio` times above the line through log values before, or are `lag`
times their past median and a new high; and they rose by at least `shift` nats a token; and the reward does not rise with it.
Clip-higher and entropy bonuses make entropy rise together with reward, which is information, as long as it lasts: the first row
at which the reward has not gained since the entropy rose makes it a warning. No reward excuses more than twice the lowest level
above `speech` nats a token: text that a model samples with such entropy is noise, and what it earns is not earned by the text.
In the first twelve values a level that doubles, held by two values while the reward is no higher, is reported as a pattern.
It is critical when length or truncation rise as well.

## What to do
- Lower the learning rate and the upper clip bound; lower the entropy bonus.
- Mask or shape completions that run into the length limit.
- Look for repetition and mixed languages in the newest completions.

## When it is wrong
Temperature raised by plan, another data set, a changed definition of the metric.

## References
Yu et al., ["DAPO"](https://arxiv.org/abs/2503.14476) (2025). Schulman et al., ["Proximal Policy Optimization
Algorithms"](https://arxiv.org/abs/1707.06347) (2017), on the entropy bonus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.entropy.per_token import Entropy
from holter.detectors.statistics.breaks import breaks_trend, leaves_level
from holter.detectors.statistics.corroboration import MOVES, corroboration
from holter.detectors.statistics.episodes import episodes, onset, unexcused
from holter.detectors.statistics.hold import hold
from holter.detectors.statistics.progress import RISES, Progress, rises
from holter.detectors.statistics.rolling import running_min, trailing_median
from holter.detectors.statistics.snapshots import pattern, reward_rose, shifts
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

DOUBLE = 2.0
"""Growth within the first values that counts, of the least rise that matters, and that no reward excuses in noise."""

SUDDEN = 10
"""Rows after the beginning in which the reward's trend is that of the rows before."""

ADVICE = (
    "Lower the learning rate, the upper clip bound or the entropy bonus.",
    "Mask or shape completions that run into the length limit.",
    "Look for repetition and mixed languages in the newest completions.",
)

ALTERNATIVES = (
    Alternative(says="the temperature was raised", check="compare the configuration at the onset"),
    Alternative(says="clip-higher or an entropy bonus at work", check="see whether a held-out score rises with it"),
)


@dataclass(frozen=True, kw_only=True)
class EntropyExplosion(Detector):
    """HLT402."""

    name: ClassVar = "entropy-explosion"
    code: ClassVar = "HLT402"
    since: ClassVar = "0.1"
    says: ClassVar = "the entropy explodes"
    explains: ClassVar = ("reward-collapse", "length-explosion", "truncation", "reward-decline", "eos-falling")
    needs: ClassVar = (Need(concepts=("entropy",), points=3, log="the entropy of the policy"),)
    uses: ClassVar = ("reward", *(m.concept for m in MOVES))

    z: float = limit(6.0, unit="robust sd", help="needs a clearer break", low=2.0)
    ratio: float = limit(1.3, unit="x", help="needs a larger break", low=1.0)
    lag: float = limit(1.5, unit="x", help="needs a larger rise over its past median", low=1.0)
    shift: float = limit(0.1, unit="nats/token", help="ignores larger rises", low=0.0)
    speech: float = limit(3.0, unit="nats/token", help="excuses higher entropies while the reward rises", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """The entropy per token against its own past."""
        entropy = Entropy.of(run)
        if entropy is None or not entropy.per_token:
            return
        x, series = np.maximum(entropy.values, 1e-6), entropy.series
        few = self._from_few(run, entropy)
        if few is not None:
            yield few
        if len(x) <= 20:
            return
        usual = trailing_median(x, 5, least=3)
        before = trailing_median(x, 40, lag=5, least=8)
        with np.errstate(invalid="ignore"):
            far = usual - before > self.shift
            far &= usual > min(self.ratio, self.lag) * running_min(usual, lag=5)
            if not far.any():  # the tests below are costly, and pass nothing that this does not
                return
            flags = breaks_trend(x, z=self.z, ratio=self.ratio, log=True, floor=0.03)
            flags |= leaves_level(x, factor=self.lag, extreme=1.1)
        flags &= far
        flags[:20] = False
        progress = Progress.of(run)
        for episode in episodes(hold(flags, x)):
            k = episode.raised
            began, low, late = onset(np.log(x), k)
            first, since = int(series.at[began]), max(int(series.at[began]) - 1, 0)
            paid = self._paid(run, progress, series, began)
            with np.errstate(invalid="ignore"):
                paid &= ~((usual > self.speech) & (usual > DOUBLE * running_min(usual)))
            warned = unexcused(episode, paid)
            raised = int(series.at[k if warned is None else warned])
            others = corroboration(run, since, raised, leave_out=("entropy",))
            longer = any(e.key.startswith("completions/") and e.values[-1] > e.values[0] for e in others)
            severity = Severity.CRITICAL if longer else Severity.WARNING
            if warned is None or not episode.active:
                severity = Severity.INFO
            title = said(
                "{metric} rises from about {before} to {now} {unit}",
                metric=series.metric,
                before=number(float(before[k])),
                now=number(float(usual[episode.last])),
                unit=entropy.unit,
            )
            if warned is None:
                title = said("{title}, and the reward rises too", title=title)
            if not episode.active:
                title = said("{title}; it came back", title=title)
            yield self.finding(
                severity,
                Confidence.STRONG if others else Confidence.MODERATE,
                title,
                run=run,
                first=first,
                last=int(series.at[episode.last]),
                raised=raised,
                onset=(int(series.at[low]), int(series.at[late])),
                active=episode.active,
                evidence=[
                    quote(
                        series,
                        sorted({max(began - 1, 0), k, episode.last}),
                        "far above the line through the points before",
                    ),
                    *others,
                ],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
                against=["the reward rises"] if warned is None else (),
            )

    def _from_few(self, run: Run, entropy: Entropy) -> Finding | None:
        """A level that doubles within the first `FEW` values, held by two, while the reward is no higher than it was."""
        x, series = entropy.values, entropy.series
        for shift in shifts(x, up=True):
            grown = shift.after - max(shift.before, 0.0)
            if shift.later < 2 or shift.after < DOUBLE * shift.before or grown < DOUBLE * self.shift:
                continue
            first, raised = int(series.at[shift.began]), int(series.at[shift.raised])
            if reward_rose(run, first, raised):
                continue
            return pattern(
                self,
                run,
                series,
                x,
                shift,
                title=said(
                    "{metric} rises from about {before} to {now} {unit}",
                    metric=series.metric,
                    before=number(shift.before),
                    now=number(shift.after),
                    unit=entropy.unit,
                ),
                others=corroboration(run, max(first - 1, 0), raised, leave_out=("entropy",)),
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )
        return None

    def _paid(self, run: Run, progress: Progress | None, series: Series, began: int) -> NDArray[np.bool_]:
        """Where the reward rises with the entropy. Shape ``(n,)``.

        A trend that was there before says nothing of the first rows after a sudden rise: there the reward must have gained since.
        """
        out = np.zeros(len(series), bool)
        if progress is None or began == 0:
            return rises(run.get("reward"), series.at)
        after = series.at[began:]
        moved = progress.since(int(series.at[began - 1]), after)
        gained = moved.z > RISES
        trend = rises(run.get("reward"), after) & (np.arange(len(after)) >= SUDDEN) & (moved.z > -RISES)
        out[began:] = gained | trend
        return out
