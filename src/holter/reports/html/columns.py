"""Columns of numbers as a page carries them: few bytes, every extreme kept, NaN and infinities told apart.

A column is one of three forms, little-endian and in base64 where it holds bytes:

* ``{"n", "start", "by"}``: an arithmetic progression; a constant is one by 0.
* ``{"n", "start", "u8" | "u16" | "u32"}``: increasing whole numbers by their differences.
* ``{"n", "f32" | "f64"}``: any numbers. Four bytes hold seven digits, more than the page prints.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 2000
"""Values of one series that a page carries; a longer series is thinned to its extremes."""
_WHOLE = 2.0**53
_VISIBLE = 1e-4
"""Share of a column's range below which a rounding error cannot be seen in a chart."""


def thinned(values: NDArray[np.float64], most: int = MOST) -> NDArray[np.int64]:
    """Positions that draw the same picture: of each stretch its least and its greatest value and where it is not finite.

    Args:
        values: In step order. Shape ``(n,)``.
        most: Numbers to keep, roughly, those of `middles` among them; all positions when there are no more.

    Returns:
        Increasing positions, the first and the last among them.
    """
    n = len(values)
    if n <= most:
        return np.arange(n, dtype=np.int64)
    width, stretches = _stretches(n, most)
    finite = np.isfinite(values)
    offsets = np.arange(stretches) * width
    least = _folded(np.where(finite, values, np.inf), np.inf, width).argmin(axis=1) + offsets
    greatest = _folded(np.where(finite, values, -np.inf), -np.inf, width).argmax(axis=1) + offsets
    parts = [least, greatest, np.array([0, n - 1])]
    for kind in (np.isnan(values), values == np.inf, values == -np.inf):
        if kind.any():
            broken = _folded(kind.astype(np.float64), 0.0, width)
            has = broken.any(axis=1)
            parts.append((broken.argmax(axis=1) + offsets)[has])
            parts.append((width - 1 - broken[:, ::-1].argmax(axis=1) + offsets)[has])
    kept = np.concatenate(parts)
    return np.unique(kept[kept < n]).astype(np.int64)


def middles(values: NDArray[np.float64], most: int = MOST) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The line through the envelope of a thinned series: of each stretch the median of its finite values.

    Args:
        values: In step order. Shape ``(n,)``.
        most: As `thinned` was given it.

    Returns:
        Positions in the middles of the stretches and the medians there, NaN where a stretch has no finite value. Empty
        where nothing is thinned.
    """
    n = len(values)
    if n <= most:
        return np.arange(0), np.empty(0)
    width, stretches = _stretches(n, most)
    finite = np.isfinite(values)
    ordered = np.sort(_folded(np.where(finite, values, np.inf), np.inf, width), axis=1)
    count = _folded(finite.astype(np.float64), 0.0, width).sum(axis=1).astype(np.int64)
    row = np.arange(stretches)
    low, high = ordered[row, np.maximum(count - 1, 0) // 2], ordered[row, np.minimum(count // 2, width - 1)]
    medians = np.where(count > 0, np.where(count > 0, low, 0.0) / 2 + np.where(count > 0, high, 0.0) / 2, np.nan)
    return np.minimum(row * width + width // 2, n - 1), medians


def _stretches(n: int, most: int) -> tuple[int, int]:
    """Width and number of the stretches: each costs a least, a greatest and a middle value."""
    width = -(-n // max(1, most // 3))
    return width, -(-n // width)


def _folded(x: NDArray[np.float64], fill: float, width: int) -> NDArray[np.float64]:
    """One stretch a row, the last one filled up. Shape ``(stretches, width)``."""
    return np.append(x, np.full(-len(x) % width, fill)).reshape(-1, width)


def column(values: NDArray[np.float64]) -> dict[str, Any]:
    """Numbers in the shortest form that keeps them; see the module. Shape ``(n,)``."""
    n = len(values)
    if not n:
        return {"n": 0, "start": 0, "by": 0}
    if np.isfinite(values).all():
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.diff(values)
            by = float(steps[0]) if n > 1 else 0.0
            if (values[0] + by * np.arange(n) == values).all():
                return {"n": n, "start": _plain(values[0]), "by": _plain(by)}
        if (np.abs(values) < _WHOLE).all() and (values == np.floor(values)).all() and (steps > 0).all():
            for name, kind in (("u8", np.uint8), ("u16", np.uint16), ("u32", np.uint32)):
                if steps.max() <= np.iinfo(kind).max:
                    return {"n": n, "start": _plain(values[0]), name: _bytes(steps.astype(kind))}
    if _fits_four_bytes(values):
        return {"n": n, "f32": _bytes(values.astype("<f4"))}
    return {"n": n, "f64": _bytes(values.astype("<f8"))}


def _fits_four_bytes(values: NDArray[np.float64]) -> bool:
    """Whether rounding to four bytes changes neither a printed digit nor a pixel."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return True
    size = np.abs(finite)
    limits = np.finfo(np.float32)
    if size.max() > float(limits.max) or (size[size > 0] < float(limits.tiny)).any():
        return False
    spread = float(finite.max() - finite.min())
    return spread == 0 or float(size.max()) * float(limits.eps) < _VISIBLE * spread


def _bytes(values: NDArray[Any]) -> str:
    return base64.b64encode(values.astype(values.dtype.newbyteorder("<")).tobytes()).decode("ascii")


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() and abs(value) < _WHOLE else float(value)
