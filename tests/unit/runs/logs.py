"""Raw logs written out as rows, the way a file would hold them."""

from __future__ import annotations

from holter.readers.base import ColumnBuilder, RawLog


def log_of(rows, *, config=None) -> RawLog:
    """A raw log from rows of name to number; None stands for a null that the log wrote."""
    builder = ColumnBuilder()
    for line, row in enumerate(rows, start=1):
        builder.row(row.items(), line)
    return RawLog(
        name="log",
        reader="test",
        rows=len(builder),
        columns=builder.columns(),
        lines=builder.lines(),
        config=config or {},
    )
