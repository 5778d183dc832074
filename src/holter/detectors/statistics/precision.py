"""Whether a logged zero is a zero: a console that prints three decimals turns 1e-6 into 0.000."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.runs.run import Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run

COARSE = 3
"""Decimals of the consoles that print a fixed number of them."""
_LOOKED_AT = 64
_NOT_MEASURED = ("axis", "lr", "critic_lr", "step_time")


def decimals(values: NDArray[np.float64], most: int = 8) -> int:
    """Least number of decimals that writes every finite value; `most` when none does. Shape of `values`: ``(n,)``."""
    finite = values[np.isfinite(values)]
    for d in range(most):
        if np.all(np.abs(np.round(finite, d) - finite) <= 1e-9 * np.maximum(np.abs(finite), 1e-3)):
            return d
    return most


def coarse(run: Run) -> bool:
    """Whether everything the run measured could have been printed with `COARSE` decimals, so that 0 means "small".

    Only the first values of each training series are looked at. A log that holds integers only is not coarse: nothing in
    it was rounded.
    """
    found = 0
    for series in run.series.values():
        if series.split is not Split.TRAIN or series.concept in _NOT_MEASURED or series.concept.startswith("time"):
            continue
        found = max(found, decimals(series.values[:_LOOKED_AT]))
        if found > COARSE:
            return False
    return found > 0
