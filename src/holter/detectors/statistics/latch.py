"""A state that one condition begins and another keeps: raised by clear evidence, held while it has not been made good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def latched(begins: NDArray[np.bool_], holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where `holds` has been true without a break since a point at which `begins` was true as well.

    Args:
        begins: Shape ``(n,)``.
        holds: Shape ``(n,)``.

    Returns:
        Shape ``(n,)``; entry i depends on entries up to i only.
    """
    position = np.arange(len(holds))
    broken = np.maximum.accumulate(np.where(holds, -1, position))
    begun = np.maximum.accumulate(np.where(begins & holds, position, -1))
    out: NDArray[np.bool_] = holds & (begun > broken)
    return out
