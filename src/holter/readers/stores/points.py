"""Points of a tracker, one number each, made into rows: a row for every step."""

from __future__ import annotations

from array import array
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

    @classmethod
    def one_after_another(cls, numbers: array[float]) -> Points:
        """From the step, value and time of one point after another, which are not copied."""
        steps, values, times = np.frombuffer(numbers, np.float64).reshape(-1, 3).T
        return cls(steps, values, times)


def log_of(
    points: dict[str, Points],
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

    Args:
        points: By name. It is emptied on the way, so that no number is held twice.
        name: What to call the log.
        reader: Name of the reader.
        config: Hyper-parameters.
        notes: Remarks for the user.
        skipped: What could not be read.

    Raises:
        NotALogError: When the names are not those of a training run.
    """
    notes = list(notes)
    system = sum(len(points.pop(key).values) for key in list(points) if key.startswith(SYSTEM))
    if system:
        notes.append(said("measurements of the machine left aside, which count their own steps: {n}", n=system))
    for key in [key for key, p in points.items() if not len(p.values)]:
        del points[key]
    wrong = objection(points)
    if wrong is not None:
        raise NotALogError.of(name, wrong, "A log needs rows with a step and numbers: loss, reward, kl, ...")
    if any(len(p.steps) > 1 for p in points.values()) and all(len(np.unique(p.steps)) == 1 for p in points.values()):
        notes.append("no step was given when this was logged; the values are taken in their order.")
        rows = max(len(p.values) for p in points.values())
        columns = {}
        for key in list(points):
            p = points.pop(key)
            columns[key] = RawColumn(np.arange(len(p.values)), p.values[np.argsort(p.times, kind="stable")])
    else:
        values = sum(len(p.values) for p in points.values())
        rows, columns = _by_step(points)
        again = values + rows - sum(len(c.values) for c in columns.values())
        if again:
            notes.append(
                said("values that were logged again at the same step, of which the newest was taken: {n}", n=again)
            )
    return RawLog(
        name=name,
        reader=reader,
        rows=rows,
        columns=columns,
        config=dict(config),
        skipped=tuple(skipped),
        notes=tuple(notes),
    )


def new_rows(points: dict[str, Points], *, name: str, reader: str) -> RawLog | None:
    """Points that came to a run, in rows of their own: a step that goes on comes with what is new of it; None without any.

    Args:
        points: By name. It is emptied on the way.
        name: What to call the log.
        reader: Name of the reader.
    """
    for key in [key for key, p in points.items() if key.startswith(SYSTEM) or not len(p.values)]:
        del points[key]
    if not points:
        return None
    rows, columns = _by_step(points)
    return RawLog(name=name, reader=reader, rows=rows, columns=columns)


class Growing:
    """The points of one name, which come one by one."""

    def __init__(self) -> None:
        self._numbers = array("d")
        self._given = 0

    def add(self, step: float, value: float, time: float) -> None:
        """One more point."""
        self._numbers.extend((step, value, time))

    def fresh(self) -> Points:
        """Those that came since the last call."""
        first, self._given = self._given, len(self._numbers)
        return Points.one_after_another(self._numbers[first:])

    def whole(self, *, at_last: bool) -> Points:
        """All of them; not copied where none comes any more."""
        return Points.one_after_another(self._numbers if at_last else self._numbers[:])


def _by_step(points: dict[str, Points]) -> tuple[int, dict[str, RawColumn]]:
    """How many steps there are, and the columns over them: the step, and the newest value of each name."""
    steps = _all_steps(points.values())
    axis = STEP if STEP not in points else f"tracker {STEP}"
    columns = {axis: RawColumn(np.arange(len(steps)), steps)}
    shared: dict[int, NDArray[np.int64]] = {len(steps): columns[axis].at}
    for key in list(points):
        columns[key] = _column(points.pop(key), steps, shared)
    return len(steps), columns


def _all_steps(points: Iterable[Points]) -> NDArray[np.float64]:
    """Every step at which any name has a value, once, increasing. Shape ``(rows,)``."""
    steps = np.zeros(0)
    waiting: list[NDArray[np.float64]] = []
    size = 0
    for each in points:
        own = np.unique(each.steps)
        if np.array_equal(own, steps):
            continue
        waiting.append(own)
        size += len(own)
        # Only what has come to as much as there is already is worth sorting all of it again.
        if size >= len(steps):
            steps, waiting, size = np.unique(np.concatenate([steps, *waiting])), [], 0
    return np.unique(np.concatenate([steps, *waiting]))


def _column(points: Points, steps: NDArray[np.float64], shared: dict[int, NDArray[np.int64]]) -> RawColumn:
    """The newest value at every step. Columns over the same rows share the array of them."""
    order = np.lexsort((points.times, points.steps))
    own, values = points.steps[order], points.values[order]
    last = np.append(np.diff(own) > 0, True)
    at = np.searchsorted(steps, own[last])
    known = shared.setdefault(len(at), at)
    return RawColumn(known if np.array_equal(known, at) else at, values[last])


def unlimited(value: float) -> float:
    """The value that MLflow's database stands for: it writes the largest number for infinity."""
    return value if abs(value) < _LARGEST else float(np.copysign(np.inf, value))
