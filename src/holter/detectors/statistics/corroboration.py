"""What other signals do while one of them shows something: a second signal of another origin turns a hint into a verdict.

Every function compares the values up to the row at which a finding began with the newest ones up to a row `now`, and answers
only when the change is material and beyond the noise; no value after `now` is looked at. Where it decides whether to warn,
`now` is the row of the alarm. Where it only says how grave a finding has become, it is the last row that shows it, and a live
monitor says then that it got worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.base import number, quote
from holter.detectors.statistics.progress import RISES, Progress
from holter.language import said
from holter.runs.run import Split
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holter.findings.finding import Evidence
    from holter.runs.run import Run, Series

BEFORE = 10
"""Values up to the beginning that set the level."""
AFTER = 3
"""Newest values that are compared with it."""


FALLS = 4.0
"""Standard errors below its level before from which on the reward counts as fallen."""
MATERIAL = 0.25
"""Change of the reward that matters, as a share of `Progress.matters`."""


@dataclass(frozen=True, slots=True)
class Move:
    """How far a signal of one concept must move to count.

    Attributes:
        concept: The concept.
        factor: Least ratio of the level now to the level before; above 1 also when looking down.
        shift: Least difference, in the signal's unit.
        both: Whether a fall counts as well as a rise.
    """

    concept: str
    factor: float
    shift: float = 0.0
    both: bool = False


MOVES = (
    Move("ref_kl", 1.8),
    Move("policy_loss", 2.0, shift=0.1),
    Move("value_loss", 2.0),
    Move("truncation", 1.0, shift=0.15),
    Move("length", 1.3, both=True),
    Move("entropy", 1.6, both=True),
    Move("policy_kl", 4.0, shift=0.02),
    Move("clip_fraction", 2.0, shift=0.1),
    Move("grad_norm", 3.0),
)
"""Signals that are computed neither from rewards nor from evaluations, and moves that healthy runs seldom make at once."""


WORSE = ("policy_kl", "clip_fraction", "grad_norm", "truncation", "entropy")
"""Those of them that say that the updates or the text got worse, whatever the finding is about."""

LOG_RATIOS = ("policy_kl", "clip_fraction")
"""Concepts that are computed from the log-ratios of an update, as the mean ratio is: one origin, so none confirms another."""


def corroboration(run: Run, since: int, now: int, leave_out: Sequence[str] = ()) -> list[Evidence]:
    """Signals whose level at row `now` is far from their level up to row `since`, quoted.

    Args:
        run: The run.
        since: Row at which the finding began.
        now: Row at which it could be said; no later value is looked at.
        leave_out: Concepts the finding already rests on.
    """
    return [e for move in MOVES if move.concept not in leave_out for e in _moved(run, move, since, now)]


def agreeing(run: Run, since: int, now: int, leave_out: Sequence[str] = ()) -> list[Evidence]:
    """Signals of other origins that got worse: held-out score, reward, updates, text. Arguments as of `corroboration`."""
    others = [c for c in (m.concept for m in MOVES) if c not in WORSE]
    judged = (held_out_falls(run, since, now), reward_falls(run, since, now))
    return [*(e for e in judged if e is not None), *corroboration(run, since, now, leave_out=(*leave_out, *others))]


def reward_falls(run: Run, since: int, now: int) -> Evidence | None:
    """The training reward is materially below what it was up to row `since`."""
    return _reward(run, since, now, z=-FALLS, share=MATERIAL)


def reward_rises(run: Run, since: int, now: int) -> Evidence | None:
    """The training reward is materially above what it was up to row `since`: that speaks against a fault."""
    return _reward(run, since, now, z=RISES, share=MATERIAL / 2)


def held_out_falls(run: Run, since: int, now: int) -> Evidence | None:
    """A held-out score is materially below its best up to row `since`."""
    for series in (s for c in ("eval_score", "eval_accuracy", "eval_reward") for s in run.all(c, Split.EVAL)):
        s = series.finite()
        split, end = np.searchsorted(s.at, [since, now], side="right").tolist()
        if split < 1 or end <= split:
            continue
        best = int(np.argmax(s.values[:split]))
        drop = float(s.values[best] - np.median(s.values[max(split, end - AFTER) : end]))
        noise = float(np.median(np.abs(np.diff(s.values[:split])))) if split >= 4 else 0.0
        if drop > max(3 * noise, 0.1 * abs(float(s.values[best])), 1e-9):
            says = said(
                "is {drop} below its best, {best}",
                drop=number(drop),
                best=number(float(s.values[best])),
            )
            return quote(s, [best, end - 1], says)
    return None


def _reward(run: Run, since: int, now: int, *, z: float, share: float) -> Evidence | None:
    progress = Progress.of(run)
    if progress is None:
        return None
    x = progress.series
    split, end = np.searchsorted(x.at, [since, now], side="right").tolist()
    if split < 1 or end <= split:
        return None
    moved = progress.since(since, x.at[end - 1 : end])
    up = z > 0
    change, beyond = float(moved.change[0]), float(moved.z[0])
    least = share * progress.matters(run, since)
    if (change > least and beyond > z) if up else (-change > least and beyond < z):
        old = float(moved.before)
        says = said(
            "rises from about {before} to {now}" if up else "falls from about {before} to {now}",
            before=number(old),
            now=number(old + change),
        )
        return quote(x, [split - 1, end - 1], says)
    return None


def _moved(run: Run, move: Move, since: int, now: int) -> Iterator[Evidence]:
    series = run.get(move.concept)
    if series is None:
        return
    series = series.finite()
    split, end = np.searchsorted(series.at, [since, now], side="right").tolist()
    if split < 2 or end <= split:
        return
    before = series.values[max(0, split - BEFORE) : split]
    after = series.values[max(split, end - AFTER) : end]
    old, new = float(np.median(before)), float(np.median(after))
    if not _far(series, move, before, old, new):
        return
    says = said(
        "rose from about {before} to {now}" if new > old else "fell from about {before} to {now}",
        before=number(old),
        now=number(new),
    )
    yield quote(series, [split - 1, end - 1], says)


def _far(series: Series, move: Move, before: np.ndarray, old: float, new: float) -> bool:
    shift = move.shift
    if move.concept == "ref_kl":
        shift = 2.0 if series.unit == Unit.NATS_PER_SEQUENCE else 0.05
    wide = 3 * 1.4826 * float(np.median(np.abs(before - old)))
    if abs(new - old) < max(shift, wide, 1e-12) or (new < old and not move.both):
        return False
    small, large = sorted((abs(old), abs(new)))
    return large >= move.factor * small
