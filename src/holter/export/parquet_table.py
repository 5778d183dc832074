"""Parquet: a column for every name. Needs ``pyarrow``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.export.base import ExportError, Written, without_config
from holter.language import said

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from holter.readers.base import RawLog


class ParquetTable:
    """One column of float64 a name; absent and null are both Parquet's null, NaN is a value."""

    name = "parquet"
    title = "Parquet with a column for every name (with pyarrow installed)"
    suffixes = (".parquet",)
    folder = False

    def write(self, log: RawLog, steps: NDArray[np.float64], path: Path) -> Written:  # noqa: ARG002 - rows say their steps
        """Write every row.

        Raises:
            ExportError: When pyarrow is missing.
        """
        try:
            import pyarrow as arrow
            from pyarrow import parquet
        except ImportError:
            raise ExportError(
                f"{path}:", "Parquet needs a package that is not installed: `pip install 'holter[parquet]'`"
            ) from None
        columns = {}
        nulls = 0
        for name, column in log.columns.items():
            values = np.zeros(log.rows)
            missing = np.ones(log.rows, bool)
            values[column.at] = column.values
            missing[column.at] = False
            if column.null is not None:
                missing[column.at[column.null]] = True
                nulls += int(column.null.sum())
            columns[name] = arrow.array(values, mask=missing)
        with path.open("xb") as out:
            parquet.write_table(arrow.table(columns), out)
        lost = (said("that {n} values were null and not absent", n=nulls),) if nulls else ()
        return Written(path, (*lost, *without_config(log)))


PARQUET_TABLE = ParquetTable()
