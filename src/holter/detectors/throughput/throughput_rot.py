"""The run gets slower and slower, and longer completions do not explain it.

## Why it matters
A step that takes three times as long costs three times as much, and is seldom decided on. The usual reasons end badly:
memory that leaks until the process is killed, an environment or judge that answers ever later, a cache that fills a disk.

## When it fires
The median of the newest step times is `factor` times that of the points before and a new extreme, and so is the time per
token of a step, where the log tells how many there were. Or the throughput that the log states is below a `factor`-th.
Rows with an evaluation are left out. It is a warning from `severe` on, below it an info.

## What to do
- Which part grew: generation, reward, update, weight transfer, waiting? Compare the `time/...` signals across the onset.
- Look at the memory of host and device over time: a straight line upwards is a leak.
- Environments and judges: their latency, their queue, their rate limit.

## When it is wrong
Other jobs on the same machine; a step that does more on purpose (more completions, more epochs) where the log does not
say so; environments whose episodes get longer in turns rather than in tokens.

## References
Google, "Site Reliability Engineering" (2016), chapter 6, on latency as a signal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.alignment import newest_on_rows
from holter.detectors.statistics.breaks import leaves_level
from holter.detectors.statistics.episodes import episodes, onset, unexcused
from holter.detectors.statistics.hold import hold
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.detectors.statistics.episodes import Episode
    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

RATES = ("throughput", "throughput_per_gpu", "throughput_samples")
PARTS = ("time_rollout", "time_reward", "time_train", "time_weight_sync", "time_wait")
ADVICE = (
    "Compare the time of generation, reward, update and waiting before and after {onset}: which part grew?",
    "Look at host and device memory over time: a straight line upwards is a leak.",
    "Check latency and rate limits of environments and judges.",
)


@dataclass(frozen=True, kw_only=True)
class ThroughputRot(Detector):
    """HLT851."""

    name: ClassVar = "throughput-rot"
    code: ClassVar = "HLT851"
    since: ClassVar = "0.1"
    says: ClassVar = "the run gets slower"
    needs: ClassVar = (
        Need(
            concepts=("step_time", *RATES), points=13, log="the wall time of a step (step_time), or tokens per second"
        ),
    )
    uses: ClassVar = ("batch_tokens", "length", *PARTS)
    explained_by: ClassVar = ("length-explosion",)

    factor: float = limit(2.0, unit="x", help="needs a larger slow-down", low=1.1)
    severe: float = limit(4.0, unit="x", help="calls larger slow-downs an info", low=1.1)

    def check(self, run: Run) -> Iterator[Finding]:
        """Stated rates first; step times where there are none."""
        for concept in RATES:
            rate = run.get(concept)
            if rate is not None and len(rate) >= 13:
                rate = _without_evaluation(run, rate.finite())
                rate = rate.where(rate.values > 0)
                slow = leaves_level(rate.values, factor=self.factor, up=False, extreme=1.2)
                yield from self._slower(run, rate, hold(slow, rate.values, up=False), up=False)
                return
        time = run.get("step_time")
        if time is None:
            return
        time = _without_evaluation(run, time.finite())
        time = time.where(time.values > 0)
        slow = leaves_level(time.values, factor=self.factor, extreme=1.2)
        work = _work(run, time)
        if work is not None:
            slow &= leaves_level(time.values / work, factor=self.factor, extreme=1.2)
        yield from self._slower(run, time, hold(slow, time.values), up=True)

    def _slower(self, run: Run, series: Series, flags: NDArray[np.bool_], *, up: bool) -> Iterator[Finding]:
        lately = trailing_median(series.values, 10, least=1)
        for episode in episodes(flags):
            yield self._say(run, series, episode, flags, lately, up=up)

    def _say(
        self,
        run: Run,
        series: Series,
        episode: Episode,
        flags: NDArray[np.bool_],
        lately: NDArray[np.float64],
        *,
        up: bool,
    ) -> Finding:
        x, i = series.values, episode.raised
        first, low, late = onset(np.log(x), i, window=200)
        before = float(np.median(x[max(0, first - 10) : max(first, 1)]))
        now = float(lately[episode.last])
        times = lately / before if up else before / lately
        slower = float(times[episode.last])
        severe = unexcused(episode, ~flags | (times < self.severe))
        evidence = [
            quote(
                series,
                sorted({max(first - 1, 0), i, episode.last}),
                said("{before} before, {now} at the end", before=number(before), now=number(now)),
            )
        ]
        part = _grown_most(run, int(series.at[max(first - 1, 0)]), int(series.at[episode.last]))
        if part is not None:
            evidence.append(quote(part[0], part[1], said("{signal} grew most", signal=part[0].signal.phrase)))
        return self.finding(
            Severity.WARNING if slower >= self.severe and episode.active else Severity.INFO,
            Confidence.MODERATE,
            said(
                "{metric} goes from {before} to {now} {unit}: {times} times slower",
                metric=series.metric,
                before=number(before),
                now=number(now),
                unit=series.unit,
                times=number(slower),
            ),
            run=run,
            first=int(series.at[first]),
            last=int(series.at[episode.last]),
            raised=int(series.at[i if severe is None else severe]),
            onset=(int(series.at[low]), int(series.at[late])),
            active=episode.active,
            evidence=evidence,
            advice=ADVICE,
            alternatives=(
                Alternative(says="other jobs share the machine", check="look at its load over the same time"),
                Alternative(says="episodes take more turns", check="compare the number of turns across the onset"),
            ),
        )


def _without_evaluation(run: Run, series: Series) -> Series:
    evaluated = [s.at for s in run.series.values() if s.split is Split.EVAL]
    return series.where(~np.isin(series.at, np.concatenate(evaluated))) if evaluated else series


def _work(run: Run, time: Series) -> NDArray[np.float64] | None:
    """Tokens behind each step time, up to a constant factor; None where the log does not tell."""
    for concept in ("batch_tokens", "length"):
        tokens = newest_on_rows(run.get(concept), time.at)
        if len(tokens) and np.isfinite(tokens).all() and (tokens > 0).all():
            return tokens
    return None


def _grown_most(run: Run, before: int, after: int) -> tuple[Series, list[int]] | None:
    """The part of a step whose time grew most in seconds between two rows."""
    best: tuple[float, Series, list[int]] | None = None
    for concept in PARTS:
        series = run.get(concept)
        if series is None:
            continue
        i, j = (int(k) for k in series.upto(np.asarray([before, after])))
        if 0 <= i < j:
            gained = float(series.values[j] - series.values[i])
            if np.isfinite(gained) and gained > 0 and (best is None or gained > best[0]):
                best = gained, series, [i, j]
    return None if best is None else (best[1], best[2])
