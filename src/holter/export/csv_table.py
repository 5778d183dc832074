"""CSV: a column for every name. An empty cell is absent, ``null`` a null, ``nan`` a value."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from holter.export.base import ExportError, Written, rows_of, without_config
from holter.readers.cells import is_header

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from holter.readers.base import RawLog

NULL = "null"


class CsvTable:
    """A header with the names, then a line a row."""

    name = "csv"
    title = "CSV with a column for every name"
    suffixes = (".csv",)
    folder = False

    def write(self, log: RawLog, steps: NDArray[np.float64], path: Path) -> Written:  # noqa: ARG002 - rows say their steps
        """Write every row.

        Raises:
            ExportError: When a name could not be told from the others, or from a value, in a header.
        """
        names = list(log.columns)
        stripped = {" ".join(name.split()) for name in names}
        if len(stripped) < len(names) or "" in stripped:
            raise ExportError(
                f"{path}:", "two names of the log differ in blanks only, which CSV does not keep; take .jsonl"
            )
        if not is_header(names):
            raise ExportError(
                f"{path}:",
                "a name of the log is a number or very long, so that no line of names could be told from values; take .jsonl",
            )
        with path.open("x", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(names)
            for row in rows_of(log):
                writer.writerow([_cell(row, name) for name in names])
        return Written(path, without_config(log))


def _cell(row: dict[str, float | None], name: str) -> str:
    if name not in row:
        return ""
    value = row[name]
    return NULL if value is None else repr(value)


CSV_TABLE = CsvTable()
