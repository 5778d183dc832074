"""Student's t distribution and the control of many tests: what two seeds a side can show, and what they cannot.

numpy has no quantiles of it, and a statistics library is too much to ask of every user for one function.

References:
    Press et al., "Numerical Recipes", 3rd ed., section 6.4 (incomplete beta function by Lentz's continued fraction).
    Benjamini and Hochberg, "Controlling the False Discovery Rate" (1995).
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_TINY = 1e-300
_NORMAL = NormalDist()

FALSE = 0.05
"""Share of the differences that are called so which may be false."""


def two_sided(t: float, df: float) -> float:
    """Probability of a value at least as far from 0 as `t`.

    Args:
        t: The statistic; infinite where there is a difference and no noise at all.
        df: Degrees of freedom, above 0; infinite for the normal distribution.
    """
    if math.isinf(t):
        return 0.0
    if math.isinf(df):
        return math.erfc(abs(t) / math.sqrt(2))
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t))


def critical(alpha: float, df: float) -> float:
    """The value that is exceeded on either side with probability `alpha`.

    Args:
        alpha: Between 0 and 1.
        df: Degrees of freedom, above 0; infinite for the normal distribution.
    """
    if math.isinf(df):
        return _NORMAL.inv_cdf(1 - alpha / 2)
    low, high = 0.0, 1.0
    while two_sided(high, df) > alpha:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, df) > alpha else (low, middle)
    return (low + high) / 2


def discovered(p: Sequence[float], rate: float = FALSE) -> list[bool]:
    """Which of many tests stand when at most `rate` of those that stand may be false (Benjamini-Hochberg).

    Args:
        p: Probabilities under no difference, one a test.
        rate: False discovery rate.
    """
    order = sorted(range(len(p)), key=p.__getitem__)
    last = max((rank for rank, i in enumerate(order, start=1) if p[i] <= rate * rank / len(p)), default=0)
    standing = set(order[:last])
    return [i in standing for i in range(len(p))]


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    out = d
    for m in range(1, 400):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            out *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return out


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
