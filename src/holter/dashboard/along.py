"""Where the steps of a run lie in what it consumed: as the page places them, from every value of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.compare.curves import AXES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run


def placed(run: Run, axis: str, steps: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Where steps lie on an axis.

    Between two rows that count it a step lies between their counts; beyond the first or last of them, as fast as between the
    two nearest. So do curves that are logged in other rows than the count, which would stand still in steps otherwise.

    Args:
        run: The run.
        axis: A key of `AXES`.
        steps: Some of its steps, in any order.

    Returns:
        Counts, of the shape of `steps`; None where the run does not count the axis, or only once.
    """
    if not AXES[axis]:
        return steps
    counter = run.series.get(AXES[axis])
    if counter is None:
        return None
    counted = counter.finite()
    known, first = np.unique(counted.steps, return_index=True)
    if len(known) < 2:
        return None
    counts = counted.values[first]
    after = np.searchsorted(known, steps).clip(1, len(known) - 1)
    share = (steps - known[after - 1]) / (known[after] - known[after - 1])
    return np.asarray(counts[after - 1] + share * (counts[after] - counts[after - 1]))
