"""How far seeds lie apart in each stretch of a curve: the noise that a difference must exceed, and the band around a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.compare.effect import CONFIDENCE
from holter.compare.student import critical

if TYPE_CHECKING:
    from numpy.typing import NDArray

AROUND = 2
"""Stretches on either side over which the noise is averaged: a few seeds alone give it too roughly."""


def mean(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over the seeds that have a value.

    Args:
        x: One seed a row. Shape ``(seeds, stretches)``.

    Returns:
        NaN where no seed has one. Shape ``(stretches,)``.
    """
    count = np.isfinite(x).sum(axis=0)
    return np.where(count > 0, np.nansum(x, axis=0) / np.maximum(count, 1), np.nan)


def squares(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over seeds of the squared distance from their mean; 0 where there is one seed. Shape ``(stretches,)``."""
    out: NDArray[np.float64] = np.nansum((x - mean(x)) ** 2, axis=0)
    return out


def averaged(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each stretch's mean with its neighbours, `AROUND` on either side. Shape ``(stretches,)``."""
    return np.asarray([x[max(i - AROUND, 0) : i + AROUND + 1].mean() for i in range(x.size)])


def half_width(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half the confidence interval of the mean over seeds in each stretch, by Student's t.

    Args:
        x: One seed a row. Shape ``(seeds, stretches)``.

    Returns:
        NaN where fewer than two seeds have a value. Shape ``(stretches,)``. The neighbours that the noise is averaged over
        count for nothing in the degrees of freedom, because seeds mostly keep their distance: where they do not, the band
        is wider than it says.
    """
    out = np.full(x.shape[1], np.nan)
    count = np.isfinite(x).sum(axis=0)
    several = count > 1
    if several.any():
        variance = averaged(squares(x)[several] / (count[several] - 1))
        reach = {int(n): critical(1 - CONFIDENCE, int(n) - 1) for n in np.unique(count[several])}
        t = np.asarray([reach[int(n)] for n in count[several]])
        out[several] = t * np.sqrt(variance / count[several])
    return out
