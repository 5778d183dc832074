"""From a raw log to canonical runs: which framework wrote it, what each name means, where a run begins and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.dialects.base import Null
from holter.dialects.registry import detect, dialect, is_ignored, lineage, meaning
from holter.runs.run import Run, Series, Split, Unknown
from holter.runs.segments import segments, shares_steps
from holter.signals import catalog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from holter.dialects.base import Dialect
    from holter.dialects.registry import Meaning
    from holter.readers.base import RawColumn, RawLog
    from holter.runs.segments import Segment

ROW_AXIS = "row number (the log has no step column)"


def canonical(log: RawLog, *, speaks: str | None = None) -> list[Run]:
    """The runs in one raw log.

    A step that goes back to the beginning starts another run; a step that goes back into the middle is a resume, and the
    newest row of a step wins. Rows that share a step (a training and an evaluation row) become one.

    Args:
        log: What a reader made of a file.
        speaks: Name of the dialect, when the caller knows better than the signatures.
    """
    spoken = dialect(speaks) if speaks else detect(log.columns.keys())
    axis, steps = _step_axis(log, spoken)
    metrics = [column.at for raw, column in log.columns.items() if not _is_axis(spoken, raw)]
    if shares_steps(steps, metrics):
        axis, steps = f"row number ({axis} repeats from row to row)", np.arange(1, log.rows + 1, dtype=np.float64)
    parts = segments(steps, metrics)
    return [
        _one_run(log, spoken, axis, steps, part, _named(log.name, number, len(parts)))
        for number, part in enumerate(parts, start=1)
    ]


def _named(name: str, number: int, count: int) -> str:
    return name if count == 1 else f"{name} (run {number} of {count})"


def _is_axis(spoken: Dialect, raw: str) -> bool:
    found = meaning(spoken, raw)
    if found is None:
        return False
    looked_up = catalog.find(found.key)
    return looked_up is not None and looked_up[0].concept == "axis"


def _step_axis(log: RawLog, spoken: Dialect) -> tuple[str, NDArray[np.float64]]:
    """The column that counts steps, and its value on every row."""
    candidates = [raw for table in lineage(spoken) for raw in table.step]
    prefixes = ["", *(p for table in lineage(spoken) for p in table.prefixes)]
    lowered = {k.lower(): k for k in reversed(list(log.columns))}
    for raw in candidates:
        for prefix in prefixes:
            key = lowered.get(f"{prefix}{raw}".lower())
            if key is None:
                continue
            column = log.columns[key]
            finite = np.isfinite(column.values)
            if not finite.any():
                continue
            return f"{spoken.axis} ({key})", _fill(column, finite, log.rows)
    return ROW_AXIS, np.arange(1, log.rows + 1, dtype=np.float64)


def _fill(column: RawColumn, finite: NDArray[np.bool_], rows: int) -> NDArray[np.float64]:
    """A step for every row: rows that do not say theirs belong to the step before."""
    at, values = column.at[finite], column.values[finite]
    newest = np.searchsorted(at, np.arange(rows), side="right") - 1
    return values[np.maximum(newest, 0)]


def _one_run(log: RawLog, spoken: Dialect, axis: str, all_steps: NDArray[np.float64], part: Segment, name: str) -> Run:
    first, end = part.first, part.end
    unique, row_of = np.unique(all_steps[first:end], return_inverse=True)
    replaced_rows: set[int] = set(np.flatnonzero(part.void).tolist())
    known: dict[str, Meaning] = {}
    series: dict[str, Series] = {}
    unknown: dict[str, Unknown] = {}
    null_is_value = next((t.null for t in lineage(spoken)), Null.ABSENT) is Null.NAN
    for raw, column in log.columns.items():
        inside = (column.at >= first) & (column.at < end)
        if column.null is not None and not null_is_value:
            inside &= ~column.null
        local = column.at[inside] - first
        keep = ~part.void[local]
        local, values = local[keep], column.values[inside][keep]
        if not len(local):
            continue
        rows = row_of[local]
        newest = _last_of_each(rows)
        older = local[~newest]
        local, rows, values = local[newest], rows[newest].astype(np.int64), values[newest]
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], values[order]
        found = meaning(spoken, raw)
        made = _series(raw, found, rows, unique[rows], values) if found is not None else None
        if found is None or made is None:
            if not is_ignored(spoken, raw):
                unknown[raw] = Unknown(raw, rows, values)
            continue
        if made.concept != "axis":
            replaced_rows.update(older.tolist())
        before = known.get(made.key)
        if before is None or _precedes(spoken, found, before):
            known[made.key] = found
            series[made.key] = made
    resumes = tuple(sorted({int(row_of[r]) for r in part.resumes}))
    never = tuple(dict.fromkeys(c for table in lineage(spoken) for c in table.never))
    return Run(
        name=name,
        path=log.name,
        dialect=spoken.name,
        step_axis=axis,
        steps=unique,
        series=_axes_last(series),
        unknown=unknown,
        config=dict(log.config),
        resumes=resumes,
        repeated=len(replaced_rows),
        never=never,
        skipped=log.skipped,
        notes=log.notes,
    )


def _last_of_each(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which entries are the last one of their row."""
    if len(rows) < 2 or (rows[1:] > rows[:-1]).all():
        return np.ones(len(rows), bool)
    keep = np.zeros(len(rows), bool)
    _, last = np.unique(rows[::-1], return_index=True)
    keep[len(rows) - 1 - last] = True
    return keep


def _precedes(spoken: Dialect, one: Meaning, other: Meaning) -> bool:
    """Whether `one` comes before `other` in the lineage's tables."""
    order = {id(n): i for i, n in enumerate(n for table in lineage(spoken) for n in table.names)}
    return order.get(id(one.name), len(order)) < order.get(id(other.name), len(order))


def _series(
    raw: str,
    found: Meaning,
    at: NDArray[np.int64],
    steps: NDArray[np.float64],
    values: NDArray[np.float64],
) -> Series | None:
    looked_up = catalog.find(found.key)
    if looked_up is None:
        return None
    signal, labels = looked_up
    name = found.name
    with np.errstate(all="ignore"):
        if name.power != 1.0:
            values = values**name.power
        if name.scale != 1.0 or name.offset != 0.0:
            values = name.offset + name.scale * values
    evaluation = found.evaluation or found.key.startswith("eval/")
    key = found.key if not found.evaluation or found.key.startswith("eval/") else f"eval/{found.key}"
    return Series(
        key=key,
        metric=raw,
        signal=signal,
        split=Split.EVAL if evaluation else Split.TRAIN,
        labels=labels,
        unit=name.unit or signal.unit,
        estimator=name.estimator or signal.estimator,
        reduction=name.reduction or signal.reduction,
        fit=name.fit,
        at=at,
        steps=steps,
        values=values,
    )


def _axes_last(series: Mapping[str, Series]) -> dict[str, Series]:
    """Signals before axes, each in the order of the log, so that reports show what matters first."""
    return dict(sorted(series.items(), key=lambda item: item[1].concept == "axis"))
