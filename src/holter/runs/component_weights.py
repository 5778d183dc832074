"""How much each reward function weighs in the reward, and which of them weigh nothing.

A function that is logged with weight 0 is not trained on and is the best evidence there is of reward hacking. Weights are
rarely in the log, but ``reward = sum of weight * mean`` holds row by row, so a few rows give them away. Where two functions
move together, or a row's mean leaves out samples, a weight stays unknown, and unknown is not zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from holter.runs.hyperparameters import reward_weights
from holter.runs.run import Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run, Series

SPARE_ROWS = 3
"""Rows beyond the number of functions without which the weights would fit anything."""

UNEXPLAINED = 0.02
"""Share of the reward's spread that the sum may leave over before the identity is given up."""

UNSURE = 0.02
"""Standard error of a weight above which it is unknown, as a share of the largest weight."""

MOST_ROWS = 1000
"""Rows from the beginning that are solved; weights do not change on the way, and a longer log is not judged by other rows."""

BROKEN = 0.2
"""Share of rows that may break the identity, because a function abstained on some of their samples."""


_SOLVED: WeakKeyDictionary[Run, dict[str, float | None]] = WeakKeyDictionary()
"""Weights of the runs in memory: several detectors ask for them, and a run never changes."""


def component_weights(run: Run) -> dict[str, float | None]:
    """Weight of each reward function in the reward, by its label; None where the rows do not determine it.

    ``reward_weights`` of the configuration is taken where it is there, in the order in which the log names the functions.
    """
    if run not in _SOLVED:
        _SOLVED[run] = _component_weights(run)
    return dict(_SOLVED[run])


def _component_weights(run: Run) -> dict[str, float | None]:
    parts = [
        s for s in run.series.values() if s.concept == "reward_component" and s.split is Split.TRAIN and not s.derived
    ]
    labels = [s.labels.get("name", s.key) for s in parts]
    configured = _configured(run, labels)
    if configured is not None:
        return dict(configured)
    unknown: dict[str, float | None] = dict.fromkeys(labels)
    reward = run.get("reward")
    if reward is None or not parts:
        return unknown
    table, total = _rows(parts, reward)
    found = _solved(table, total)
    return unknown if found is None else dict(zip(labels, found, strict=True))


def held_out_components(run: Run) -> list[Series]:
    """Reward functions whose weight is 0 while they vary: measured on the policy, and not trained on."""
    weights = component_weights(run)
    return [
        s
        for s in run.all("reward_component")
        if weights.get(s.labels.get("name", s.key)) == 0.0 and np.nanstd(s.finite().values) > 0
    ]


def _configured(run: Run, labels: list[str]) -> dict[str, float] | None:
    by_name = run.config.get("reward_weights")
    if isinstance(by_name, Mapping) and all(isinstance(by_name.get(label), int | float) for label in labels):
        return {label: float(by_name[label]) for label in labels}
    in_order = reward_weights(run)
    return dict(zip(labels, in_order, strict=True)) if in_order is not None and len(in_order) == len(labels) else None


def _rows(parts: list[Series], reward: Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Component means ``(n, functions)`` and rewards ``(n,)`` over the rows that hold finite values of all."""
    at = reduce(_shared, (s.at for s in parts), reward.at)
    table = np.stack([s.values[np.searchsorted(s.at, at)] for s in parts], axis=1)
    total = reward.values[np.searchsorted(reward.at, at)]
    finite = (np.abs(table) < 1e100).all(axis=1) & (np.abs(total) < 1e100)  # beyond that, squares overflow
    return table[finite][:MOST_ROWS], total[finite][:MOST_ROWS]


def _shared(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    return a if np.array_equal(a, b) else np.intersect1d(a, b, assume_unique=True)


def _solved(table: NDArray[np.float64], total: NDArray[np.float64]) -> list[float | None] | None:
    """Weights by least squares, rows that break the identity left out; None where no weights explain the reward."""
    spread = _spread(total)
    if spread == 0.0:
        return None
    keep = np.ones(len(total), bool)
    while True:
        n, count = int(keep.sum()), table.shape[1]
        if n < count + SPARE_ROWS:
            return None
        weights, errors, left = _least_squares(table[keep], total[keep])
        residual = np.abs(table @ weights - total)
        if left <= UNEXPLAINED * spread and not (residual[keep] > 10 * UNEXPLAINED * spread).any():
            break
        typical = float(np.median(residual[keep]))
        worse = keep & (residual > max(4 * typical, UNEXPLAINED * spread))
        if not worse.any() or (~keep | worse).sum() > BROKEN * len(total):
            return None
        keep &= ~worse
    most = float(np.abs(weights).max())
    known = errors <= UNSURE * max(most, 1e-12)
    trivial = np.abs(weights) <= np.maximum(UNSURE * most, 3 * errors)
    return [(0.0 if t else float(w)) if k else None for w, k, t in zip(weights, known, trivial, strict=True)]


def _spread(total: NDArray[np.float64]) -> float:
    """Standard deviation without the outermost tenths: beside one huge value any sum would seem to explain all others."""
    if not len(total):
        return 0.0
    low, high = np.quantile(total, 0.1, method="higher"), np.quantile(total, 0.9, method="lower")
    return float(np.clip(total, low, high).std()) or float(total.std())


def _least_squares(
    table: NDArray[np.float64], total: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Weights, their standard errors (infinite where undetermined), and the root mean square that is left over."""
    scale = np.sqrt((table**2).mean(axis=0))
    used = scale > 0
    weights, errors = np.zeros(table.shape[1]), np.full(table.shape[1], np.inf)
    if not used.any():
        return weights, errors, float(np.sqrt((total**2).mean()))
    left, singular, right = np.linalg.svd(table[:, used] / scale[used], full_matrices=False)
    sound = singular > 1e-6 * singular[0]
    inverse = np.where(sound, 1 / np.where(sound, singular, 1.0), 0.0)
    weights[used] = (right.T @ (inverse * (left.T @ total))) / scale[used]
    residual = total - table @ weights
    rms = float(np.sqrt((residual**2).sum() / max(len(total) - int(sound.sum()), 1)))
    noise = max(rms, 1e-7 * float(np.abs(total).max()))
    variance = (right**2 * inverse[:, None] ** 2).sum(axis=0)
    free = (right[~sound] ** 2).sum(axis=0) > 1e-6
    errors[used] = np.where(free, np.inf, noise * np.sqrt(variance) / scale[used])
    return weights, errors, rms
