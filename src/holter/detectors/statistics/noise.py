"""How noisy a series is, whatever its trend, and how much neighbouring points repeat each other.

Smoothed and autocorrelated logs make naive tests fire: a lag-1 noise estimate on an exponentially smoothed curve is far too
small. Second differences take out the trend; comparing them at two lags shows the autocorrelation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.rolling import trailing_median

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAG = 5
LONG = 10_000
"""Values after which the noise is looked at every `SELDOM` values only; what is said of those before does not change."""
SELDOM = 16
_ROOT6 = float(np.sqrt(6.0))


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """Noise of a series, causally estimated at every point.

    Attributes:
        sd: Standard deviation of one point around the trend. Shape ``(n,)``, NaN where too few points came before.
        rho: Autocorrelation of neighbouring points, 0 to 0.9. Shape ``(n,)``.
    """

    sd: NDArray[np.float64]
    rho: NDArray[np.float64]

    def of_mean(self, points: int) -> NDArray[np.float64]:
        """Standard deviation of a mean over `points` neighbouring points. Shape ``(n,)``."""
        inflated = (1 + self.rho) / (1 - self.rho) / points
        return self.sd * np.sqrt(np.minimum(inflated, 1.0))


def noise(x: NDArray[np.float64], window: int = 80, lag: int = 0) -> Noise:
    """Noise around the trend of `x` over a trailing window.

    Args:
        x: Finite values in step order. Shape ``(n,)``.
        window: How far back to look, in logged points.
        lag: How many of the newest points to leave out, so that what is tested does not set its own yardstick.
    """
    n = len(x)
    k = LAG  # fixed, because a lag that grew with the run would change what was said of its beginning
    near, far = np.full(n, np.nan), np.full(n, np.nan)
    near[2:] = np.abs(x[2:] - 2 * x[1:-1] + x[:-2])
    if n > 2 * k:
        far[2 * k :] = np.abs(x[2 * k :] - 2 * x[k:-k] + x[: -2 * k])
    m1 = 1.4826 * _median_from(near, 2, window, lag) / _ROOT6
    mk = 1.4826 * _median_from(far, 2 * k, window, lag) / _ROOT6
    sd = np.minimum(np.fmax(m1, mk), 4 * m1)
    with np.errstate(all="ignore"):
        rho = np.clip(1 - (m1 / sd) ** 2, 0.0, 0.9)
    return Noise(sd, np.where(np.isfinite(rho), rho, 0.0))


def _median_from(x: NDArray[np.float64], start: int, window: int, lag: int) -> NDArray[np.float64]:
    """Trailing median of `x` from `start` on; later it is looked at more seldom, so that a long run costs less a value."""
    out = np.full(len(x), np.nan)
    known = x[start:]
    if not len(known):
        return out
    head = known[:LONG]
    out[start : start + LONG] = trailing_median(head, window, lag, least=5, every=4)
    if len(known) > LONG:
        position = np.arange(LONG, len(known))
        looked = np.zeros(len(known), bool)
        looked[LONG - 1 :: SELDOM] = True
        later = trailing_median(known, window, lag, where=looked)
        out[start + LONG :] = later[position - (position - LONG + 1) % SELDOM]
    return out
