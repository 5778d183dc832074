"""Trackio's database of a project: a row for every call of ``log``, its metrics as JSON, non-finite numbers as texts."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from holter.errors import reason
from holter.language import said
from holter.readers.base import RawLog
from holter.readers.json_text import loads
from holter.readers.plausibility import NotALogError
from holter.readers.records import Records
from holter.readers.stores.layout import AppendedRuns

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from holter.readers.base import Source

TRACKER_STEP = "_step"
"""The database's step counts calls of ``log`` and is no training step; it is called as W&B calls it."""
_NEEDED = frozenset({"run_name", "step", "metrics"})


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether a database with these tables is Trackio's."""
    return tables.get("metrics", frozenset()) >= _NEEDED


class Runs(AppendedRuns):
    """The runs of a project, whose rows are appended."""

    def __init__(self, source: Source, reader: str) -> None:
        super().__init__(source, reader)
        self._runs: dict[object, _Run] = {}

    def _take(self, connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]]) -> None:
        by = "run_id" if "run_id" in tables["metrics"] else "run_name"
        for number, run, name, step, metrics in self._rows.new(connection, by, "run_name", "step", "metrics"):
            found = self._runs.get(run)
            if found is None:
                found = self._runs[run] = _Run(self._file)
                self._rows.remember(connection, number)
            found.name = max(found.name, str(name or ""))
            _add(found.records, number, step, metrics)
        for run, each in self._runs.items():
            each.records.config.update(_config(connection, tables, by, run))

    def fresh(self) -> list[RawLog]:
        """The rows that came since the last call."""
        out = []
        for run in self._runs.values():
            table = run.records.table
            columns, first = table.since(run.given), run.given
            run.given = len(table)
            if run.given > first:
                out.append(RawLog(name=self._title(run), reader=self._reader, rows=run.given - first, columns=columns))
        return out

    def logs(self, *, at_last: bool = False) -> Iterator[RawLog | NotALogError]:
        """One log for every run of the project; the reason instead, where a run is none.

        Args:
            at_last: Whether nothing more is asked afterwards, so that what is not needed any more need not be held.
        """
        titles = {key: self._title(run) for key, run in self._runs.items()}
        for key, title in titles.items():
            run = self._runs.pop(key) if at_last else self._runs[key]
            records = run.records if at_last else deepcopy(run.records)
            notes = [said("Trackio calls this run {name!r}", name=run.name)] if run.name else []
            try:
                yield records.log(title, self._reader, lines=False, notes=notes)
            except NotALogError as error:
                yield error

    def _title(self, run: _Run) -> str:
        return self._file if len(self._runs) == 1 else f"{self._file} ({run.name})"


class _Run:
    def __init__(self, file: str) -> None:
        self.records = Records(file)
        self.name = ""
        self.given = 0


def _add(records: Records, number: int, step: object, metrics: object) -> None:
    try:
        record = loads(metrics if isinstance(metrics, bytes) else str(metrics).encode("utf-8", errors="replace"))
    except ValueError as error:
        records.skip(None, said("row {row} of the table of metrics is {error}", row=number, error=reason(error)))
        return
    if not isinstance(record, dict):
        records.skip(None, said("row {row} of the table of metrics is no object with names", row=number))
        return
    records.add({**record, **({TRACKER_STEP: step} if isinstance(step, int | float) else {})}, number)


def _config(
    connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]], by: str, run: object
) -> dict[str, object]:
    """The hyper-parameters of a run, without Trackio's own entries."""
    if not {by, "config"} <= tables.get("configs", frozenset()):
        return {}
    out: dict[str, object] = {}
    for (config,) in connection.execute(f"SELECT config FROM configs WHERE {by} IS ? ORDER BY rowid", (run,)):
        try:
            found = loads(config if isinstance(config, bytes) else str(config).encode("utf-8", errors="replace"))
        except ValueError:
            continue
        if isinstance(found, dict):
            out.update({key: value for key, value in found.items() if not key.startswith("_")})
    return out
