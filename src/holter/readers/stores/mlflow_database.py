"""MLflow's database: a row for every number, with its name and step; NaN as a mark beside a zero."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from holter.language import said
from holter.readers.numbers import number
from holter.readers.plausibility import NotALogError
from holter.readers.stores.points import Points, log_of, unlimited

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from holter.readers.base import RawLog

_NEEDED = frozenset({"key", "value", "timestamp", "run_uuid", "step"})


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether a database with these tables is MLflow's."""
    return tables.get("metrics", frozenset()) >= _NEEDED and "run_uuid" in tables.get("runs", frozenset())


def logs(
    connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]], file: str, reader: str
) -> Iterator[RawLog | NotALogError]:
    """One log for every run that was not deleted; the reason instead, where a run is none."""
    named = "name" if "name" in tables["runs"] else "run_uuid"
    alive = "WHERE lifecycle_stage IS NOT 'deleted'" if "lifecycle_stage" in tables["runs"] else ""
    runs = connection.execute(f"SELECT run_uuid, {named} FROM runs {alive} ORDER BY rowid").fetchall()
    marked = "is_nan" if "is_nan" in tables["metrics"] else "0"
    for run, name in runs:
        rows = connection.execute(
            f"SELECT key, step, value, timestamp, {marked} FROM metrics WHERE run_uuid = ? ORDER BY key, timestamp, rowid",
            (run,),
        )
        points = {
            str(key): Points.of(
                [(step, float("nan") if nan else unlimited(value), time) for _, step, value, time, nan in same]
            )
            for key, same in groupby(rows, key=itemgetter(0))
        }
        config = {}
        if {"key", "value", "run_uuid"} <= tables.get("params", frozenset()):
            config = dict(connection.execute("SELECT key, value FROM params WHERE run_uuid = ?", (run,)))
        try:
            yield log_of(
                points,
                name=file if len(runs) == 1 else f"{file} ({name or run})",
                reader=reader,
                config={str(key): parameter(value) for key, value in config.items()},
                notes=[said("MLflow calls this run {name!r}", name=name)] if name else [],
            )
        except NotALogError as error:
            yield error


def parameter(value: object) -> object:
    """A hyper-parameter, which MLflow keeps as text."""
    found = number(value) if isinstance(value, str) else value
    return found if isinstance(found, float) else value
