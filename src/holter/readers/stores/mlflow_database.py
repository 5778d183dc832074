"""MLflow's database: a row for every number, with its name and step; NaN as a mark beside a zero."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from holter.language import said
from holter.readers.base import Skipped
from holter.readers.numbers import number
from holter.readers.plausibility import NotALogError
from holter.readers.stores.layout import AppendedRuns
from holter.readers.stores.points import Growing, log_of, new_rows, unlimited

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from holter.readers.base import RawLog, Source

_NEEDED = frozenset({"key", "value", "timestamp", "run_uuid", "step"})


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether a database with these tables is MLflow's."""
    return tables.get("metrics", frozenset()) >= _NEEDED and "run_uuid" in tables.get("runs", frozenset())


class Runs(AppendedRuns):
    """The runs of a database, whose points are appended."""

    def __init__(self, source: Source, reader: str) -> None:
        super().__init__(source, reader)
        self._points: dict[str, dict[str, Growing]] = {}
        self._strange = Counter[str]()
        self._named: dict[str, str] = {}
        self._config: dict[str, dict[str, object]] = {}

    def _take(self, connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]]) -> None:
        named = "name" if "name" in tables["runs"] else "run_uuid"
        alive = "WHERE lifecycle_stage IS NOT 'deleted'" if "lifecycle_stage" in tables["runs"] else ""
        self._named = dict(connection.execute(f"SELECT run_uuid, {named} FROM runs {alive} ORDER BY rowid"))
        marked = "is_nan" if "is_nan" in tables["metrics"] else "0"
        columns = ("run_uuid", "key", "step", "value", "timestamp", marked)
        for _, run, key, step, value, time, nan in self._rows.new(connection, *columns):
            if not (isinstance(step, int | float) and isinstance(value, int | float) and isinstance(time, int | float)):
                self._strange[run] += 1
                continue
            points = self._points.setdefault(run, {})
            one = points.get(key)
            if one is None:
                one = points[key] = Growing()
            one.add(step, math.nan if nan else unlimited(value), time)
        if {"key", "value", "run_uuid"} <= tables.get("params", frozenset()):
            for run in self._named:
                found = connection.execute("SELECT key, value FROM params WHERE run_uuid = ?", (run,))
                self._config[run] = {str(key): parameter(value) for key, value in found}

    def fresh(self) -> list[RawLog]:
        """The points that came since the last call."""
        out = []
        for run in self._named:
            new = {str(key): one.fresh() for key, one in self._points.get(run, {}).items()}
            log = new_rows(new, name=self._title(run), reader=self._reader)
            if log is not None:
                out.append(log)
        return out

    def logs(self, *, at_last: bool = False) -> Iterator[RawLog | NotALogError]:
        """One log for every run that was not deleted; the reason instead, where a run is none.

        Args:
            at_last: Whether nothing more is asked afterwards, so that what is not needed any more need not be held.
        """
        for run, name in self._named.items():
            points = self._points.pop(run, {}) if at_last else self._points.get(run, {})
            whole = {str(key): one.whole(at_last=at_last) for key, one in points.items()}
            del points
            strange = self._strange[run]
            why = said("rows of the table of metrics that are no points: {n}", n=strange)
            try:
                yield log_of(
                    whole,
                    name=self._title(run),
                    reader=self._reader,
                    config=self._config.get(run, {}),
                    notes=[said("MLflow calls this run {name!r}", name=name)] if name else [],
                    skipped=[Skipped(self._file, None, why)] if strange else [],
                )
            except NotALogError as error:
                yield error

    def _title(self, run: str) -> str:
        return self._file if len(self._named) == 1 else f"{self._file} ({self._named[run] or run})"


def parameter(value: object) -> object:
    """A hyper-parameter, which MLflow keeps as text."""
    found = number(value) if isinstance(value, str) else value
    return found if isinstance(found, float) else value
