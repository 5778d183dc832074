"""Points of a tracker, one number each, made into rows: a row for every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.language import said
from holter.readers.base import RawColumn, RawLog, Skipped
from holter.readers.plausibility import NotALogError, objection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

STEP = "step"
SYSTEM = "system/"
"""Names of what a tracker measures of the machine, against a count of its own."""
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The points of one name.

    Attributes:
        steps: Shape ``(n,)``.
        values: Shape ``(n,)``.
        times: When each was logged, in any unit. Shape ``(n,)``.
    """

    steps: NDArray[np.float64]
    values: NDArray[np.float64]
    times: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Sequence[tuple[float, float, float]]) -> Points:
        """From rows of step, value and time."""
        steps, values, times = np.array(rows, np.float64).reshape(-1, 3).T
        return cls(steps, values, times)


def log_of(
    points: Mapping[str, Points],
    *,
    name: str,
    reader: str,
    config: Mapping[str, object],
    notes: Iterable[str] = (),
    skipped: Iterable[Skipped] = (),
) -> RawLog:
    """The log of a run.

    Of several values of one name at one step the newest is taken. Where no name has more than one step, nobody said the
    steps, and the values follow each other as they were logged.

    Raises:
        NotALogError: When the names are not those of a training run.
    """
    notes = list(notes)
    system = sum(len(p.values) for key, p in points.items() if key.startswith(SYSTEM))
    if system:
        notes.append(said("measurements of the machine left aside, which count their own steps: {n}", n=system))
    kept = {key: p for key, p in points.items() if not key.startswith(SYSTEM) and len(p.values)}
    wrong = objection(kept)
    if wrong is not None:
        raise NotALogError.of(name, wrong, "A log needs rows with a step and numbers: loss, reward, kl, ...")
    stepless = any(len(p.steps) > 1 for p in kept.values()) and all(len(np.unique(p.steps)) == 1 for p in kept.values())
    if stepless:
        notes.append("no step was given when this was logged; the values are taken in their order.")
        rows = max(len(p.values) for p in kept.values())
        ordered = {key: p.values[np.argsort(p.times, kind="stable")] for key, p in kept.items()}
        columns = {key: RawColumn(np.arange(len(values)), values) for key, values in ordered.items()}
    else:
        steps = np.unique(np.concatenate([p.steps for p in kept.values()]))
        rows = len(steps)
        columns = {key: _column(p, steps) for key, p in kept.items()}
        again = sum(len(p.values) - len(columns[key].values) for key, p in kept.items())
        if again:
            notes.append(
                said("values that were logged again at the same step, of which the newest was taken: {n}", n=again)
            )
        axis = STEP if STEP not in columns else f"tracker {STEP}"
        columns = {axis: RawColumn(np.arange(rows), steps), **columns}
    return RawLog(
        name=name,
        reader=reader,
        rows=rows,
        columns=columns,
        config=dict(config),
        skipped=tuple(skipped),
        notes=tuple(notes),
    )


def _column(points: Points, steps: NDArray[np.float64]) -> RawColumn:
    order = np.lexsort((points.times, points.steps))
    own, values = points.steps[order], points.values[order]
    last = np.append(np.diff(own) > 0, True)
    return RawColumn(np.searchsorted(steps, own[last]), values[last])


def unlimited(value: float) -> float:
    """The value that MLflow's database stands for: it writes the largest number for infinity."""
    return value if abs(value) < _LARGEST else float(np.copysign(np.inf, value))
