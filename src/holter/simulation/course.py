"""How a fault unfolds: when it begins, and how fast it is fully there.

A fault has an onset and a speed. Its weight is 0 before the onset and then 1 at once (a jump), or rises to 1 over some
rows (a ramp); what it does to the curves is a function of that weight and of the steps since the onset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """How a fault unfolds.

    Attributes:
        onset: First step that it touches.
        weight: 0 before the onset, 1 when it is fully there. Shape ``(n,)``.
        since: Steps since the onset, 0 before. Shape ``(n,)``.
        ramp: Steps that it takes to be fully there; 0 for a jump.
    """

    onset: int
    weight: NDArray[np.float64]
    since: NDArray[np.float64]
    ramp: int

    @classmethod
    def of(cls, n: int, onset: int, ramp: int) -> Course:
        """The course of a fault in a run of `n` steps."""
        since = np.maximum(np.arange(n) - onset, 0).astype(np.float64)
        after = np.arange(n) >= onset
        weight = np.where(after, 1.0 if ramp <= 0 else np.minimum((since + 1) / ramp, 1.0), 0.0)
        return cls(onset, weight, since, ramp)

    def doubling(self, steps: float, most: float) -> NDArray[np.float64]:
        """A factor that doubles every so many steps after the onset, up to 2 ** `most`."""
        after = self.weight > 0
        return np.where(after, 2.0 ** np.minimum(self.since / max(steps, 0.5), most), 1.0)
