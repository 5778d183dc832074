"""What a swept setting did to which signal."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.compare.student import FALSE, discovered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from holter.compare.settings_apart import Setting

LEAST_RUNS = 4
"""Fewest runs whose ranks can say anything: with four the least possible probability is 1/12."""

MOST_EXACT = 7
DRAWS = 5000


@dataclass(frozen=True, slots=True)
class Influence:
    """What one setting did to one signal over all runs.

    Attributes:
        setting: The setting.
        signal: Key of the signal.
        rho: Spearman's rank correlation between the setting and the signal's level at the end, -1 to 1.
        p: Probability of one at least as far from 0 when the setting does nothing (permutations of the runs).
        stands: Whether it stands beside all that were tested.
    """

    setting: str
    signal: str
    rho: float
    p: float
    stands: bool


@dataclass(frozen=True, slots=True)
class Sweep:
    """All settings that were swept.

    Attributes:
        settings: The numeric settings that take more than one value.
        influences: What each did to each signal, the surest first.
        together: Settings that always change together, whose effects these runs cannot tell apart.
        too_few: Whether ranks of so few runs and values cannot stand out, whatever the settings do.
    """

    settings: tuple[Setting, ...]
    influences: tuple[Influence, ...]
    together: tuple[tuple[str, ...], ...]
    too_few: bool


def sweep(apart: Sequence[Setting], levels: Mapping[str, NDArray[np.float64]]) -> Sweep | None:
    """What the numeric settings did, or None when too few runs or no numeric setting differ.

    Args:
        apart: Settings that differ between the runs.
        levels: By signal, each run's level at the end, NaN where it has none. Shape of each: ``(runs,)``.
    """
    swept = tuple(s for s in apart if s.numbers is not None)
    if not swept or len(swept[0].values) < LEAST_RUNS:
        return None
    tested = []
    for setting in swept:
        numbers = np.asarray(setting.numbers)
        for signal, values in levels.items():
            there = np.isfinite(values)
            x, y = numbers[there], values[there]
            if len(y) >= LEAST_RUNS and np.ptp(x) > 0 and np.ptp(y) > 0:
                rho, p = spearman(x, y)
                tested.append((setting.name, signal, rho, p))
    stands = discovered([t[3] for t in tested])
    influences = [Influence(*t, stands=s) for t, s in zip(tested, stands, strict=True)]
    too_few = all(_least(s.numbers or ()) > FALSE for s in swept)
    return Sweep(swept, tuple(sorted(influences, key=lambda i: (i.p, -abs(i.rho)))), _together(swept), too_few)


def _least(values: Sequence[float]) -> float:
    """Least probability that ranks over these values can have: of a signal that follows them without exception."""
    ties = math.prod(math.factorial(n) for n in Counter(values).values())
    return min(1.0, 2 * ties / math.factorial(len(values)))


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Spearman's rank correlation, and its two-sided probability under permutations of the runs.

    Args:
        x: One value a run. Shape ``(runs,)``.
        y: One value a run. Shape ``(runs,)``.

    Returns:
        The correlation, and the share of permutations at least as far from 0: of all up to 7 runs, else of 5,000 drawn
        with a fixed seed, the observed one counted.
    """
    ranks_x, ranks_y = _centred(x), _centred(y)
    scale = math.sqrt(float(ranks_x @ ranks_x) * float(ranks_y @ ranks_y))
    rho = float(ranks_x @ ranks_y) / scale
    if len(x) <= MOST_EXACT:
        orders = np.asarray(list(itertools.permutations(range(len(x)))))
        others = ranks_x @ ranks_y[orders].T
        share = float((np.abs(others) >= abs(rho) * scale - 1e-9).mean())
    else:
        generator = np.random.default_rng(0)
        orders = generator.permuted(np.tile(np.arange(len(x)), (DRAWS, 1)), axis=1)
        others = ranks_x @ ranks_y[orders].T
        share = (float((np.abs(others) >= abs(rho) * scale - 1e-9).sum()) + 1) / (DRAWS + 1)
    return rho, share


def _centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks less their mean; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2)[inverse]
    out: NDArray[np.float64] = ranks - ranks.mean()
    return out


def _together(settings: Sequence[Setting]) -> tuple[tuple[str, ...], ...]:
    """Settings that take their values in step with each other, one for one."""
    pattern: dict[tuple[int, ...], list[str]] = {}
    for setting in settings:
        order: dict[object, int] = {}
        shape = tuple(order.setdefault(v, len(order)) for v in setting.values)
        pattern.setdefault(shape, []).append(setting.name)
    return tuple(tuple(names) for names in pattern.values() if len(names) > 1)
