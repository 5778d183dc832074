"""The reward on training prompts leaves the same reward on held-out prompts behind.

## Why it matters
The policy learns the training prompts, not the task. That happens with few prompts, many epochs over them, or answers that
leak into the prompts; more training makes it worse.

## When it fires
Both sides must be the same quantity, `reward` and `eval_reward`, `rewards/x/mean` and `eval_rewards/x/mean`. The gap between
training and evaluation has grown by more than `z` standard errors and more than `unit` times the spread of single rewards, at
two evaluations in a row, while the reward on training prompts rose; or the evaluation fell by the test of `reward-hacking`
while the training reward rose.
As information it says when a held-out score of another name did not move at all while the reward rose by more than one spread.

## What to do
- Add prompts, or fewer passes over them; look for evaluation prompts in the training set and the other way round.
- Choose the checkpoint by the evaluation, not by the reward.
- Check that evaluation and training sample alike (temperature, length limit): different settings make a constant gap.

## When it is wrong
Evaluation prompts that are simply harder make a constant gap, not a growing one. Greedy evaluation against sampled training
makes a gap that shrinks as entropy falls.

## References
Cobbe et al., ["Quantifying Generalization in Reinforcement Learning"](https://arxiv.org/abs/1812.02341) (2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.evaluation.falls import fallen, falls
from holter.detectors.evaluation.held_out import SAME, SCORES, held_out, own_evaluations
from holter.detectors.statistics.drawdown import spread_or_less
from holter.detectors.statistics.episodes import episodes, persist
from holter.detectors.statistics.progress import Progress
from holter.detectors.statistics.rolling import trailing_mean, trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding, Unchecked
    from holter.runs.run import Run, Series

WINDOW = 20
"""Values of the training reward averaged before it is compared."""

FIRST = 3
"""Evaluations whose gap is the gap at the start."""

ADVICE = (
    "Add prompts or make fewer passes over them; look for prompts that are in both sets.",
    "Choose the checkpoint by the evaluation, not by the reward.",
)

ALTERNATIVES = (
    Alternative(
        says="training and evaluation sample differently",
        check="compare temperature, length limit and stop tokens of the two",
    ),
)


@dataclass(frozen=True, kw_only=True)
class TrainEvalGap(Detector):
    """HLT343."""

    name: ClassVar = "train-eval-gap"
    code: ClassVar = "HLT343"
    since: ClassVar = "0.1"
    says: ClassVar = "training and evaluation come apart"
    needs: ClassVar = (
        Need(concepts=("reward",), points=3, log="the mean reward of every step"),
        Need(concepts=(*SCORES, *SAME), points=3, split="eval", log="the reward on held-out prompts"),
    )

    ratio: float = limit(12.0, unit="likelihood ratio", help="needs a clearer fall of the evaluation", low=4.0)
    z: float = limit(6.0, unit="standard errors", help="needs a clearer gap", low=2.0)
    unit: float = limit(0.5, unit="reward spreads", help="needs a larger gap", low=0.0)
    flat: int = limit(8, unit="evaluations", help="waits longer before it calls a score flat", low=4)

    def check(self, run: Run) -> Iterator[Finding | Unchecked]:
        """Each trained quantity against itself on held-out prompts, then the scores that do not move."""
        progress = Progress.of(run)
        if progress is None:
            return
        pairs = [(own.finite(), twin.finite()) for own, twin in own_evaluations(run)]
        pairs = [(own, twin) for own, twin in pairs if len(own) >= 3 and len(twin)]
        whole = [(own, twin) for own, twin in pairs if twin.concept == "reward"]
        for own, twin in whole or pairs:  # the sum says what its parts would say again
            yield from self._falls(run, progress, own)
            yield from self._grows(run, progress, own, twin)
        for score in held_out(run):
            yield from self._flat(run, progress, score.finite())

    def _falls(self, run: Run, progress: Progress, own: Series) -> Iterator[Finding]:
        judged = fallen(run, own, ratio=self.ratio, share=0.4, part=0.07, z=self.z)
        rises = progress.z(own.at[judged.peak], own.at, WINDOW) > 2.0
        for fall in falls(own, judged, rises):
            raised = int(own.at[fall.raised])
            after, began = int(own.at[fall.began]), fall.row(own)
            yield self.finding(
                Severity.WARNING if fall.active else Severity.INFO,
                Confidence.MODERATE,
                said(
                    "{metric} falls from {best} to {now} while {reward} on training prompts rises",
                    metric=own.metric,
                    best=number(fall.height),
                    now=number(fall.newest if fall.active else fall.level),
                    reward=progress.series.metric,
                ),
                run=run,
                first=began,
                last=len(run) - 1 if fall.active else int(own.at[fall.last]),
                raised=raised,
                onset=(min(int(own.at[fall.began - 1]), began), after),
                active=fall.active,
                evidence=[quote(own, [fall.peak, fall.raised], "the same reward on held-out prompts")],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )

    def _grows(self, run: Run, progress: Progress, own: Series, twin: Series) -> Iterator[Finding]:
        i = twin.upto(own.at)
        ready = i >= 0
        if ready.sum() < FIRST + 5:
            return
        own, i = own.where(ready), i[ready]
        gap = trailing_mean(twin.values, 5)[i] - own.values
        sd, _ = spread_or_less(gap)
        start = float(gap[:FIRST].mean())
        grown = trailing_median(gap, 3) - start
        unit = progress.unit(run)
        spread = unit[np.maximum(progress.series.upto(own.at), 0)]
        rises = progress.z(np.full(len(own), progress.series.at[0]), own.at, WINDOW) > 3.0
        with np.errstate(invalid="ignore"):
            flags = (grown > self.z * sd * np.sqrt(1 / FIRST + 1 / 3)) & (grown > self.unit * spread) & rises
            # A mean over rows lags behind a reward that rises fast, so the gap itself must be there too.
            flags &= trailing_median(gap, 3) > self.unit * spread
        flags[: FIRST + 4] = False
        for episode in episodes(persist(flags, 2, 2), quiet=3):
            k = episode.raised
            yield self.finding(
                Severity.WARNING if episode.active else Severity.INFO,
                Confidence.MODERATE,
                said(
                    "{reward} runs ahead of {metric}: the gap grew by {grown} since the start",
                    reward=twin.metric,
                    metric=own.metric,
                    grown=number(grown[k]),
                ),
                run=run,
                first=int(own.at[max(k - 1, 0)]),
                last=len(run) - 1 if episode.active else int(own.at[episode.last]),
                raised=int(own.at[k]),
                active=episode.active,
                evidence=[
                    quote(own, [0, k], "held-out prompts"),
                    quote(twin, [int(i[0]), int(i[k])], "training prompts at the same rows"),
                ],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )

    def _flat(self, run: Run, progress: Progress, score: Series) -> Iterator[Finding]:
        """A score of another name that stays where it was, while the reward rose by more than one spread."""
        n = len(score)
        if n < self.flat:
            return
        k = np.arange(n)
        sd, _ = spread_or_less(score.values)
        first = float(score.values[:FIRST].mean())
        late = trailing_mean(score.values, 5)
        bound = 2 * np.nan_to_num(sd, nan=np.inf) * np.sqrt(1 / FIRST + 1 / 5) + np.abs(late - first)
        gain = progress.z(np.full(n, progress.series.at[0]), score.at, WINDOW)
        spread = progress.unit(run)[np.maximum(progress.series.upto(score.at), 0)]
        change = trailing_mean(progress.series.values, 10)[np.maximum(progress.series.upto(score.at), 0)]
        change = change - float(progress.series.values[:5].mean())
        with np.errstate(invalid="ignore"):
            flags = (
                (k >= self.flat - 1) & (bound < 0.1 * np.maximum(abs(first), 1e-9)) & (gain > 4.0) & (change > spread)
            )
        for episode in list(episodes(flags, quiet=3))[:1]:
            r = episode.raised
            yield self.finding(
                Severity.INFO,
                Confidence.MODERATE,
                said(
                    "{metric} stays at {level} while {reward} rises by {gain}",
                    metric=score.metric,
                    level=number(late[r]),
                    reward=progress.series.metric,
                    gain=number(change[r]),
                ),
                run=run,
                first=int(score.at[0]),
                last=int(score.at[episode.last]),
                raised=int(score.at[r]),
                active=episode.active,
                evidence=[
                    quote(
                        score, [0, r], said("changed by at most {bound} (two standard errors)", bound=number(bound[r]))
                    )
                ],
                advice=("Ask whether this score measures what the reward is meant to improve.",),
                alternatives=ALTERNATIVES,
            )
