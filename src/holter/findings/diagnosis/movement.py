"""How the signals that everybody looks at moved over a part of the run, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.runs.run import Run, Series

LOOKED_AT = (
    ("reward", Split.TRAIN),
    ("eval_reward", Split.EVAL),
    ("eval_score", Split.EVAL),
    ("eval_accuracy", Split.EVAL),
    ("ref_kl", Split.TRAIN),
    ("entropy", Split.TRAIN),
    ("policy_loss", Split.TRAIN),
    ("value_loss", Split.TRAIN),
    ("length", Split.TRAIN),
)
MATERIAL = 2.0
"""Standard errors between the beginning and the end of a part, above which a signal is said to move."""


@dataclass(frozen=True, slots=True)
class Movement:
    """One signal over one part of the run.

    Attributes:
        metric: Its name in the log.
        concept: What it is.
        direction: 1 rises, -1 falls, 0 neither beyond its noise.
        start: Typical value at the beginning of the part.
        end: Typical value at its end.
    """

    metric: str
    concept: str
    direction: int
    start: float
    end: float


def movements(run: Run, first: int, last: int) -> Iterator[Movement]:
    """What moved between two rows, both included: one series a concept, the most telling first."""
    seen: set[str] = set()
    for concept, split in LOOKED_AT:
        series = run.get(concept, split)
        if series is None or series.metric in seen:
            continue
        seen.add(series.metric)
        part = series.where((series.at >= first) & (series.at <= last)).finite()
        if len(part) >= 2:
            yield _movement(part)


def _movement(part: Series) -> Movement:
    x = part.values
    edge = max(1, len(x) // 4)
    start, end = float(np.mean(x[:edge])), float(np.mean(x[-edge:]))
    if len(x) < 8:
        # Too few points for a noise estimate: only a movement that every step shares is one.
        steps = np.diff(x)
        direction = 1 if (steps > 0).all() else -1 if (steps < 0).all() else 0
    else:
        spread = float(np.std(np.diff(x))) / np.sqrt(2.0)
        error = spread * np.sqrt(2.0 / edge)
        direction = int(np.sign(end - start)) if abs(end - start) > MATERIAL * error and end != start else 0
    return Movement(part.metric, part.concept, direction, start, end)
