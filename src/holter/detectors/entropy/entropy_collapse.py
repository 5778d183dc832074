"""The policy has stopped exploring, and the reward does not pay for it.

## Why it matters
A policy whose entropy is gone gives one answer to each prompt. Groups become equal, gradients vanish, and no later change of
coefficients brings the lost answers back.

## When it fires
Falling entropy is normal and pays for reward; most of it is spent early in a healthy run. It fires when the newest
values lie `z` robust standard deviations and `ratio` times below the line through log values before, or are `lag` times
below their past median and a new low, *and* stand below `left` of where they began; half-way there, on a logarithmic
scale, it fires when they break while the reward does not rise, and for as long as they stay there. If the reward rises
meanwhile, or stands within `solved` of the largest there is, it is information, until entropy has fallen `ratio` times
more than it had when the reward last rose; a break within some ten rows is paid only by a reward that gained `price` of
the spread of single rewards in the same rows. Below `floor` nats a token, and below a tenth of the start, no break is
asked for: a policy that makes one real choice in fifty tokens samples no alternatives, however slowly it got there. Of
the third to the twelfth value one is enough for that. `dead` is that floor for a log whose start is not known; there
`floor` is, while the reward stands below half of the largest that was paid in the same row.
In the first twelve values a level below `left` of the start and below 0.3 nats a token, held by two values while the
reward gained nothing and another signal moved with it, is reported as a pattern.
Entropy summed over a sequence falls when completions get shorter; it is divided by their length where that is logged.
An entropy of exactly 0 with no loss and no KL means that no token was counted (every completion masked), not collapse.

## What to do
- Raise the upper clip bound (clip-higher), or add an entropy bonus or target.
- Sampling temperature 1; fewer updates a batch; lower learning rate.
- Go back to a checkpoint from before the fall.

## When it is wrong
A task with one right answer, learnt. A start at a high temperature that is lowered by plan. A changed definition: temperature,
top-p and masking all change the number.

## References
Cui et al., ["The Entropy Mechanism of Reinforcement Learning for Reasoning Language
Models"](https://arxiv.org/abs/2505.22617) (2025): reward is bought with entropy. Yu et al.,
["DAPO"](https://arxiv.org/abs/2503.14476) (2025): clip-higher.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.entropy.per_token import Entropy
from holter.detectors.statistics.alignment import newest_on_rows
from holter.detectors.statistics.breaks import SCALES, breaks_trend, leaves_level
from holter.detectors.statistics.corroboration import MOVES, corroboration, reward_rises
from holter.detectors.statistics.episodes import Episode, episodes, onset, persist, unexcused
from holter.detectors.statistics.hold import latched
from holter.detectors.statistics.progress import Progress, rises
from holter.detectors.statistics.rolling import trailing_median
from holter.detectors.statistics.snapshots import FEW, pattern, reward_rose, shifts
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run

ADVICE = (
    "Raise the upper clip bound (clip-higher), or add an entropy bonus or target.",
    "Sample at temperature 1; fewer updates a batch; a lower learning rate.",
    "Go back to a checkpoint at or before {before}.",
)

ALTERNATIVES = (
    Alternative(says="temperature, top-p or masking were changed", check="compare the configuration at the onset"),
    Alternative(says="the task has one right answer and the policy knows it", check="look at a held-out score"),
)

ORDINARY = 0.3
"""Nats a token from which on a pretrained model's entropy is ordinary, whatever it began with."""
LATELY = 20
"""Rewards that must rise to pay for the entropy, besides twice as many: alone the longer stretch would still show what was
gained before the fall, and the shorter one rises by chance more often."""

EARLY = 20
"""Values before a break can be told."""

SUDDEN = 3
"""How many of the scales, the shortest, look for a break within some ten rows."""


@dataclass(frozen=True, kw_only=True)
class EntropyCollapse(Detector):
    """HLT401."""

    name: ClassVar = "entropy-collapse"
    code: ClassVar = "HLT401"
    since: ClassVar = "0.1"
    says: ClassVar = "the entropy collapses"
    explains: ClassVar = (
        "zero-variance-groups",
        "duplicate-completions",
        "reward-collapse",
        "reward-frozen",
        "no-learning",
        "gradient-zero",
        "length-collapse",
    )
    needs: ClassVar = (Need(concepts=("entropy",), log="the entropy of the policy"),)
    uses: ClassVar = ("reward", "reward_max", "zero_std_groups", *(m.concept for m in MOVES))

    z: float = limit(6.0, unit="robust sd", help="needs a clearer break", low=2.0)
    ratio: float = limit(1.5, unit="x", help="needs a larger break", low=1.0)
    lag: float = limit(2.5, unit="x", help="needs a larger fall below its past median", low=1.0)
    left: float = limit(0.3, unit="of the start", help="calls more falls a collapse", low=0.0, high=1.0)
    price: float = limit(
        0.5, unit="of the reward's spread", help="calls more sudden falls a collapse while the reward rises", low=0.0
    )
    solved: float = limit(0.85, unit="of the largest reward", help="excuses fewer collapses", low=0.0, high=1.0)
    floor: float = limit(0.02, unit="nats/token", help="calls more policies collapsed", low=0.0)
    dead: float = limit(0.005, unit="nats/token", help="calls more policies collapsed from the start", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """The entropy per token against its own start and past."""
        entropy = Entropy.of(run)
        if entropy is None or not len(entropy.values):
            return
        x = entropy.values
        usual = trailing_median(x, 5, least=1)
        start = trailing_median(x[:5], 5)
        start = np.concatenate((start, np.full(max(len(x) - 5, 0), start[-1])))
        low = self._low(entropy, usual, start) | self._sure_and_wrong(run, entropy, usual, start)
        half_way = usual < np.sqrt(self.left) * start
        sudden, breaks = self._breaks(x, half_way)
        earned, dear = self._earned(run, entropy, sudden & half_way)
        # Once it has broken, it stays collapsed while it stays low.
        fallen = latched(breaks, usual < self.left * start) | latched(breaks & half_way & ~earned, half_way)
        excused = self._paid(earned, usual) & ~low & ~dear
        told = list(episodes((fallen | low) & ~entropy.empty))
        few = self._from_few(run, entropy, start, earned, told)
        if few is not None:
            yield few
        for episode in told:
            # What nothing paid for at the alarm is a warning from there on; an excuse that held may end later.
            bare = unexcused(episode, excused) if earned[episode.raised] else episode.raised
            yield self._finding(run, entropy, episode, bare, start, usual, low)

    def _from_few(
        self,
        run: Run,
        entropy: Entropy,
        start: NDArray[np.float64],
        earned: NDArray[np.bool_],
        told: Sequence[Episode],
    ) -> Finding | None:
        """A level below `left` of the start within the first `FEW` values, held by two, that no gain of the reward pays for.

        A signal of another origin must have moved with it: alone a low entropy is what many a run ends with.
        """
        x, series = entropy.values, entropy.series
        for shift in shifts(x, up=False):
            if any(episode.raised <= shift.raised for episode in told):
                return None
            # Within the first five values their median has some of the fall in it.
            level = max(float(start[shift.raised]), shift.before)
            most = min(self.left * level, ORDINARY if entropy.per_token else np.inf)
            if shift.later < 2 or x[shift.began : shift.raised + 1].max() > most:
                continue
            first, raised = int(series.at[shift.began]), int(series.at[shift.raised])
            since = max(first - 1, 0)
            others = corroboration(run, since, raised, leave_out=("entropy",))
            paid = (
                earned[shift.raised] or reward_rose(run, first, raised) or reward_rises(run, since, raised) is not None
            )
            if run.get("reward") is None or paid or not others or entropy.empty[shift.raised]:
                continue
            return pattern(
                self,
                run,
                series,
                x,
                shift,
                title=said(
                    "{metric} falls to {now} {unit}, from {start} at the start",
                    metric=series.metric,
                    now=number(shift.after),
                    unit=entropy.unit,
                    start=number(level),
                ),
                others=others,
                advice=ADVICE,
                alternatives=ALTERNATIVES,
                proven=any(episode.active for episode in told),
            )
        return None

    def _breaks(
        self, x: NDArray[np.float64], half_way: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Where the entropy broke within some ten rows, and where it broke at all. Both of shape ``(n,)``."""
        if len(x) <= EARLY or not half_way.any():  # the tests are costly
            return np.zeros(len(x), bool), np.zeros(len(x), bool)
        y = np.maximum(x, 1e-6)
        below = partial(breaks_trend, y, z=self.z, ratio=self.ratio, up=False, log=True, floor=0.02)
        sudden = below(scales=SCALES[:SUDDEN])
        breaks = sudden | below(scales=SCALES[SUDDEN:]) | leaves_level(y, factor=self.lag, up=False)
        breaks[:EARLY] = False
        return sudden, breaks

    def _earned(
        self, run: Run, entropy: Entropy, sudden: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Where the reward pays for the entropy, and where a sudden fall is not paid for. Both of shape ``(n,)``."""
        progress, at = Progress.of(run), entropy.series.at
        if progress is None:
            return np.zeros(len(at), bool), np.zeros(len(at), bool)
        dear = sudden & ~progress.soars(run, at, self.price) if sudden.any() else sudden
        rising = rises(progress.series, at) & rises(progress.series, at, LATELY) & ~dear
        solved = self._solved(run, progress, entropy)
        return rising | solved, dear & ~solved

    def _solved(self, run: Run, progress: Progress, entropy: Entropy) -> NDArray[np.bool_]:
        """Where the reward stands near the largest that is possible. Shape ``(n,)`` of the entropy."""
        x = progress.series.values
        usual = trailing_median(x, 20)
        ever = np.maximum.accumulate(x)
        near = (np.minimum.accumulate(x) >= 0) & (ever <= 1) & (usual > self.solved)
        top = run.get("reward_max")
        if top is not None and len(top.finite()):
            top = top.finite()
            largest = np.maximum.accumulate(top.values)[np.maximum(top.upto(progress.series.at), 0)]
            near |= (largest > 0) & (usual > self.solved * largest)
        i = progress.series.upto(entropy.series.at)
        out: NDArray[np.bool_] = np.where(i >= 0, near[np.maximum(i, 0)], False)
        return out

    def _paid(self, earned: NDArray[np.bool_], usual: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Where entropy has fallen by less than `ratio` since the reward last rose or stood near its largest. Shape ``(n,)``."""
        newest = np.maximum.accumulate(np.where(earned, np.arange(len(earned)), -1))
        out: NDArray[np.bool_] = (newest >= 0) & (self.ratio * usual > usual[np.maximum(newest, 0)])
        return out

    def _low(self, entropy: Entropy, usual: NDArray[np.float64], start: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Where hardly any choice is left, however it came about. Shape ``(n,)``."""
        if not entropy.per_token:
            return np.zeros(len(usual), bool)
        gone = (usual < self.floor) & (usual < 0.1 * start)
        x = entropy.values
        # A handful of rows are snapshots of a long run, and each stands for many; not so the second of them.
        snapshots = (x < self.floor) & (x < 0.1 * x[0])
        snapshots[:2] = snapshots[FEW:] = False
        out: NDArray[np.bool_] = (persist(gone, 3, 3) | snapshots | (usual < self.dead)) & (usual >= 0)
        return out

    def _sure_and_wrong(
        self, run: Run, entropy: Entropy, usual: NDArray[np.float64], start: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Where a log begins with hardly any choice left and a reward below half of what was paid at best. Shape ``(n,)``."""
        reward, best = run.get("reward"), run.get("reward_max")
        if not entropy.per_token or reward is None or best is None:
            return np.zeros(len(usual), bool)
        mean, top = newest_on_rows(reward, entropy.series.at), newest_on_rows(best, entropy.series.at)
        with np.errstate(invalid="ignore"):
            poor = (mean >= 0) & (mean < 0.5 * top)
        out: NDArray[np.bool_] = poor & (usual < self.floor) & (start < self.floor) & (usual >= 0)
        return out

    def _finding(
        self,
        run: Run,
        entropy: Entropy,
        episode: Episode,
        bare: int | None,
        start: NDArray[np.float64],
        usual: NDArray[np.float64],
        low: NDArray[np.bool_],
    ) -> Finding:
        """The finding of an episode; `bare` is where nothing excuses it any more, None where something does throughout."""
        series, x, k, last, active = entropy.series, entropy.values, episode.raised, episode.last, episode.active
        from_start = bool(low[k]) and k < 5 and x[0] < self.floor
        began, early, late = (0, 0, k) if from_start else onset(np.log(np.maximum(x, 1e-6)), k)
        first, raised = int(series.at[began]), int(series.at[k if bare is None else bare])
        paid = bare is None
        others = corroboration(run, max(first - 1, 0), raised, leave_out=("entropy",))
        severity = Severity.WARNING
        if paid or not active:
            severity = Severity.INFO
        elif low[last] and others:
            severity = Severity.CRITICAL
        # Of a handful of values each is a level of its own.
        now, before = (float(x[last]), float(x[0])) if len(x) < FEW else (float(usual[last]), float(start[k]))
        title = said(
            "{metric} is {now} {unit} from the first rows on: hardly a choice is left"
            if from_start
            else "{metric} falls to {now} {unit}, from {start} at the start",
            metric=series.metric,
            now=number(now),
            unit=entropy.unit,
            start=number(before),
        )
        if paid:
            title = said("{title}, while the reward rises or is near its largest", title=title)
        if not active:
            title = said("{title}; it came back", title=title)
        return self.finding(
            severity,
            Confidence.STRONG if low[k] or others else Confidence.MODERATE,
            title,
            run=run,
            first=first,
            last=int(series.at[last]),
            raised=raised,
            onset=(int(series.at[early]), int(series.at[late])),
            active=active,
            evidence=[
                quote(
                    series,
                    sorted({max(began - 1, 0), k, last}),
                    said("{share} % of the start", share=number(100 * now / max(before, 1e-12))),
                ),
                *others,
            ],
            advice=ADVICE,
            alternatives=ALTERNATIVES,
            against=["the reward rises or is near its largest: entropy is being spent on it"] if paid else (),
        )
