"""What other signals do while one of them shows something: a second signal of another origin turns a hint into a verdict.

Each function compares the values before a row with those from it on, and answers with evidence only when the change is
material and beyond the noise. Values after the alarm may be used, because they change how grave a finding is, never whether
there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.base import number, quote
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Evidence
    from holter.runs.run import Run, Series

AROUND = 10
"""Values before the row that set the level."""
NEWEST = 5
"""Values at the end that are compared with it."""


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A series before a row and at the end of an episode.

    Attributes:
        series: What was compared, finite values only.
        before: Median before.
        after: Median of the newest values.
        noise: Robust standard deviation of one value around its trend, before the row; 0 when it cannot be told.
        quoted: Positions of the values nearest to the two medians.
    """

    series: Series
    before: float
    after: float
    noise: float
    quoted: tuple[int, int]

    def evidence(self, says: str) -> Evidence:
        """The two values, quoted, with a sentence."""
        return quote(self.series, self.quoted, f"{self.series.metric} {says}")


def change(series: Series, first: int, last: int) -> Change | None:
    """How a series at rows `first` to `last` differs from before row `first`; None without values on both sides."""
    s = series.finite()
    cut = int(np.searchsorted(s.at, first))
    end = int(np.searchsorted(s.at, last, side="right"))
    if cut == 0 or end <= cut:
        return None
    before = s.values[max(0, cut - AROUND) : cut]
    after = s.values[max(cut, end - NEWEST) : end]
    noise = float(np.median(np.abs(np.diff(before)))) * 1.4826 / 2**0.5 if len(before) >= 6 else 0.0
    low, high = float(np.median(before)), float(np.median(after))
    quoted = (
        max(0, cut - AROUND) + int(np.argmin(np.abs(before - low))),
        max(cut, end - NEWEST) + int(np.argmin(np.abs(after - high))),
    )
    return Change(s, low, high, noise, quoted)


def reward_falls(run: Run, first: int, last: int) -> Evidence | None:
    """The training reward at the end is materially below what it was before row `first`."""
    series = run.get("reward")
    if series is None:
        return None
    found = change(series, first, last)
    if found is None:
        return None
    drop = found.before - found.after
    if drop > 4 * found.noise and drop > _material(run, found, first):
        return found.evidence(f"falls from {number(found.before)} to {number(found.after)}")
    return None


def held_out_falls(run: Run, first: int, last: int) -> Evidence | None:
    """A held-out score at the end is materially below the best before row `first`."""
    held_out = [s for c in ("eval_score", "eval_accuracy", "eval_reward") for s in run.all(c, Split.EVAL)]
    for series in held_out:
        s = series.finite()
        cut = int(np.searchsorted(s.at, first))
        end = int(np.searchsorted(s.at, last, side="right"))
        if cut < 1 or end - cut < 1:
            continue
        best = int(np.argmax(s.values[:cut]))
        drop = float(s.values[best] - np.median(s.values[max(cut, end - 3) : end]))
        noise = float(np.median(np.abs(np.diff(s.values[:cut])))) if cut >= 4 else 0.0
        if drop > max(3 * noise, 0.1 * abs(float(s.values[best])), 1e-9):
            says = f"{s.metric} is {number(drop)} below its best, {number(float(s.values[best]))}"
            return quote(s, [best, end - 1], says)
    return None


def update_grows(run: Run, first: int, last: int) -> Evidence | None:
    """The size of the updates grew with it: approximate KL, clip fraction or gradient norm."""
    for concept, factor, floor in (("policy_kl", 4.0, 0.02), ("clip_fraction", 2.0, 0.1), ("grad_norm", 3.0, 0.0)):
        series = run.get(concept)
        found = change(series, first, last) if series is not None else None
        if found is not None and abs(found.after) > factor * abs(found.before) and abs(found.after) > floor:
            return found.evidence(f"grows from {number(found.before)} to {number(found.after)}")
    return None


def text_changes(run: Run, first: int, last: int) -> Evidence | None:
    """The completions changed with it: more of them truncated, or the entropy left its level."""
    series = run.get("truncation")
    found = change(series, first, last) if series is not None else None
    if found is not None and found.after > found.before + 0.15:
        return found.evidence(f"rises from {number(found.before)} to {number(found.after)}")
    series = run.get("entropy")
    found = change(series, first, last) if series is not None else None
    if found is not None and found.before > 0 and not found.before / 2 < found.after < found.before * 1.5:
        return found.evidence(f"goes from {number(found.before)} to {number(found.after)}")
    return None


def agreeing(run: Run, first: int, last: int) -> Iterator[Evidence]:
    """Signals of other origins that changed for the worse at rows `first` to `last`: reward, held-out score, updates, text."""
    for look in (held_out_falls, reward_falls, update_grows, text_changes):
        found = look(run, first, last)
        if found is not None:
            yield found


def reward_rises(run: Run, first: int, last: int) -> Evidence | None:
    """The training reward at the end is materially above what it was before row `first`: speaks against a fault."""
    series = run.get("reward")
    found = change(series, first, last) if series is not None else None
    if found is None:
        return None
    gain = found.after - found.before
    if gain > 3 * found.noise and gain > _material(run, found, first) / 2:
        return found.evidence(f"rises from {number(found.before)} to {number(found.after)}")
    return None


def _material(run: Run, found: Change, first: int) -> float:
    """A change of the reward that matters: a quarter of its spread in a batch, else 15 % of its level."""
    spread = run.get("reward_spread")
    if spread is not None:
        seen = spread.values[(spread.at < first) & np.isfinite(spread.values)]
        if len(seen) and np.median(seen) > 0:
            return 0.25 * float(np.median(seen))
    return 0.15 * abs(found.before)
