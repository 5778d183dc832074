"""Whether a row is worth an early look: cheap, and no statement about the run.

Only the detectors say that something is wrong. This decides when to ask them, in microseconds a row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MEMORY = 0.05
"""Weight of the newest value in the running mean and deviation: about the last twenty rows."""
FAR = 6.0
"""Running mean deviations from the running mean from which on a value is surprising; 4.8 standard deviations of a normal."""
FEW = 10
"""Values of a metric before its deviation is known."""


class Surprise:
    """Follows every metric's running mean and mean deviation."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, float, int]] = {}
        self._not_finite: set[str] = set()

    def first_not_finite(self, row: Mapping[str, object]) -> bool:
        """Whether a metric is NaN or infinite for the first time."""
        new = {k for k, v in row.items() if v.__class__ is float and not math.isfinite(v)} - self._not_finite
        self._not_finite |= new
        return bool(new)

    def jumps(self, row: Mapping[str, object]) -> bool:
        """Whether a metric is far from where it lately was. Every row must be shown, in order."""
        far = False
        for key, value in row.items():
            if not isinstance(value, float | int) or not math.isfinite(value):
                continue
            mean, deviation, count = self._known.get(key, (float(value), 0.0, 0))
            off = abs(value - mean)
            if count >= FEW and off > FAR * deviation and off > 1e-9 * abs(mean):
                far = True
            weight = max(MEMORY, 1.0 / (count + 1))
            self._known[key] = (mean + weight * (value - mean), deviation + weight * (off - deviation), count + 1)
        return far
