"""Several values of one metric at one step: corrections of each other, or samples of the same thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLES = 3
"""Values an evaluation metric has at the median step, from which on they are samples and not corrections of each other."""


def newest(
    rows: NDArray[np.int64], values: NDArray[np.float64], local: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Each run row once with its newest value; and the log rows whose values are not the newest."""
    if (np.diff(rows) > 0).all():
        return rows, values, local[:0]
    by_row = np.argsort(rows, kind="stable")
    last = np.concatenate((np.diff(rows[by_row]) > 0, np.ones(1, bool)))
    kept = by_row[last]
    return rows[kept], values[kept], local[by_row[~last]]


def is_sample_by_sample(rows: NDArray[np.int64]) -> bool:
    """Whether a metric has a row for each sample of a step, so that no row of a step replaces another.

    Args:
        rows: Run row of each value. Shape ``(n,)``.
    """
    if len(rows) < SAMPLES or (np.diff(rows) > 0).all():
        return False
    counts = np.bincount(rows)
    return bool(np.median(counts[counts > 0]) >= SAMPLES)


def means(rows: NDArray[np.int64], values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each run row once with the mean of its values; NaN where one of them is."""
    unique, place = np.unique(rows, return_inverse=True)
    return unique, np.bincount(place, values) / np.bincount(place)
