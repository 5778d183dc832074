"""SwanLab's local mode: a database names the runs and their metrics, whose points lie in folders of JSON lines beside it.

Newer clients write the run's own file (``run-*.swanlab``) as well, which holds all of it and is read instead.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from holter.errors import reason
from holter.language import said, some
from holter.readers.base import Skipped, Source
from holter.readers.json_text import loads
from holter.readers.lines import MOST_SKIPPED, Lines
from holter.readers.numbers import scalar
from holter.readers.plausibility import NotALogError
from holter.readers.stores.layout import RunsReadWhole
from holter.readers.stores.points import SYSTEM, Points, log_of
from holter.readers.yaml_text import MOST, settings, unwrapped

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from holter.readers.base import RawLog

_CONFIG = "files/config.yaml"
_NUMBERS = "line"
"""How the database calls a metric that is drawn as a line; others are texts, pictures, sounds."""
_NAMED = 5


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether a database with these tables is SwanLab's."""
    return {"run_id", "name"} <= tables.get("experiment", frozenset()) and {
        "experiment_id",
        "name",
        "folder",
        "type",
        "system",
    } <= tables.get("tag", frozenset())


class Runs(RunsReadWhole):
    """The runs of a folder of SwanLab."""

    def files(self) -> Iterator[Path]:
        """The points of all metrics."""
        yield from self._folder.glob("*/logs/*/*.log")

    def _read(
        self,
        connection: sqlite3.Connection,
        tables: Mapping[str, frozenset[str]],  # noqa: ARG002 - every store is asked alike
    ) -> Iterator[RawLog | NotALogError]:
        """One log for every run; the reason instead, where a run is none."""
        runs = connection.execute("SELECT id, run_id, name FROM experiment ORDER BY id").fetchall()
        for number, folder, name in runs:
            home = _inside(self._folder, folder)
            own = next(home.glob("*.swanlab"), None) if home is not None else None
            if own is not None:
                yield NotALogError(
                    f"{self._file}:",
                    said("its run {name!r} has a file of its own, {file}.", name=name, file=own),
                    "Give that.",
                )
                continue
            metrics = connection.execute(
                "SELECT name, folder, type, system FROM tag WHERE experiment_id = ? ORDER BY id", (number,)
            ).fetchall()
            title = self._file if len(runs) == 1 else f"{self._file} ({name})"
            try:
                yield self._log(
                    home, metrics, title, [said("SwanLab calls this run {name!r}", name=name)] if name else []
                )
            except NotALogError as error:
                yield error

    def _log(self, home: Path | None, metrics: list[tuple[str, str, str, int]], title: str, notes: list[str]) -> RawLog:
        points: dict[str, Points] = {}
        skipped: list[Skipped] = []
        aside = [name for name, _, kind, _ in metrics if kind != _NUMBERS]
        for name, folder, kind, of_machine in metrics:
            place = _inside(home / "logs", folder) if home is not None else None
            if kind == _NUMBERS and place is not None:
                points[f"{SYSTEM}{name}" if of_machine else name] = _points(place, skipped)
        if aside:
            notes.append(said("left aside, without numbers: {names}", names=some(aside, _NAMED)))
        if len(skipped) > MOST_SKIPPED:
            count = said("{n} more places could not be read", n=len(skipped) - MOST_SKIPPED)
            skipped = [*skipped[:MOST_SKIPPED], Skipped(self._file, None, count)]
        return log_of(points, name=title, reader=self._reader, config=_config(home), notes=notes, skipped=skipped)


def _inside(folder: Path, name: object) -> Path | None:
    """What a database calls a folder inside another one; None for a name that leads out of it."""
    return folder / name if isinstance(name, str) and name not in ("", ".", "..") and Path(name).name == name else None


def _points(folder: Path, skipped: list[Skipped]) -> Points:
    """The points of a metric: in every file a line for each, its step as ``index``. A torn last line is not a point yet."""
    rows: list[tuple[float, float, float]] = []
    for file in sorted(folder.glob("*.log"), key=lambda path: (len(path.name), path.name)):
        lines = Lines(Source.of(file))
        for number, line in lines:
            if not line.strip() or not lines.ended:
                continue
            try:
                found = loads(line)
                value = scalar(found["data"]) if isinstance(found, dict) else None
                step = scalar(found["index"]) if isinstance(found, dict) else None
            except (ValueError, KeyError) as error:
                skipped.append(Skipped(lines.source.name, number, reason(error)))
                continue
            if isinstance(value, float) and isinstance(step, float) and math.isfinite(step):
                rows.append((step, value, float(len(rows))))
            else:
                skipped.append(Skipped(lines.source.name, number, "not a step and a number"))
        skipped += lines.skipped
    return Points.of(rows)


def _config(home: Path | None) -> dict[str, object]:
    """The hyper-parameters of a run."""
    file = home / _CONFIG if home is not None else None
    try:
        if file is None or file.stat().st_size > MOST:
            return {}
        return unwrapped(settings(file.read_text(encoding="utf-8", errors="replace"))) or {}
    except OSError:
        return {}
