"""Columns of numbers as a page carries them: few bytes, NaN and infinities told apart.

A column is one of three forms, little-endian where it holds bytes, which stand in the JSON in base64 or, where an answer has
room for bytes behind its JSON, as the place where they begin there:

* ``{"n", "start", "by"}``: an arithmetic progression; a constant is one by 0.
* ``{"n", "start", "u8" | "u16" | "u32"}``: increasing whole numbers by their differences.
* ``{"n", "f32" | "f64"}``: any numbers. Four bytes hold seven digits, more than the page prints.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_WHOLE = 2.0**53
_VISIBLE = 1e-4
"""Share of a column's range below which a rounding error cannot be seen in a chart."""


def base64_of(raw: bytes) -> str:
    """Bytes as JSON can hold them."""
    return base64.b64encode(raw).decode("ascii")


def column(values: NDArray[np.float64], put: Callable[[bytes], str | int] = base64_of) -> dict[str, Any]:
    """Numbers in the shortest form that keeps them; see the module.

    Args:
        values: Shape ``(n,)``.
        put: Takes the bytes of a column and gives what stands for them in the JSON.
    """
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
                    return {"n": n, "start": _plain(values[0]), name: put(_bytes(steps.astype(kind)))}
    if _fits_four_bytes(values):
        return {"n": n, "f32": put(_bytes(values.astype("<f4")))}
    return {"n": n, "f64": put(_bytes(values.astype("<f8")))}


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


def _bytes(values: NDArray[Any]) -> bytes:
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() and abs(value) < _WHOLE else float(value)
