"""One part of the reward rises while another falls, and the sum hides it.

## Why it matters
The policy has found the part that is cheap. Format, length or tone go up, correctness goes down, the total looks like progress.

## When it fires
A component has fallen from its best by the test of `reward-collapse` (`z` standard errors, `share` of its gain, and `least`
times its own spread or `part` of its level), while another component and the total rose by more than `rise` standard errors
since. Components with weight zero are evidence, not parts, and belong to `reward-hacking`.
In a log of fewer than twelve rows, as people paste them, no such test has power. Then a part that loses half of its level
against the binomial noise of a batch, while another and the total rise, is reported as a pattern, when it does so row by row or
completion length changes with it.
A warning too where nothing falls, but one part carries all that the reward gains while another, a share of completions, is hardly
ever paid (under 2 %) and does not follow, for 25 rows and more: what is learnt is the cheap part alone. A part of weight zero
that is only watched counts here, because it is the better evidence. A part that was paid at first (10 % in any three rows) and
is not any more has fallen, which is the first rule's question, and a part that never paid at all is `dead-component`'s.
It is critical when the part that falls is the one that carries the task (accuracy, correctness, gold, answer, solve).

## What to do
- Gate the cheap part by the one that matters: format counts only when the answer is right.
- Lower the weight of the part that rises, or stop paying for it once it is learnt.
- Read completions with the highest total.

## When it is wrong
Parts that trade off by design, such as a length penalty against a correctness reward while completions get longer for a reason.
A hard task whose format is learnt first: then the dear part follows later, and the finding is over.

## References
[open-r1 issue 255](https://github.com/huggingface/open-r1/issues/255): format from .48 to .86 while accuracy goes
from .16 to .06.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.reward.lopsided import FEW, Lopsided, falls_in_few_rows, never_follows
from holter.detectors.reward.task_reward import TASK
from holter.detectors.statistics.drawdown import best_at, falls_from_best, spread_or_less
from holter.detectors.statistics.episodes import QUIET, episodes, onset
from holter.detectors.statistics.progress import Progress
from holter.detectors.statistics.rolling import running_max, trailing_mean, trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.component_weights import held_out_components

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.detectors.statistics.episodes import Episode
    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

WINDOW = 10
"""Values that are averaged before a rise is judged."""

ADVICE = (
    "Gate the cheap part by the one that matters: it counts only when the answer is right.",
    "Lower the weight of the part that rises.",
    "Read completions with the highest total.",
)

ALTERNATIVES = (Alternative(says="the parts trade off by design", check="compare a held-out score before and after"),)


@dataclass(frozen=True, kw_only=True)
class ComponentConflict(Detector):
    """HLT309."""

    name: ClassVar = "component-conflict"
    code: ClassVar = "HLT309"
    since: ClassVar = "0.1"
    says: ClassVar = "one part of the reward rises at the cost of another"
    explains: ClassVar = ("reward-hacking", "eval-declines")
    needs: ClassVar = (
        Need(concepts=("reward_component",), points=2, log="the mean of every reward function"),
        Need(concepts=("reward",), points=2, log="the mean reward of every step"),
    )
    uses: ClassVar = ("reward_component_spread",)

    z: float = limit(6.0, unit="standard errors", help="needs a clearer fall", low=2.0)
    share: float = limit(0.4, unit="of the gain", help="needs a larger fall", low=0.0, high=1.0)
    least: float = limit(0.25, unit="spreads of the component", help="ignores larger falls", low=0.0)
    part: float = limit(0.25, unit="of its best level", help="ignores larger falls", low=0.0)
    rise: float = limit(3.0, unit="standard errors", help="needs a clearer rise of the other part", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Every paid component against the others and the total."""
        progress = Progress.of(run)
        unpaid = {s.metric for s in held_out_components(run)}
        every = [s.finite() for s in run.all("reward_component")]
        if progress is None or len(every) < 2:
            return
        parts = [s for s in every if s.metric not in unpaid]
        few = falls_in_few_rows(run, parts, progress.series)
        if few is not None:
            yield self._pattern(run, few, many=len(progress.series) >= FEW)
        alone = never_follows(every, parts, progress.series)
        parts = [s for s in parts if len(s) >= FEW]
        found = list(self._falls(run, progress, parts))
        if alone is not None and (not found or run.steps[alone.raised] < found[0].raised_step):
            yield self._one_alone(run, alone, watched=alone.low.metric in unpaid)
        yield from found

    def _falls(self, run: Run, progress: Progress, parts: list[Series]) -> Iterator[Finding]:
        """Parts that fall while others rise, in the order in which it could be said; none while an earlier one lasts."""
        falling = [_Falling.of(run, part, self) for part in parts]
        candidates = sorted(
            ((int(f.part.at[e.raised]), i, e) for i, f in enumerate(falling) for e in f.episodes), key=lambda c: c[:2]
        )
        shown, over = -1, 0
        for raised, i, episode in candidates:
            if raised <= shown:
                continue
            finding = self._against(run, progress, falling[i], episode, [f for f in falling if f is not falling[i]])
            if finding is not None:
                # While an earlier fall was not known to be over, this one was not told.
                yield replace(finding, raised_step=max(finding.raised_step, float(run.steps[over])))
                at = falling[i].part.at
                shown, over = (len(run), 0) if finding.active else at[[episode.last, episode.last + QUIET]].tolist()

    def _against(
        self, run: Run, progress: Progress, falling: _Falling, episode: Episode, others: list[_Falling]
    ) -> Finding | None:
        """What one fall comes to; None where the total or no other part has risen since."""
        part, x, k = falling.part, falling.part.values, episode.raised
        began, low, late = (max(p, int(falling.top[k])) for p in onset(x, k))
        early, now = np.asarray([part.at[max(began - 1, 0)]]), np.asarray([part.at[k]])
        if float(progress.z(early, now, WINDOW)[0]) < self.rise:
            return None
        risers = [o.part for o in others if self._rose(o.part, o.spread, int(early[0]), int(now[0]))]
        if not risers:
            return None
        before, after = float(falling.best[k]), float(np.median(x[max(began, k - 2) : k + 1]))
        severe = bool(TASK.search(part.metric)) and not TASK.search(risers[0].metric)
        return self.finding(
            Severity.INFO if not episode.active else Severity.CRITICAL if severe else Severity.WARNING,
            Confidence.STRONG if severe else Confidence.MODERATE,
            said(
                "{metric} falls from {before} to {after} while {other} and {reward} rise",
                metric=part.metric,
                before=number(before),
                after=number(after),
                other=risers[0].metric,
                reward=progress.series.metric,
            ),
            run=run,
            first=int(part.at[began]),
            last=int(part.at[episode.last]),
            raised=int(part.at[k]),
            onset=(int(part.at[low]), int(part.at[late])),
            active=episode.active,
            evidence=[
                quote(part, [max(began - 1, 0), k], said("{drop} below its best", drop=number(before - after))),
                *(
                    quote(s, np.maximum(s.upto(np.concatenate((early, now))), 0), "rose over the same rows")
                    for s in risers
                ),
            ],
            advice=ADVICE,
            alternatives=ALTERNATIVES,
        )

    def _pattern(self, run: Run, case: Lopsided, *, many: bool) -> Finding:
        low, high = case.low, case.high
        shown = [0, int(np.searchsorted(low.at, case.raised))]
        active = case.active and not many  # with more rows the test of the fall decides
        return self.finding(
            Severity.WARNING if active else Severity.INFO,
            Confidence.PATTERN,
            said(
                "{metric} falls from {before} to {after} while {other} rises",
                metric=low.metric,
                before=number(low.values[0]),
                after=number(low.values[shown[1]]),
                other=high.metric,
            ),
            run=run,
            first=case.first,
            last=case.last,
            raised=case.raised,
            onset=(int(low.at[0]), case.first),
            active=active,
            evidence=[
                quote(low, shown, "more than half of it is lost; too few rows for more than a pattern"),
                quote(high, np.maximum(high.upto(low.at[shown]), 0), "rose over the same rows"),
            ],
            advice=ADVICE,
            alternatives=(
                *ALTERNATIVES,
                Alternative(says="each row is one small batch", check="the rows in between, or the mean of ten rows"),
            ),
        )

    def _one_alone(self, run: Run, case: Lopsided, *, watched: bool) -> Finding:
        low, high = case.low, case.high
        k, end = (int(np.searchsorted(low.at, row)) for row in (case.raised, case.last))
        shown = sorted({0, k, end})
        return self.finding(
            Severity.WARNING if case.active else Severity.INFO,
            Confidence.MODERATE,
            said(
                "the reward's gain is {paid} alone; {other}, of weight 0, stays next to nothing ({level}) and does not follow"
                if watched
                else "the reward's gain is {paid} alone; {other} is hardly ever paid ({level}) and does not follow",
                paid=high.metric,
                other=low.metric,
                level=number(low.values[k]),
            ),
            run=run,
            first=case.first,
            last=case.last,
            raised=case.raised,
            active=case.active,
            evidence=[
                quote(low, shown, "hardly ever paid, and no more than before"),
                quote(high, np.maximum(high.upto(low.at[shown]), 0), "carries the gain"),
            ],
            advice=(
                said(
                    "Read completions that {paid} pays and {other} does not: a hack, or a step on the way?",
                    paid=high.metric,
                    other=low.metric,
                ),
                said("Score completions that are known to be right: {metric} must pay for them.", metric=low.metric),
                "Start from easier prompts, or give partial credit for the part that is never paid.",
            ),
            alternatives=(
                Alternative(
                    says="the task is too hard as yet, and the cheap part is learnt first",
                    check="the success rate in many samples of one prompt (pass@k) of the initial model",
                ),
            ),
        )

    def _rose(self, series: Series, spread: NDArray[np.float64], early: int, now: int) -> bool:
        a, b = np.maximum(series.upto(np.asarray([early, now])), 0).tolist()
        x = series.values
        first, second = x[max(0, a - WINDOW + 1) : a + 1], x[max(a + 1, b - WINDOW + 1) : b + 1]
        if len(second) < 3:
            return False
        se = float(spread[b]) * np.sqrt(1 / len(first) + 1 / len(second))
        return bool(second.mean() - first.mean() > self.rise * se)


@dataclass(frozen=True, slots=True, eq=False)
class _Falling:
    """One part and where it has fallen from its best. Arrays have the shape of its values.

    Attributes:
        part: Its finite values.
        spread: Noise of one value.
        best: Best mean of three values up to three before each.
        top: Position of that mean.
        episodes: Stretches in which it has fallen.
    """

    part: Series
    spread: NDArray[np.float64]
    best: NDArray[np.float64]
    top: NDArray[np.int64]
    episodes: tuple[Episode, ...]

    @classmethod
    def of(cls, run: Run, part: Series, limits: ComponentConflict) -> _Falling:
        x = part.values
        block = trailing_mean(x, 3, least=3)
        best = np.nan_to_num(running_max(block, lag=3), neginf=0.0)
        spread, _ = spread_or_less(x)
        # A fall has to matter on the component's own scale and beside its own spread.
        least = np.maximum(limits.part * np.abs(best), np.nan_to_num(limits.least * _spread_of_rewards(run, part)))
        flags = falls_from_best(x, z=limits.z, share=limits.share, least=least, spread=spread)
        return cls(part, spread, best, best_at(block, lag=3), tuple(episodes(flags)))


def _spread_of_rewards(run: Run, part: Series) -> NDArray[np.float64]:
    """Spread of the part's single rewards in the first rows, known at each value; NaN where none is logged."""
    for spread in run.all("reward_component_spread"):
        if spread.labels == part.labels and len(spread.finite()):
            spread = spread.finite()
            early = trailing_median(spread.values[:20], 20)
            i = np.minimum(spread.upto(part.at), len(early) - 1)
            return np.where(i >= 0, early[np.maximum(i, 0)], np.nan)
    return np.full(len(part), np.nan)
