"""The curves of several runs on one axis: steps, episodes or tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.compare.direction import Better, direction
from holter.errors import HolterError
from holter.language import listed, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from holter.runs.run import Run

AXES = {"step": "", "episodes": "episode", "tokens": "num_tokens"}
"""What runs can be aligned on, and the signal that counts it; a step needs none."""

MOST_BINS = 40
"""Stretches that a curve is cut into: enough to see a bend, few enough that each holds several rows."""

_NO_CURVES = frozenset({"axis", "time_total", "batch_tokens", "batch_samples"})
"""Concepts that count instead of measuring."""


class AxisError(HolterError, ValueError):
    """A run cannot be placed on the wanted axis."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One signal of one run on the wanted axis.

    Attributes:
        key: Canonical key, or the raw name of a metric nobody knows.
        metric: Name as the log writes it.
        unit: Unit in words; empty where it is not known.
        better: Which direction is good.
        outcome: Whether it says how good the policy is, and not only how the training goes.
        x: Position of each value on the axis. Shape ``(n,)``.
        values: NaN and infinities included. Shape ``(n,)``.
    """

    key: str
    metric: str
    unit: str
    better: Better
    outcome: bool
    x: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def finite(self) -> NDArray[np.bool_]:
        """Which values are numbers. Shape ``(n,)``."""
        return np.isfinite(self.values)


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """One signal of several runs over the range that all of them cover.

    Attributes:
        edges: Edges of the stretches, on the axis. Shape ``(bins + 1,)``.
        means: Mean of the finite values in each stretch; NaN where there is none. Shape ``(runs, bins)``.
        points: Finite values in each stretch. Shape ``(runs, bins)``.
    """

    edges: NDArray[np.float64]
    means: NDArray[np.float64]
    points: NDArray[np.int64]


def curves(run: Run, axis: str) -> dict[str, Curve]:
    """Every logged signal of a run, and every number nobody knows the name of, by key.

    Args:
        run: The run.
        axis: A key of `AXES`.

    Raises:
        AxisError: When the log does not count the wanted axis.
    """
    place = place_on(run, axis)
    good = direction(run)
    out = {}
    for key, series in run.series.items():
        if series.concept in _NO_CURVES or series.derived or not len(series):
            continue
        better, outcome = good(series)
        out[key] = Curve(key, series.metric, str(series.unit), better, outcome, place[series.at], series.values)
    for metric, unknown in run.unknown.items():
        out.setdefault(metric, Curve(metric, metric, "", Better.UNKNOWN, False, place[unknown.at], unknown.values))
    return {key: _counted(curve) for key, curve in out.items()}


def align(some: Sequence[Curve]) -> Aligned | None:
    """The curves over the range that all of them cover, NaN and infinities included, or None where there is none."""
    if not all(c.finite.any() for c in some):
        return None
    low, high = max(float(c.x[0]) for c in some), min(float(c.x[-1]) for c in some)
    finite = [(c.x[c.finite], c.values[c.finite]) for c in some]
    inside = [(x[(x >= low) & (x <= high)], v[(x >= low) & (x <= high)]) for x, v in finite]
    fewest = min(len(x) for x, _ in inside)
    if high < low or not fewest:
        return None
    bins = min(fewest, MOST_BINS)
    edges = np.linspace(low, high, bins + 1)
    means, points = np.full((len(some), bins), np.nan), np.zeros((len(some), bins), np.int64)
    for row, (x, v) in enumerate(inside):
        at = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, bins - 1)
        points[row] = np.bincount(at, minlength=bins)
        some_there = points[row] > 0
        means[row, some_there] = np.bincount(at, v, minlength=bins)[some_there] / points[row, some_there]
    return Aligned(edges, means, points)


def place_on(run: Run, axis: str) -> NDArray[np.float64]:
    """The position of every row on an axis. A row that does not count it stands where the row before stood.

    Args:
        run: The run.
        axis: A key of `AXES`.

    Returns:
        Shape ``(rows,)``; NaN before the first row that counts.

    Raises:
        AxisError: When the log does not count it.
    """
    key = AXES[axis]
    if not key:
        return run.steps
    counter = run.series.get(key)
    counted = None if counter is None else counter.finite()
    if counted is None or not len(counted):
        has = [name for name, k in AXES.items() if not k or k in run.series]
        why = said("its log does not count {axis}. It can be aligned on {axes}.", axis=axis, axes=listed(has, " or "))
        raise AxisError(f"{run.name}:", why)
    newest = counted.upto(np.arange(len(run)))
    return np.where(newest >= 0, counted.values[np.maximum(newest, 0)], np.nan)


def _counted(curve: Curve) -> Curve:
    """The curve without the rows that came before the axis was first counted."""
    there = np.isfinite(curve.x)
    return (
        curve
        if there.all()
        else Curve(
            curve.key, curve.metric, curve.unit, curve.better, curve.outcome, curve.x[there], curve.values[there]
        )
    )
