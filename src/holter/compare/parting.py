"""Where two settings part: from which point on their curves are farther apart than their seeds are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.compare.band import averaged, mean, squares
from holter.compare.student import critical
from holter.detectors.statistics.noise import noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.compare.curves import Aligned

LEAST = 3
"""Stretches in a row that must lie apart; one alone is an accident among forty."""


@dataclass(frozen=True, slots=True)
class Parting:
    """Two settings that lie apart from some point to the end of what both logged.

    Attributes:
        at: Where, on the axis: the begin of the first stretch that lies apart.
        times_noise: Greatest distance from there on, in standard errors of the difference.
        share: Part of the common range that lies before it, 0 to 1.
    """

    at: float
    times_noise: float
    share: float


def parting(first: NDArray[np.int64], second: NDArray[np.int64], aligned: Aligned) -> Parting | None:
    """Where the curves part for good, or None.

    Args:
        first: Rows of `aligned` that belong to the first setting. Shape ``(n1,)``.
        second: Rows that belong to the second. Shape ``(n2,)``.
        aligned: One signal of all runs.

    Returns:
        Seeds are the yardstick where there are any, else the noise within the two runs.
    """
    a, b = aligned.means[first], aligned.means[second]
    known = np.isfinite(a).any(axis=0) & np.isfinite(b).any(axis=0)
    if int(known.sum()) < LEAST:
        return None
    a, b, edges = a[:, known], b[:, known], aligned.edges[:-1][known]
    distance = mean(b) - mean(a)
    error, df = _error(a, b)
    limit = critical(0.05, df)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(distance == 0, 0.0, distance / error)
    apart = (np.abs(t) > limit) & (np.sign(t) == np.sign(t[-1]))
    together = np.flatnonzero(~apart)
    start = int(together[-1]) + 1 if len(together) else 0
    if len(t) - start < LEAST:
        return None
    low, high = float(aligned.edges[0]), float(aligned.edges[-1])
    span = high - low
    return Parting(
        float(edges[start]), float(np.abs(t[start:]).max()), float(edges[start] - low) / span if span else 0.0
    )


def _error(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Standard error of the difference in each stretch, and its degrees of freedom."""
    seeds = len(a) + len(b) - 2
    if seeds:
        spread = averaged(squares(a) + squares(b)) / seeds
        return np.sqrt(spread * (1 / len(a) + 1 / len(b))), float(seeds)
    both = [noise(x).sd for x in (a[0], b[0])]
    sd = [float(s[np.isfinite(s)][-1]) if np.isfinite(s).any() else math.inf for s in both]
    return np.full(a.shape[1], math.hypot(*sd)), math.inf
