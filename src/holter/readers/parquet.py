"""Parquet tables of metrics, as trackers export histories. Needs ``pyarrow``, which is imported only here and only when asked."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from holter.errors import UnreadableLogError, reason
from holter.language import said, some
from holter.readers.base import RawColumn, RawLog
from holter.readers.plausibility import NotALogError, objection
from holter.readers.table import MOST_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import Source

SIGNATURE = b"PAR1"
_SAMPLES = frozenset({"prompt", "completion", "completions", "response", "messages"})
_LONGEST_REASON = 200
_NAMED = 5
MOST_ROWS = 50_000_000


class Parquet:
    """Reads ``.parquet`` files."""

    name = "parquet"
    title = "Parquet tables of metrics (with pyarrow installed)"
    priority = 40

    def recognises(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the signature says it all
        """By the signature."""
        return head.startswith(SIGNATURE)

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log; a null in the table is taken for a value that was not logged.

        Raises:
            UnreadableLogError: When pyarrow is missing, the file is damaged, or it holds no metrics.
        """
        try:
            import pyarrow as arrow
            from pyarrow import parquet
        except ImportError:
            raise UnreadableLogError.of(
                source.name,
                "this is a Parquet table, which needs a package that is not installed.",
                "Install it: `pip install 'holter[parquet]'`; or save the table as CSV.",
            ) from None
        with source.open() as stream:
            try:
                file = parquet.ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))
                columns, texts, rows = _columns(file, arrow)
            except (arrow.ArrowException, OSError, ValueError) as error:
                raise UnreadableLogError.of(
                    source.name,
                    said("the Parquet data cannot be read ({error}).", error=_short(error)),
                    "Copy the file again.",
                ) from error
        if not _SAMPLES.isdisjoint(texts):
            wrong: str | None = said(
                "it is a table of completions, a row each ({names}), not of metrics.", names=some(texts, _NAMED)
            )
        else:
            wrong = objection(columns, texts)
        if wrong is not None:
            raise NotALogError.of(source.name, wrong, "Give the metrics of the run.")
        aside = [said("left aside, without numbers: {names}", names=some(texts, _NAMED))] if texts else []
        yield RawLog(name=source.name, reader=self.name, rows=rows, columns=columns, notes=tuple(aside))


def _columns(file: Any, arrow: Any) -> tuple[dict[str, RawColumn], list[str], int]:  # noqa: ANN401
    """The columns of numbers, the names of all others, and the number of rows."""
    schema = file.schema_arrow
    rows = file.metadata.num_rows
    if len(schema) > MOST_COLUMNS or not 0 <= rows <= MOST_ROWS:
        raise ValueError(said("{n:,} columns of {rows:,} rows are no log", n=len(schema), rows=rows))
    numeric = [f.name for f in schema if _is_number(f.type, arrow)]
    columns = {}
    for name in dict.fromkeys(numeric):
        values = file.read(columns=[name]).column(0)
        if len(values) != rows:
            raise ValueError(
                said("{metric} has {n:,} rows and the table {rows:,}", metric=name, n=len(values), rows=rows)
            )
        there = np.asarray(values.is_valid().to_numpy(zero_copy_only=False), bool)
        kept = values.drop_null().cast(arrow.float64(), safe=False).to_numpy()
        if len(kept):
            columns[name] = RawColumn(np.flatnonzero(there).astype(np.int64), np.array(kept, np.float64))
    return columns, [f.name for f in schema if f.name not in numeric], rows


def _is_number(kind: Any, arrow: Any) -> bool:  # noqa: ANN401
    types = arrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _short(error: Exception) -> str:
    """The reason in one line; the package says some in many."""
    why = reason(error)
    lines = why.splitlines()
    if not lines:
        return type(error).__name__
    return why if len(lines) == 1 and len(why) <= _LONGEST_REASON else lines[0][:_LONGEST_REASON]


PARQUET = Parquet()
