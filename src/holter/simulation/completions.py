"""Lengths, truncation and agreement of groups, computed from a run's curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.simulation.latent import LENGTH_SPREAD
from holter.simulation.noise import lognormal, share_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.simulation.conditions import Conditions
    from holter.simulation.latent import Latent


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """Lengths of the completions of each step, in tokens. Every array has shape ``(n,)``.

    Attributes:
        mean: Mean, the limit included.
        shortest: Shortest of the batch.
        longest: Longest of the batch.
        ended: Mean of those that ended by themselves; 0 where none did, as TRL logs it.
        cut: Share that was cut at the limit.
        limit: The limit.
    """

    mean: NDArray[np.float64]
    shortest: NDArray[np.float64]
    longest: NDArray[np.float64]
    ended: NDArray[np.float64]
    cut: NDArray[np.float64]
    limit: int


def lengths(rng: np.random.Generator, x: Latent, conditions: Conditions, size: int) -> Lengths:
    """Lengths of batches of `size` log-normally long completions under a limit."""
    n = len(x)
    limit = max(int(conditions.length * conditions.limit), 4)
    middle = np.maximum(x.length * np.exp(-(LENGTH_SPREAD**2) / 2), 1.0)
    beyond = normal_tail(np.log(limit / middle) / LENGTH_SPREAD)
    cut = share_of(rng, x.unstopped + (1 - x.unstopped) * beyond, size)
    usual = np.minimum(x.length * lognormal(rng, n, LENGTH_SPREAD / math.sqrt(size), 0.3), limit)
    ended = np.maximum(np.minimum(usual, limit * 0.9), 1.0)
    some = (1 - cut) * size >= 1
    spread = math.sqrt(2 * math.log(max(size, 2))) * LENGTH_SPREAD
    low = np.maximum(middle * np.exp(-spread * rng.uniform(0.8, 1.2, n)), 1.0)
    high = np.minimum(middle * np.exp(spread * rng.uniform(0.8, 1.2, n)), limit - 1)
    longest = np.asarray(np.round(np.where(cut > 0, limit, np.maximum(high, ended))), np.float64)
    shortest = np.asarray(np.round(np.where(some, np.minimum(low, ended), limit)), np.float64)
    mean = np.clip(cut * limit + (1 - cut) * ended, shortest, longest)
    return Lengths(mean, shortest, longest, np.where(some, ended, 0.0), cut, limit)


def normal_tail(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability that a standard normal exceeds `z`. Shape of `z`."""
    return np.asarray([0.5 * math.erfc(v / math.sqrt(2)) for v in z.tolist()])


def agreement(p: NDArray[np.float64], group: int, difficulty: float) -> NDArray[np.float64]:
    """Share of groups of `group` right-or-wrong answers that are all right or all wrong. Shape of `p`.

    Success rates of prompts are beta-distributed around `p`; the larger `difficulty`, the more of them are always or never
    solved. With difficulty 0 all prompts are alike and the share is p^G + (1-p)^G.
    """
    q = np.clip(p, 1e-6, 1 - 1e-6)
    if difficulty <= 0:
        return np.asarray(q**group + (1 - q) ** group)
    mass = 2.0 / difficulty
    right, wrong = np.ones_like(q), np.ones_like(q)
    for j in range(group):
        right *= (q * mass + j) / (mass + j)
        wrong *= ((1 - q) * mass + j) / (mass + j)
    return np.asarray(right + wrong)
