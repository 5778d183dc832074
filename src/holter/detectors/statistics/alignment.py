"""Two series row by row: not every signal is logged on every row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Series


def on_rows(series: Series | None, at: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values a series has on exactly the rows `at`; NaN where it has none. Shape ``(len(at),)``."""
    out = np.full(len(at), np.nan)
    if series is None or not len(series):
        return out
    i = np.searchsorted(series.at, at)
    there = (i < len(series)) & (series.at[np.minimum(i, len(series) - 1)] == at)
    out[there] = series.values[i[there]]
    return out


def newest_on_rows(series: Series | None, at: NDArray[np.int64]) -> NDArray[np.float64]:
    """The newest value a series has at or before each of the rows `at`; NaN where there is none yet."""
    out = np.full(len(at), np.nan)
    if series is None or not len(series):
        return out
    i = series.upto(at)
    out[i >= 0] = series.values[i[i >= 0]]
    return out
