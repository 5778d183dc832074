"""Which column of a log counts its steps, and the step of every row.

The framework's own counter is preferred. W&B's ``_step`` counts calls of ``log`` and is taken only where nothing better is
there; episodes and epochs come after it. A counter that most rows share numbers nothing, and the rows are counted instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.dialects.names import plain, snake
from holter.dialects.registry import lineage
from holter.language import phrase, said
from holter.runs.segments import counted_on, out_of_order, shares_steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from holter.dialects.base import Dialect, Name
    from holter.dialects.registry import Meaning
    from holter.readers.base import RawColumn, RawLog

ROW = "row number (the log has no step column)"
USUAL = ("global_step", "trainer/global_step", "training/global_step", "step", "iteration", "iter")
TRACKER = "_step"
TRACKER_AXIS = "the tracker's count of log calls"


@dataclass(frozen=True, slots=True, eq=False)
class StepAxis:
    """The steps of a log's rows.

    Attributes:
        says: What a step is, in words, with the raw name it came from.
        steps: Step of every row, in file order. Shape ``(rows,)``.
        notes: What the user should know about it.
    """

    says: str
    steps: NDArray[np.float64]
    notes: tuple[str, ...] = ()


def step_axis(
    log: RawLog,
    spoken: Dialect,
    meanings: Mapping[str, Meaning | None],
    metrics: Sequence[NDArray[np.int64]],
) -> StepAxis:
    """The steps of a log.

    Args:
        log: The raw log.
        spoken: Its dialect.
        meanings: What each raw name means in it.
        metrics: For each column that is no axis, the rows that hold a value.
    """
    refused = ""
    for raw, says, repeats in _candidates(log, spoken, meanings):
        column = log.columns[raw]
        finite = np.isfinite(column.values)
        if not finite.any():
            continue
        steps, before = _filled(column, finite, log.rows)
        found = meanings.get(raw)
        if found is not None and found.key == "step":
            steps = _converted(found.name, steps)
        notes = _before(before, raw)
        on = counted_on(steps, _epochs(log, meanings), metrics)
        if on is not None:
            steps, notes = (
                on,
                [*notes, said("{metric} restarts with every epoch; the steps are counted on.", metric=raw)],
            )
        if shares_steps(steps, metrics, repeats):
            refused = refused or raw
            continue
        if out_of_order(steps, metrics):
            notes.append(said("The rows are not in the order of {metric}; they were sorted.", metric=raw))
        if refused:
            notes.append(
                said(
                    "{metric} repeats from row to row and cannot count the steps; {other} does.",
                    metric=refused,
                    other=raw,
                )
            )
        return StepAxis(said("{axis}, logged as {metric}", axis=phrase(says), metric=raw), steps, tuple(notes))
    rows = np.arange(1, log.rows + 1, dtype=np.float64)
    return StepAxis(said("row number ({metric} repeats from row to row)", metric=refused) if refused else ROW, rows)


def _candidates(
    log: RawLog, spoken: Dialect, meanings: Mapping[str, Meaning | None]
) -> Iterator[tuple[str, str, float]]:
    """Raw names that may count the steps, the best first, each with what it counts and the share of repeats it may have."""
    raws = [raw for raw in log.columns if raw != TRACKER]
    by_form: dict[str, str] = {}
    for form in (str, plain, lambda raw: plain(raw).lower(), lambda raw: snake(plain(raw))):
        for raw in raws:
            by_form.setdefault(form(raw), raw)
    seen: set[str] = set()
    tables = list(lineage(spoken))
    own = [p + s for t in tables for s in t.step for p in ("", *(p for u in tables for p in u.prefixes))]
    for says, names in ((spoken.axis, own), ("step", [p + s for s in USUAL for p in ("", "train/")])):
        for name in names:
            raw = by_form.get(name, by_form.get(name.lower(), by_form.get(snake(name), "")))
            if raw and raw not in seen and name != TRACKER:
                seen.add(raw)
                found = meanings.get(raw)
                other = found.key if found is not None and found.key in ("episode", "epoch") else ""
                yield raw, other or says, 0.5 if other != "epoch" else 0.0
    for key in ("step", TRACKER, "episode", "epoch"):
        if key == TRACKER and TRACKER in log.columns:
            yield TRACKER, TRACKER_AXIS, 0.5
        for raw, found in meanings.items():
            if found is not None and found.full_key == key and raw not in seen and not raw.endswith(TRACKER):
                seen.add(raw)
                yield raw, key, 0.0 if key == "epoch" else 0.5


def _filled(column: RawColumn, finite: NDArray[np.bool_], rows: int) -> tuple[NDArray[np.float64], int]:
    """A step for every row, and how many rows come before the first step.

    A row that does not say its step belongs to the step before; the first rows belong to the first step.
    """
    at, values = column.at[finite], column.values[finite]
    if len(at) == rows:
        return values, 0
    newest = np.searchsorted(at, np.arange(rows), side="right") - 1
    return values[np.maximum(newest, 0)], int(at[0])


def _converted(name: Name, steps: NDArray[np.float64]) -> NDArray[np.float64]:
    out: NDArray[np.float64] = name.offset + name.scale * steps
    return out


def _before(rows: int, raw: str) -> list[str]:
    if not rows:
        return []
    return [
        said(
            "The first {n} rows say no {metric}; they were joined to the first step."
            if rows > 1
            else "The first row says no {metric}; it was joined to the first step.",
            n=rows,
            metric=raw,
        )
    ]


def _epochs(log: RawLog, meanings: Mapping[str, Meaning | None]) -> NDArray[np.float64] | None:
    for raw, column in log.columns.items():
        found = meanings.get(raw)
        finite = np.isfinite(column.values)
        if found is not None and found.full_key == "epoch" and finite.any():
            return _filled(column, finite, log.rows)[0]
    return None
