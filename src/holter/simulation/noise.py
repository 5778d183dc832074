"""Noise as training logs have it: autocorrelated, heavy-tailed, multiplicative, of finite batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def autocorrelated(rng: np.random.Generator, n: int, rho: float) -> NDArray[np.float64]:
    """A stationary AR(1) series of mean 0 and variance 1. Shape ``(n,)``.

    Args:
        rng: Source of randomness.
        n: Length.
        rho: Correlation of neighbours, 0 to below 1.
    """
    shocks = rng.normal(size=n)
    out = np.empty(n)
    last = float(rng.normal())
    scale = float(np.sqrt(1 - rho**2))
    for i in range(n):
        last = rho * last + scale * shocks[i]
        out[i] = last
    return out


def lognormal(rng: np.random.Generator, n: int, sd: float, rho: float = 0.0) -> NDArray[np.float64]:
    """A positive factor of mean 1, with standard deviation `sd` of its logarithm. Shape ``(n,)``."""
    return np.asarray(np.exp(sd * autocorrelated(rng, n, rho) - sd**2 / 2))


def heavy(rng: np.random.Generator, n: int, sd: float, freedom: float = 4.0) -> NDArray[np.float64]:
    """A positive factor of median 1 whose logarithm has the tails of Student's t: gradient norms, k3 estimates."""
    return np.asarray(np.exp(sd * rng.standard_t(freedom, size=n) / np.sqrt(freedom / (freedom - 2))))


def mean_of_batch(
    rng: np.random.Generator, p: NDArray[np.float64], size: int, rho: float = 0.0, design: float = 1.0
) -> NDArray[np.float64]:
    """Mean of `size` right-or-wrong answers with success rate `p`. In [0, 1]; shape of `p`.

    Args:
        rng: Source of randomness.
        p: Success rate of each step.
        size: Completions in the batch.
        rho: Correlation of neighbouring batches (the same prompts come round).
        design: How much larger the spread is than for independent answers, because answers to one prompt go together.
    """
    spread = design * np.sqrt(np.clip(p * (1 - p), 0, None) / size)
    return np.clip(p + spread * autocorrelated(rng, len(p), rho), 0, 1)


def share_of(rng: np.random.Generator, p: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Share of `size` independent things that happen with probability `p`. Shape of `p`.

    Binomial sampling takes more or fewer numbers from the stream as `p` changes; a stream of its own keeps a fault from
    changing the noise of other metrics before its onset.
    """
    return np.asarray(rng.spawn(1)[0].binomial(size, np.clip(p, 0, 1)) / size)
