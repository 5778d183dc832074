"""Which nulls of a log are values, and which are holes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.dialects.base import Null
from holter.readers.base import RawColumn
from holter.runs.run import signal_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holter.dialects.base import Dialect
    from holter.dialects.registry import Meaning
    from holter.readers.base import RawLog

NEVER_ABSENT = ("axis", "lr", "step_time", "length")
"""Concepts that a trainer logs in every row of its own: a null there is a hole in a table that someone joined."""


def without_holes(
    log: RawLog, spoken: Dialect, meanings: Mapping[str, Meaning | None]
) -> tuple[dict[str, RawColumn], list[str]]:
    """The columns, with nulls taken out where they stand for "not logged", and the names that hold nothing else.

    In some frameworks a null is a value, a NaN that JSON cannot write. But where every column has an entry in every row, and
    even a learning rate is null somewhere, the nulls are the holes of a table that was joined from rows of several kinds.
    """
    is_value = spoken.null is Null.NAN and not _is_joined_table(log, meanings)
    out: dict[str, RawColumn] = {}
    empty = []
    for raw, column in log.columns.items():
        if column.null is None or is_value:
            out[raw] = column
            continue
        keep = ~column.null
        if keep.any():
            out[raw] = RawColumn(column.at[keep], column.values[keep])
        else:
            empty.append(raw)
    return out, empty


def _is_joined_table(log: RawLog, meanings: Mapping[str, Meaning | None]) -> bool:
    if any(len(column.at) < log.rows for column in log.columns.values()):
        return False
    for raw, column in log.columns.items():
        found = meanings[raw]
        looked_up = signal_of(found.full_key) if found is not None and column.null is not None else None
        if looked_up is not None and looked_up[0].concept in NEVER_ABSENT:
            return True
    return False
