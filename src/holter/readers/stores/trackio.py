"""Trackio's database of a project: a row for every call of ``log``, its metrics as JSON, non-finite numbers as texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.language import reason, said
from holter.readers.json_text import loads
from holter.readers.plausibility import NotALogError
from holter.readers.records import Records

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from holter.readers.base import RawLog

TRACKER_STEP = "_step"
"""The database's step counts calls of ``log`` and is no training step; it is called as W&B calls it."""
_NEEDED = frozenset({"run_name", "step", "metrics"})


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether a database with these tables is Trackio's."""
    return tables.get("metrics", frozenset()) >= _NEEDED


def logs(
    connection: sqlite3.Connection, tables: Mapping[str, frozenset[str]], file: str, reader: str
) -> Iterator[RawLog | NotALogError]:
    """One log for every run of the project; the reason instead, where a run is none."""
    by = "run_id" if "run_id" in tables["metrics"] else "run_name"
    names = dict(connection.execute(f"SELECT {by}, max(run_name) FROM metrics GROUP BY {by} ORDER BY min(rowid)"))
    for run, name in names.items():
        records = Records(file)
        records.config.update(_config(connection, tables, by, run))
        found = connection.execute(f"SELECT rowid, step, metrics FROM metrics WHERE {by} IS ? ORDER BY rowid", (run,))
        for number, step, metrics in found:
            _add(records, number, step, metrics)
        title = file if len(names) == 1 else f"{file} ({name})"
        notes = [said("Trackio calls this run {name!r}", name=name)] if name else []
        try:
            yield records.log(title, reader, lines=False, notes=notes)
        except NotALogError as error:
            yield error


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
