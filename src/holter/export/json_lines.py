"""JSON Lines: everything a log says, the hyper-parameters in a first line of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.export.base import Written, rows_of
from holter.store.encoding import encode

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from holter.readers.base import RawLog


class JsonLines:
    """One object a row; NaN and infinities as the texts ``"NaN"``, ``"Infinity"``, ``"-Infinity"``, so that it is strict JSON."""

    name = "jsonl"
    title = "JSON Lines, one object a row"
    suffixes = (".jsonl", ".ndjson")
    folder = False

    def write(self, log: RawLog, steps: NDArray[np.float64], path: Path) -> Written:  # noqa: ARG002 - rows say their steps
        """Write every row; nothing is lost."""
        with path.open("xb") as out:
            if log.config:
                out.write(encode({"config": dict(log.config)}))
            for row in rows_of(log):
                out.write(encode(row))
        return Written(path)


JSON_LINES = JsonLines()
