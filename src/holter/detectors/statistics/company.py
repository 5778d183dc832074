"""Signals beside a finding that moved by the time it could be said: no later value is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.base import number, quote
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holter.findings.finding import Evidence
    from holter.runs.run import Run, Series

BEFORE = 10
AFTER = 3


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
    Move("policy_kl", 4.0),
)
"""Signals that are computed neither from rewards nor from evaluations, and moves that healthy runs seldom make at once."""


def company(run: Run, since: int, now: int, leave_out: Sequence[str] = ()) -> list[Evidence]:
    """Signals whose level at row `now` is far from their level up to row `since`, quoted.

    Args:
        run: The run.
        since: Row at which the finding began.
        now: Row at which it could be said; no later value is looked at.
        leave_out: Concepts the finding already rests on.
    """
    return [e for move in MOVES if move.concept not in leave_out for e in _moved(run, move, since, now)]


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
    verb = "rose" if new > old else "fell"
    yield quote(series, [split - 1, end - 1], f"{series.metric} {verb} from about {number(old)} to {number(new)}")


def _far(series: Series, move: Move, before: np.ndarray, old: float, new: float) -> bool:
    shift = move.shift
    if move.concept == "ref_kl":
        shift = 2.0 if series.unit == Unit.NATS_PER_SEQUENCE else 0.05
    wide = 3 * 1.4826 * float(np.median(np.abs(before - old)))
    if abs(new - old) < max(shift, wide, 1e-12) or (new < old and not move.both):
        return False
    small, large = sorted((abs(old), abs(new)))
    return large >= move.factor * small
