"""Reward falls far below the best level it had reached, and stays there.

## Why it matters
What was learnt is being lost. A collapse seldom recovers by itself, and what is generated after it is not worth training on.

## When it fires
Means of the newest 3 to 40 values are compared with the best earlier mean of as many. The fall must exceed `z`
standard errors (noise and autocorrelation taken from before the fall), `share` of what had been gained since the
start, and `least` times the spread of single rewards, or `part` of the reward's magnitude where no spread is logged;
and it must hold for 3 to 5 rows. It is over when half of the fall is made good. Where nothing had been gained, most of
it must come within `sudden` rows; a slow slide from the first rows on is `reward-decline`.

Below twenty values that test has little power. Among the first twelve a level that is lost by half or more, and by half of
the spread of single rewards where it is logged, all values since below all before, is reported as a pattern: when two rows
hold it and a signal of another origin moved, or one row does and two signals did, when it is beyond the noise (that of
shares of 64 completions, or the scatter of eight values and more), when it was four fifths of a positive reward, or when
nothing at all is paid after rewards of 0.6 and more.

It is critical when signals of another origin (KL, entropy, length, truncation, losses) moved at the same time and more
than `lost` of the gain is gone; a warning otherwise; information when the reward came back, or when nothing moved with
it and one of two holds: it is hardly deeper (`deeper`) than a fall that this run came back from, or the reward fell in
one step, has been rising since and made good `regained` of the fall, as it looks after a change of the data.

## What to do
- Look at the reward service first: a judge that times out gives a constant (`judge-outage`).
- Then at what moved with it: KL and entropy mean the policy is damaged, length and truncation that it does not finish.
- Go back to the last checkpoint before the onset, with a lower learning rate.

## When it is wrong
Another data set or a harder stage of a curriculum (spread and length step at the same row), a reward that was rescaled
(`reward-scale-shift`), a dip of a few rows that recovers.

## References
Measured on synthetic and public runs: "ten percent below the best" fires on nearly every healthy run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.corroboration import MOVES, corroboration
from holter.detectors.statistics.drawdown import START, falls_from_best
from holter.detectors.statistics.episodes import episodes, leap, onset
from holter.detectors.statistics.hold import hold
from holter.detectors.statistics.progress import RISES, Progress
from holter.detectors.statistics.rolling import running_max, trailing_mean
from holter.detectors.statistics.snapshots import FEW, errors_apart, pattern, shifts
from holter.detectors.statistics.trend import trend_z
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.detectors.statistics.episodes import Episode
    from holter.detectors.statistics.snapshots import Shift
    from holter.findings.finding import Finding
    from holter.runs.run import Run

HALF = 0.5
"""Share of the level before that a fall within the first values must take."""
LEFT = 0.2
"""Share of a positive reward below which a fall that two rows hold needs no second signal."""
PAID = 0.6
"""Mean reward from which on a row in which nothing is paid is no chance: of eight completions, all fail once in 1,500 rows."""
AGAIN = 15
"""Values after a fall that show whether the reward learns on from there."""

ADVICE = (
    "Check the reward service and the data at {onset}: a constant reward, another data set, another scale.",
    "See what moved with it: KL and entropy mean a damaged policy, length and truncation one that does not finish.",
    "Go back to the last checkpoint at or before {before}, with a lower learning rate.",
)

ALTERNATIVES = (
    Alternative(
        says="harder data or another stage of a curriculum",
        check="see whether prompt length or the spread of rewards steps at the same row",
    ),
    Alternative(
        says="the reward function changed or failed",
        check="score some completions from before the onset again with today's reward function",
    ),
)


@dataclass(frozen=True, slots=True)
class Collapse:
    """One fall of the reward.

    Attributes:
        episode: Where it was raised and how long it lasted, as positions in the reward.
        onset: Best guess, earliest and latest position where it began.
        top: Best mean of three before.
        start: Level of the first values.
    """

    episode: Episode
    onset: tuple[int, int, int]
    top: float
    start: float


@dataclass(frozen=True, kw_only=True)
class RewardCollapse(Detector):
    """HLT301."""

    name: ClassVar = "reward-collapse"
    code: ClassVar = "HLT301"
    since: ClassVar = "0.1"
    says: ClassVar = "the reward collapses"
    explains: ClassVar = ("no-learning", "zero-variance-groups", "zero-reward", "reward-decline")
    needs: ClassVar = (Need(concepts=("reward",), points=2, log="the mean reward of every step"),)
    uses: ClassVar = ("reward_spread", "reward_group_spread", *(m.concept for m in MOVES))

    z: float = limit(5.0, unit="standard errors", help="needs a clearer fall", low=2.0)
    share: float = limit(0.4, unit="of the gain", help="needs a larger part of the gain to be lost", low=0.0, high=1.0)
    lost: float = limit(0.7, unit="of the gain", help="needs a larger loss to be critical", low=0.0)
    sudden: int = limit(15, unit="rows", help="without a gain before: calls slower falls a collapse", low=1)
    least: float = limit(0.25, unit="reward spreads", help="ignores larger falls", low=0.0)
    regained: float = limit(
        0.25,
        unit="of the fall",
        help="a fall at once: needs more of it made good to call it a change of the data",
        low=0.0,
    )
    deeper: float = limit(
        1.25, unit="x", help="needs a fall to be deeper beside those that the run came back from", low=1.0
    )
    part: float = limit(0.15, unit="of the reward", help="without a spread: ignores larger falls", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Falls of the mean reward, as episodes."""
        progress = Progress.of(run)
        if progress is None:
            return
        x = progress.series.values
        tested = list(self._tested(run, progress)) if len(x) >= FEW else []
        few = self._from_few(run, progress, proven=any(finding.active for finding in tested))
        if few is not None:
            yield few
        yield from tested

    def _tested(self, run: Run, progress: Progress) -> Iterator[Finding]:
        """Falls that are beyond the noise and material."""
        reward = progress.series
        x = reward.values
        survived = 0.0
        for collapse in self.collapses(run, progress):
            episode, began = collapse.episode, collapse.onset[0]
            first, raised = int(reward.at[began]), int(reward.at[episode.raised])
            top, start = collapse.top, collapse.start
            now = float(np.median(x[max(began, episode.last - 4) : episode.last + 1]))
            others = corroboration(run, max(first - 1, 0), raised)
            severe = top - now > self.lost * max(top - start, 0.0) and len(others) > 0
            severity = Severity.CRITICAL if severe else Severity.WARNING
            again = not others and self._learns_again(x, began, episode, top)
            usual = not others and top - now <= self.deeper * survived
            if not episode.active:
                survived = max(survived, top - now)
            yield self.finding(
                severity if episode.active and not (again or usual) else Severity.INFO,
                Confidence.STRONG if others else Confidence.MODERATE,
                said(
                    "{metric} fell from {best} at its best to {low} at once and has risen to {now} since: it learns on from there"
                    if episode.active and again
                    else "{metric} falls from {best} at its best to {now}, hardly deeper than it did before and came back"
                    if episode.active and usual
                    else "{metric} falls from {best} at its best to {now}"
                    if episode.active
                    else "{metric} falls from {best} at its best to {now}; it came back",
                    metric=reward.metric,
                    best=number(top),
                    now=number(now),
                    low=number(float(np.median(x[began : began + START]))),
                ),
                run=run,
                first=first,
                last=int(reward.at[episode.last]),
                raised=raised,
                onset=(int(reward.at[collapse.onset[1]]), int(reward.at[collapse.onset[2]])),
                active=episode.active,
                evidence=[
                    quote(
                        reward,
                        sorted({max(began - 1, 0), episode.raised, episode.last}),
                        said(
                            "{drop} below its best mean of three; it had begun at {start}",
                            drop=number(top - now),
                            start=number(start),
                        ),
                    ),
                    *others,
                ],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )

    def _from_few(self, run: Run, progress: Progress, *, proven: bool) -> Finding | None:
        """The first fall within the first `FEW` values that is more than one poor row; `proven` where a test found one too."""
        reward, unit = progress.series, progress.unit(run)
        x = reward.values
        for shift in shifts(x, up=False):
            fall = shift.before - shift.after
            if fall < HALF * abs(shift.before) or fall < HALF * unit[shift.raised]:
                continue
            first, raised = int(reward.at[shift.began]), int(reward.at[shift.raised])
            others = corroboration(run, max(first - 1, 0), raised)
            if not self._more_than_a_row(x, shift, len(others)):
                continue
            return pattern(
                self,
                run,
                reward,
                x,
                shift,
                title=said(
                    "{metric} falls from about {best} to {now}",
                    metric=reward.metric,
                    best=number(shift.before),
                    now=number(shift.after),
                ),
                others=others,
                advice=ADVICE,
                alternatives=(
                    *ALTERNATIVES,
                    Alternative(
                        says="each row is one small batch", check="the rows in between, or the mean of ten rows"
                    ),
                ),
                proven=proven,
            )
        return None

    def _more_than_a_row(self, x: NDArray[np.float64], shift: Shift, others: int) -> bool:
        """Whether chance, or one poor batch, is no likely reason for a fall; `others` signals of other origin moved with it."""
        nothing = shift.after == 0.0 and float(x[: shift.began].min()) >= PAID
        if shift.later < 2:
            return nothing or others > 1
        lost = shift.earlier > 1 and float(x[: shift.raised + 1].min()) >= 0 and shift.after <= LEFT * shift.before
        clear = shift.earlier + shift.later > 3 and errors_apart(x, shift) > self.z
        return nothing or others > 0 or lost or clear

    def _learns_again(self, x: NDArray[np.float64], began: int, episode: Episode, top: float) -> bool:
        """Whether the fall was one step, and the reward has been rising ever since: as after a change of the data."""
        since = x[began : episode.last + 1]
        if len(since) < AGAIN or leap(x, episode.raised) is None:
            return False
        low, now = float(np.median(since[:START])), float(np.median(since[-START:]))
        return bool(trend_z(since, len(since))[-1] > RISES) and now - low > self.regained * (top - low)

    def collapses(self, run: Run, progress: Progress) -> Iterator[Collapse]:
        """Falls from a level that was reached, and sudden ones; a slow slide from the first rows on is a decline."""
        x = progress.series.values
        block = trailing_mean(x, 3, least=3)
        best = running_max(block, lag=3)
        start = float(np.median(x[:START]))
        for episode in episodes(self.flags(run, progress)):
            k = episode.raised
            top_at = int(np.nanargmax(block[: max(k - 2, 3)]))
            began, low, late = (max(p, top_at) for p in onset(x, k))
            top = float(best[k])
            now = float(block[k])
            before = (
                float(np.median(x[max(0, k - self.sudden - 4) : k - self.sudden + 1])) if k >= self.sudden else start
            )
            # A steady slide would have lost this share of it by then; half of that is taken for none.
            steady = 1 - self.sudden / max(k, self.sudden)
            sudden = start - before <= 0.5 * steady * (start - now)
            if sudden or top - start > 0.5 * (top - now):
                yield Collapse(episode, (began, low, late), top, start)

    def flags(self, run: Run, progress: Progress) -> NDArray[np.bool_]:
        """Where the reward has fallen from its best. Shape ``(n,)`` of the reward's finite values."""
        x = progress.series.values
        best = running_max(trailing_mean(x, 3, least=3), lag=3)
        unit = progress.unit(run)
        magnitude = np.maximum(np.abs(np.nan_to_num(best, neginf=0.0, posinf=0.0)), abs(float(np.median(x[:START]))))
        least = np.where(np.isfinite(unit), self.least * unit, self.part * magnitude)
        fallen = falls_from_best(x, z=self.z, share=self.share, least=least)
        return hold(fallen, x, up=False, log=False, base=best)
