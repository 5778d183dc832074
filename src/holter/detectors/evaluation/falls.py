"""Whether held-out evidence has fallen from its best: few evaluations by their shape, dense series by block means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.base import number
from holter.detectors.evaluation.held_out import bare
from holter.detectors.statistics.drawdown import best_at, falls_from_best
from holter.detectors.statistics.episodes import onset, persist
from holter.detectors.statistics.peak import MOST, rise_then_fall
from holter.detectors.statistics.rolling import running_max, trailing_mean, trailing_median
from holter.findings.finding import Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

SIZE_KEYS = ("eval_size", "eval_samples", "num_eval_samples", "eval_dataset_size", "max_eval_samples")
"""Configuration keys that say how many items one evaluation has."""


TELLING = 10.0
"""Likelihood ratio below which it is not worth telling."""

JUMP = 0.6
"""Share of a loss that one drop must make to be the loss."""


@dataclass(frozen=True, slots=True, eq=False)
class Fallen:
    """For every evaluation, whether the series has fallen from its best, judged from the evaluations up to it.

    Attributes:
        flags: Whether it has, by a material and significant amount. Shape ``(n,)``.
        peak: Position of the best. Shape ``(n,)``.
        height: Level at the best. Shape ``(n,)``.
        level: Level now. Shape ``(n,)``.
        ratio: Likelihood ratio of rise-then-fall against never-falls; NaN where block means were compared. Shape ``(n,)``.
    """

    flags: NDArray[np.bool_]
    peak: NDArray[np.int64]
    height: NDArray[np.float64]
    level: NDArray[np.float64]
    ratio: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fall:
    """One fall of one series. All are positions in the series.

    Attributes:
        peak: Where it was best before.
        began: Where the fall began, from values up to `raised`.
        raised: Where the fall could first be said.
        last: Last position that still shows it.
        over: Whether it has ended for good; what is said later cannot change that.
        told: Position up to which another fall is told with this one: where it was known to be over, or the end.
        active: Whether it still holds at the end.
        height: Level at the best.
        level: Level when it was raised.
        newest: Level at `last`.
        ratio: Likelihood ratio when it was raised; NaN where block means were compared.
    """

    peak: int
    began: int
    raised: int
    last: int
    over: bool
    told: int
    active: bool
    height: float
    level: float
    newest: float
    ratio: float

    def says(self) -> str:
        """What shows that it fell, in words."""
        drop = number(self.height - self.level)
        if np.isnan(self.ratio):
            return said(
                "{drop} below its best when it could first be said, far outside the noise of its blocks", drop=drop
            )
        if self.ratio < TELLING:
            return said(
                "{drop} below its best when it could first be said; its newest evaluations are its lowest, below half of what "
                "they were",
                drop=drop,
            )
        return said(
            "{drop} below its best when it could first be said; rising and then falling fits better than never falling, "
            "likelihood ratio {ratio}",
            drop=drop,
            ratio=number(self.ratio),
        )

    def row(self, series: Series) -> int:
        """Row of the run where it began, between the evaluations before and after.

        The line through the evaluations of the fall is followed back to the level at the best. A fall that shows no line began
        half-way between the two.
        """
        low = int(series.at[max(self.began - 2, 0)])
        before, after = series.at[[self.began - 1, self.began]].tolist()
        at, e = series.at[self.began : self.raised + 1], series.values[self.began : self.raised + 1]
        if len(at) > 1:
            slope, at_zero = np.polyfit(at - after, e, 1)
            if slope < 0:
                top = after + (self.height - at_zero) / slope
                return int(np.clip(np.ceil(top), low + 1 if self.began > 1 else before, after))
        return int(after - (after - before) // 2)


def fallen(run: Run, series: Series, *, ratio: float, share: float, part: float, z: float) -> Fallen:
    """Judge a finite series.

    Args:
        run: For the size of its evaluations, where the configuration says it.
        series: Evidence, higher being better.
        ratio: Likelihood ratio to exceed at two evaluations in a row, or two and a half times that at one.
        share: Share of what was gained that must be lost.
        part: Share of the best level that must be lost where little was gained.
        z: Standard errors to exceed for dense series.
    """
    e = series.values
    n, few = len(e), min(len(e), MOST)
    errors = stderr(run, series)
    shape = rise_then_fall(e[:few], None if errors is None else errors[:few])
    k = np.arange(few)
    loss = shape.height - shape.now
    first = float(np.median(e[:3])) if n else 0.0
    gain = np.maximum(shape.height - first, 0.0)
    material = loss > np.maximum(share * gain, part * np.abs(shape.height))
    # A start that was never reached again is one evaluation and may be luck, so its fall has to be larger.
    material &= (shape.at > 0) | (loss > 2.5 * part * np.abs(shape.height))
    # Every further evaluation is another chance for noise to look like a fall.
    needed = ratio * (1 + np.maximum(k - 10, 0) / 30)
    clear = (shape.ratio > needed) & material & (k - shape.at >= 2) & (k >= 4)
    flags = np.zeros(n, bool)
    twice = clear & np.concatenate((clear[:1], clear[:-1]))
    # A noise that was not estimated from the same few numbers needs no second look.
    known = np.zeros(few, bool) if errors is None else np.logical_and.accumulate(np.isfinite(errors[:few]))
    flags[:few] = np.where(known, clear, twice | (clear & (shape.ratio > 2.5 * needed)))
    flags[:few] |= _halved(e[:few]) & (k - shape.at >= 2)
    peak, height, level = np.zeros(n, np.int64), np.full(n, np.nan), np.full(n, np.nan)
    odds = np.full(n, np.nan)
    peak[:few], height[:few], level[:few], odds[:few] = shape.at, shape.height, shape.now, shape.ratio
    if n > MOST:
        block = trailing_mean(e, 10, least=10)
        best = running_max(block, lag=10)
        dense = falls_from_best(e, z=z, share=share, least=part * np.abs(np.nan_to_num(best, neginf=0.0)), warm=MOST)
        flags[MOST:] = dense[MOST:]
        peak[MOST:] = np.maximum(best_at(block, lag=10)[MOST:] - 4, 0)
        height[MOST:], level[MOST:] = best[MOST:], block[MOST:]
    return Fallen(flags, peak, height, level, odds)


def falls(series: Series, judged: Fallen, raise_at: NDArray[np.bool_]) -> list[Fall]:
    """Falls of a series: raised where asked, held until half of the loss is made good.

    Args:
        series: The finite series that was judged.
        judged: What `fallen` said.
        raise_at: Positions at which a fall may be raised. Shape ``(n,)``.
    """
    quiet, smooth = (10, 5) if _is_dense(series) else (3, 3)
    calm = trailing_median(series.values, smooth)
    out: list[Fall] = []
    starts = np.flatnonzero(raise_at & judged.flags)
    position, n = -1, len(series)
    for k in starts.tolist():
        if k <= position:
            continue
        height, level = float(judged.height[k]), float(judged.level[k])
        above = calm[k:] > (height + level) / 2
        returns = np.flatnonzero(persist(above, quiet, quiet))
        end = k + int(returns[0]) - quiet + 1 if len(returns) else n
        peak = int(judged.peak[k])
        began = _began(series, peak, k, height - level)
        back = bool(above[-1]) and float(series.values[-1]) > (height + level) / 2
        last = max(end - 1, k)
        newest = float(np.median(series.values[max(began, last - smooth + 1) : last + 1]))
        told = int(returns[0]) + k if len(returns) else n - 1
        active = end == n and not back
        out.append(Fall(peak, began, k, last, end < n, told, active, height, level, newest, float(judged.ratio[k])))
        position = end + quiet - 1
    return out


def one_each(patterns: Sequence[Finding], proven: Sequence[Finding]) -> Iterator[Finding]:
    """Findings of one detector, a fall that a pattern showed before it was proven told once.

    The proof takes over what the pattern had said first: where it began, and when it could be said.

    Args:
        patterns: Falls that were told by their shape.
        proven: Falls that a test found.
    """
    left = list(patterns)
    for finding in proven:
        same = [p for p in left if _same_fall(p, finding)]
        left = [p for p in left if p not in same]
        first = min(same, key=lambda p: p.raised_step, default=finding)
        if first.raised_step < finding.raised_step:
            finding = replace(finding, first_step=first.first_step, onset=first.onset, raised_step=first.raised_step)
        if first.severity > finding.severity:
            more = [e for e in first.evidence if e.metric not in {e.metric for e in finding.evidence}]
            finding = replace(finding, severity=first.severity, evidence=(*finding.evidence, *more))
        yield finding
    yield from left


def _same_fall(pattern: Finding, proven: Finding) -> bool:
    """Whether both speak of one metric, and the pattern still held when the fall was proven."""
    held = pattern.active or pattern.last_step >= proven.raised_step
    alike = pattern.evidence[0].key == proven.evidence[0].key
    # A proof that is over or excused does not take over a warning that still stands.
    graver = pattern.severity >= Severity.WARNING > proven.severity
    return alike and not graver and held and pattern.first_step <= proven.last_step


def stderr(run: Run, series: Series) -> NDArray[np.float64] | None:
    """Standard error of each evaluation, from its own series or from its size; NaN or None where it is unknown."""
    for score in (series.key, f"eval/{bare(series.metric)}"):
        other = run.series.get(f"{score}/standard_error")
        if other is not None:
            at = other.upto(series.at)
            if (at >= 0).all():
                found: NDArray[np.float64] = np.where(other.values[at] > 0, other.values[at], np.nan)
                return found
    size = _size(run.config)
    values = series.values
    if size and len(values):
        inside = np.logical_and.accumulate((values >= 0.0) & (values <= 1.0))
        share = np.clip(values, 1.0 / (size + 2), 1 - 1.0 / (size + 2))
        return np.where(inside, np.sqrt(share * (1 - share) / size), np.nan)
    return None


def _halved(e: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where the three newest evaluations are the three lowest of seven or more, below half of the median before.

    It needs no estimate of the noise, which a noisy fall makes too large: without a fall three given evaluations are the lowest
    of seven in one case of 35, and not by half.
    """
    out = np.zeros(len(e), bool)
    for k in range(6, len(e)):
        before = e[: k - 2]
        out[k] = e[k - 2 : k + 1].max() < min(float(before.min()), 0.5 * float(np.median(before)))
    return out


def _began(series: Series, peak: int, raised: int, loss: float) -> int:
    """First position of a fall: the jump that makes most of it, else right after the peak, or where a dense series turns."""
    drops = -np.diff(series.values[peak : raised + 1])
    if drops.max() > JUMP * loss:
        return peak + 1 + int(np.argmax(drops))
    if _is_dense(series):
        return min(max(peak + 1, onset(series.values, raised)[0]), raised)
    return peak + 1


def _is_dense(series: Series) -> bool:
    """Whether the score is logged at nearly every row: one value then says little. Judged by its first ten values."""
    first = series.at[:10]
    return len(first) > 1 and bool(first[-1] - first[0] <= 2 * (len(first) - 1))


def _size(config: Mapping[str, object]) -> int:
    for key in SIZE_KEYS:
        value = config.get(key)
        if isinstance(value, (int, float)) and value > 0:
            return int(value)
    return 0
