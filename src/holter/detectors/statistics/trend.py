"""Whether a series rises or falls, beyond what its noise would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.noise import noise

if TYPE_CHECKING:
    from numpy.typing import NDArray


def trailing_slope(x: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """Least-squares slope per point over the last `window` points. Shape ``(n,)``, NaN while the window is not full."""
    n = len(x)
    out = np.full(n, np.nan)
    if n < window or window < 3:
        return out
    centred = x - x[0]
    i = np.arange(n, dtype=np.float64)
    sx = np.concatenate(([0.0], np.cumsum(centred)))
    six = np.concatenate(([0.0], np.cumsum(i * centred)))
    ends = np.arange(window, n + 1)
    middle = ends - (window + 1) / 2
    total = sx[ends] - sx[ends - window]
    out[window - 1 :] = (six[ends] - six[ends - window] - middle * total) / (window * (window**2 - 1) / 12)
    return out


def trend_z(x: NDArray[np.float64], window: int = 40) -> NDArray[np.float64]:
    """Slope over the last `window` points in units of what noise alone would give.

    Autocorrelation and smoothing are allowed for. Above about 2.5 the series rises, below -2.5 it falls.

    Args:
        x: Finite values in step order. Shape ``(n,)``.
        window: In logged points; while fewer are there, as many as there are, but at least 12.

    Returns:
        Shape ``(n,)``; 0 while it cannot be told.
    """
    out = np.zeros(len(x))
    grain = noise(x)
    for w in sorted({w for w in (12, 20, 30) if w < window} | {window}):
        slope = trailing_slope(x, w)
        with np.errstate(all="ignore"):
            se = grain.sd * np.sqrt(12.0 / w**3) * np.sqrt((1 + grain.rho) / (1 - grain.rho))
            z = slope / se
        out = np.where(np.isfinite(z), z, out)
    return out
