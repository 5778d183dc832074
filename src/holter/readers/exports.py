"""Tables that trackers export: several runs side by side, one metric a file, one value a line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from holter.language import said
from holter.readers.numbers import Gap, number
from holter.readers.plausibility import is_reward, is_training_metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from holter.readers.base import RawColumn, RawLog
    from holter.readers.records import Records

_BETWEEN = " - "
_EXTREMES = ("__MIN", "__MAX")
_TENSORBOARD = ("Wall time", "Step", "Value")
_TENSORBOARD_SAMPLE = 1000
_TAG = re.compile(r"(?:run-.*?-)?tag-(.+)")
_NAMES = frozenset({"metric", "metric_name", "metric name", "key", "tag", "variable"})
_VALUES = frozenset({"value", "metric_value", "scalar"})


def exported_logs(log: RawLog) -> Iterator[RawLog]:
    """A log, or for a Weights & Biases chart export (``run - key``, ``run - key__MIN``) one log for every run in it."""
    keyed = [name for name in log.columns if _BETWEEN in name]
    others = [name for name in log.columns if _BETWEEN not in name]
    if not _is_chart_export(keyed, others):
        yield log
        return
    runs: dict[str, dict[str, RawColumn]] = {}
    extremes = 0
    for name in keyed:
        run, _, key = name.rpartition(_BETWEEN)
        if key.endswith(_EXTREMES):
            extremes += 1
        else:
            runs.setdefault(run, {})[key] = log.columns[name]
    notes = log.notes
    if extremes:
        notes += (said("{n} columns of minima and maxima left aside", n=extremes),)
    for run, columns in runs.items():
        rows = np.unique(np.concatenate([c.at for c in columns.values()]))
        shared = {name: log.columns[name] for name in others if name not in columns}
        yield replace(
            log,
            name=run or log.name,
            rows=len(rows),
            columns=_over({**shared, **columns}, rows),
            lines=None if log.lines is None else log.lines[rows],
            notes=notes,
        )


def _is_chart_export(keyed: Sequence[str], others: Sequence[str]) -> bool:
    """Whether names with `` - `` in them are a run and a key: beside minima and maxima, or beside nothing but an axis."""
    if any(name.endswith(_EXTREMES) for name in keyed):
        return True
    parts = [name.rpartition(_BETWEEN) for name in keyed]
    keys = any(is_training_metric(key) or is_reward(key) for _, _, key in parts)
    return keys and len(others) <= 1 and not any(is_training_metric(run) for run, _, _ in parts)


def _over(columns: Mapping[str, RawColumn], rows: NDArray[np.int64]) -> dict[str, RawColumn]:
    """The columns over some of the rows, without those that are empty there."""
    out = {}
    for name, column in columns.items():
        kept = np.isin(column.at, rows)
        if kept.any():
            part = column.where(kept)
            out[name] = replace(part, at=np.searchsorted(rows, part.at))
    return out


def tag_of(file: str) -> str:
    """The metric whose values TensorBoard exported to a file of this name."""
    stem = PurePath(file.replace("\\", "/")).stem
    tag = _TAG.fullmatch(stem)
    return tag[1] if tag else stem


def named_by_file(log: RawLog) -> RawLog:
    """A log; TensorBoard's export of one metric, whose column is called ``Value``, under the metric's name in the file's."""
    if tuple(log.columns) != _TENSORBOARD:
        return log
    notes = log.notes
    if log.rows == _TENSORBOARD_SAMPLE:
        notes += (
            "TensorBoard exports 1,000 rows at most, picked at random: spikes may be missing; read the event files",
        )
    columns = {"step": log.columns["Step"], tag_of(log.name): log.columns["Value"]}
    return replace(log, columns={**columns, "wall_time": log.columns["Wall time"]}, notes=notes)


def is_long(header: Sequence[str]) -> bool:
    """Whether a table has one value a line: a column of metric names and a column of values."""
    lowered = {name.lower() for name in header}
    return len(lowered & _NAMES) == 1 and len(lowered & _VALUES) == 1 and len(header) > 2


def widened(records: Records, names: Sequence[str], cells: Sequence[str], line: int) -> None:
    """Add one line of a table that has one value a line, under the name that stands in the line."""
    row: dict[str, object] = {}
    metric, value = "", ""
    for name, cell in zip(names, cells, strict=True):
        if name.lower() in _NAMES:
            metric = cell
        elif name.lower() in _VALUES:
            value = cell
        elif number(cell) is not Gap.OTHER:
            row[name] = cell
    if metric:
        records.table.row((*row, metric), [*row.values(), value], line)
