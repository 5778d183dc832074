"""The mean completion length as its detectors see it: the same values, the same excuse, the same patience."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.detectors.base import Need
from holter.detectors.statistics.progress import near_best, rises
from holter.findings.finding import Severity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holter.detectors.statistics.episodes import Episode
    from holter.runs.run import Run, Series

CONCEPTS = ("length", "length_median")
"""Concepts that tell the length, the better one first."""


def need(points: int) -> Need:
    """What a detector of the mean length cannot do without."""
    return Need(concepts=CONCEPTS, points=points, log="the mean completion length")


def mean_length(run: Run) -> Series:
    """Positive lengths in tokens, of a run that has what `need` asks for."""
    series = next(s for s in map(run.get, CONCEPTS) if s is not None)
    return series.finite().where(series.finite().values > 0)


def paid(run: Run, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the reward rose, or stood near its best after a gain, at each of the rows `at`. Shape ``(len(at),)``."""
    reward = run.get("reward")
    out: NDArray[np.bool_] = rises(reward, at) | near_best(reward, at)
    return out


def severity(episode: Episode, brief: int) -> Severity:
    """A warning, unless it is over and lasted fewer than `brief` values."""
    return Severity.INFO if episode.brief(brief) else Severity.WARNING
