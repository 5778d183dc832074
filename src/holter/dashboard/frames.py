"""How a page's data travels: pieces of JSON with bytes behind them, a run a piece, and of what the browser has only the change.

A frame is two little-endian ``uint32``, the lengths of its two parts; JSON; and bytes. ``columns`` in the JSON are those of
`holter.reports.html.columns`, which give the places of their bytes. A column of a frame that has a ``base``, the version that
it changes, keeps its first ``keep`` values as they were in that one; null stands for one that is the same.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from holter.reports.html.columns import column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from holter.dashboard.prepared import Prepared

MEDIA_TYPE = "application/octet-stream"
HEAD = struct.Struct("<II")


class Columns(list["NDArray[np.float64]"]):
    """The columns of a frame while its JSON is made."""

    def put(self, values: NDArray[np.float64]) -> int:
        """Add a column; the position that stands for it in the JSON."""
        self.append(values)
        return len(self) - 1


def frame(
    said: Mapping[str, Any],
    columns: Sequence[NDArray[np.float64]] = (),
    base: Sequence[NDArray[np.float64]] | None = None,
) -> bytes:
    """One frame.

    Args:
        said: Its JSON, but for the columns.
        columns: Numbers, by the positions that stand for them in the JSON.
        base: The columns that the browser has in their places; None where it has none.
    """
    behind = bytearray()

    def put(raw: bytes) -> int:
        behind.extend(raw)
        return len(behind) - len(raw)

    written = [
        _column(each, None if base is None or i >= len(base) else base[i], put) for i, each in enumerate(columns)
    ]
    told = orjson.dumps({**said, "columns": written}, default=str)
    return HEAD.pack(len(told), len(behind)) + told + behind


def whole(run: Prepared) -> bytes:
    """All of a run."""
    return frame(_head(run) | {"base": None, "run": run.run, **_pages(run, None)}, run.columns)


def changed(run: Prepared, base: Prepared) -> bytes:
    """What is new in a run since an older version of it."""
    new = {k: v for k, v in run.run.items() if k != "series" and base.run.get(k) != v}
    series = _series(run.run["series"], base.run["series"])
    told = {"base": base.version, "run": new, "series": series, **_pages(run, base)}
    if series is None:
        new["series"] = run.run["series"]
    return frame(_head(run) | told, run.columns, base.columns)


def _head(run: Prepared) -> dict[str, Any]:
    return {"id": run.id, "version": run.version}


def _pages(run: Prepared, base: Prepared | None) -> dict[str, Any]:
    """Pages of signals and detectors, and texts in other languages, that the browser has not."""
    if base is None:
        return {"signals": run.signals, "detectors": run.detectors, "texts": run.texts}
    return {
        "signals": _others(run.signals, base.signals),
        "detectors": _others(run.detectors, base.detectors),
        "texts": {code: _others(known, base.texts.get(code, {})) for code, known in run.texts.items()},
    }


def _others(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in new.items() if old.get(k) != v}


def _series(new: Sequence[Mapping[str, Any]], old: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Of each series what is new about it; None where they are not the same series."""
    if [s["key"] for s in new] != [s["key"] for s in old]:
        return None
    return [_others(n, o) for n, o in zip(new, old, strict=True)]


def _column(
    values: NDArray[np.float64], base: NDArray[np.float64] | None, put: Callable[[bytes], int]
) -> dict[str, Any] | None:
    if base is None:
        return column(values, put)
    keep = _same(values, base)
    if keep == len(values) == len(base):
        return None
    return {**column(values[keep:], put), "keep": keep}


def _same(one: NDArray[np.float64], other: NDArray[np.float64]) -> int:
    """How many of the first values are the same in both."""
    n = min(len(one), len(other))
    same = (one[:n] == other[:n]) | (np.isnan(one[:n]) & np.isnan(other[:n]))
    return n if same.all() else int(same.argmin())
