"""One part of the reward rises while another falls, and the sum hides it.

## Why it matters
The policy has found the part that is cheap. Format, length or tone go up, correctness goes down, the total looks like progress.

## When it fires
A component has fallen from its best by the test of `reward-collapse` (`z` standard errors, `share` of its gain, and `least`
times its own spread or `part` of its level), while another component and the total rose by more than `rise` standard errors
since. Components with weight zero are evidence, not parts, and belong to `reward-hacking`.
It is critical when the part that falls is the one that carries the task (accuracy, correctness, gold, answer, solve).

## What to do
- Gate the cheap part by the one that matters: format counts only when the answer is right.
- Lower the weight of the part that rises, or stop paying for it once it is learnt.
- Read completions with the highest total.

## When it is wrong
Parts that trade off by design, such as a length penalty against a correctness reward while completions get longer for a reason.

## References
open-r1 issue 255: format from .48 to .86 while accuracy goes from .16 to .06.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.drawdown import falls_from_best, spread_or_less
from holter.detectors.statistics.episodes import episodes, onset
from holter.detectors.statistics.progress import Progress
from holter.detectors.statistics.rolling import running_max, trailing_mean, trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.runs.component_weights import held_out_components

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

TASK = re.compile(r"accura|correct|gold|answer|solve|exact|em\b|pass|unit_test|success", re.I)
WINDOW = 10


@dataclass(frozen=True, kw_only=True)
class ComponentConflict(Detector):
    """HLT309."""

    name: ClassVar = "component-conflict"
    code: ClassVar = "HLT309"
    since: ClassVar = "0.1"
    says: ClassVar = "one part of the reward rises at the cost of another"
    explains: ClassVar = ("reward-hacking", "eval-declines")
    needs: ClassVar = (
        Need(concepts=("reward_component",), points=12, log="the mean of every reward function"),
        Need(concepts=("reward",), points=12, log="the mean reward of every step"),
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
        parts = [s.finite() for s in run.all("reward_component") if s.metric not in unpaid]
        parts = [s for s in parts if len(s) >= 12]
        if progress is None or len(parts) < 2:
            return
        found: list[tuple[int, Finding]] = []
        for part in parts:
            found += self._against(run, progress, part, [s for s in parts if s is not part])
        found.sort(key=lambda item: item[0])
        until = -1
        for raised, finding in found:
            if raised > until:
                yield finding
                until = len(run) if finding.active else int(np.searchsorted(run.steps, finding.last_step))

    def _against(self, run: Run, progress: Progress, part: Series, others: list[Series]) -> list[tuple[int, Finding]]:
        x = part.values
        block = trailing_mean(x, 3, least=3)
        best = np.nan_to_num(running_max(block, lag=3), neginf=0.0)
        spread = self._spread(run, part)
        # A fall has to matter on the component's own scale and beside its own spread.
        least = np.maximum(self.part * np.abs(best), np.nan_to_num(self.least * spread))
        flags = falls_from_best(x, z=self.z, share=self.share, least=least)
        out = []
        for episode in episodes(flags):
            k = episode.raised
            top = int(np.nanargmax(block[: max(k - 2, 3)]))
            began, low, late = (max(p, top) for p in onset(x, k))
            early, now = np.asarray([part.at[max(began - 1, 0)]]), np.asarray([part.at[k]])
            if float(progress.z(early, now, WINDOW)[0]) < self.rise:
                continue
            risers = [s for s in others if self._rose(s, int(early[0]), int(now[0]))]
            if not risers:
                continue
            before, after = float(best[k]), float(np.median(x[max(began, k - 2) : k + 1]))
            severe = bool(TASK.search(part.metric)) and not TASK.search(risers[0].metric)
            finding = self.finding(
                Severity.INFO if not episode.active else Severity.CRITICAL if severe else Severity.WARNING,
                Confidence.STRONG if severe else Confidence.MODERATE,
                f"{part.metric} falls from {number(before)} to {number(after)} while {risers[0].metric} and "
                f"{progress.series.metric} rise",
                run=run,
                first=int(part.at[began]),
                last=int(part.at[episode.last]),
                raised=int(part.at[k]),
                onset=(int(part.at[low]), int(part.at[late])),
                active=episode.active,
                evidence=[
                    quote(part, [max(began - 1, 0), k], f"{number(before - after)} below its best"),
                    *(
                        quote(s, np.maximum(s.upto(np.concatenate((early, now))), 0), "rose over the same rows")
                        for s in risers
                    ),
                ],
                advice=(
                    "Gate the cheap part by the one that matters: it counts only when the answer is right.",
                    "Lower the weight of the part that rises.",
                    "Read completions with the highest total.",
                ),
                alternatives=(
                    Alternative(
                        says="the parts trade off by design", check="compare a held-out score before and after"
                    ),
                ),
            )
            out.append((int(part.at[k]), finding))
        return out

    def _rose(self, series: Series, early: int, now: int) -> bool:
        a, b = np.maximum(series.upto(np.asarray([early, now])), 0).tolist()
        x = series.values
        first, second = x[max(0, a - WINDOW + 1) : a + 1], x[max(a + 1, b - WINDOW + 1) : b + 1]
        if len(second) < 3:
            return False
        sd = float(spread_or_less(x[: b + 1])[0][-1])
        se = sd * np.sqrt(1 / len(first) + 1 / len(second))
        return bool(second.mean() - first.mean() > self.rise * se)

    def _spread(self, run: Run, part: Series) -> np.ndarray:
        for spread in run.all("reward_component_spread"):
            if spread.labels == part.labels and len(spread.finite()):
                spread = spread.finite()
                early = trailing_median(spread.values[:20], 20)
                i = np.minimum(spread.upto(part.at), len(early) - 1)
                return np.where(i >= 0, early[np.maximum(i, 0)], np.nan)
        return np.full(len(part), np.nan)
