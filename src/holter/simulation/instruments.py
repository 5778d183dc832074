"""What TRL does not log and Holter's own trainers and recorder do, of a made run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.simulation.noise import heavy, lognormal, share_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.simulation.completions import Lengths
    from holter.simulation.conditions import Conditions
    from holter.simulation.latent import Latent


def columns(
    rng: np.random.Generator, x: Latent, conditions: Conditions, length: Lengths, size: int
) -> dict[str, NDArray[np.float64]]:
    """Rewards that are no number, the largest advantage, completions that contain EOS. Arrays of shape ``(n,)``.

    In a group of G rewards the largest normalised advantage is (G - 1) / sqrt(G), reached where one answer differs from all
    others; that is the case in nearly every batch of groups.
    """
    bound = (conditions.group - 1) / np.sqrt(conditions.group)
    return {
        "reward/nan_fraction": share_of(rng, x.unscored, size),
        "advantages/abs_max": bound * x.advantage * np.clip(1 - 0.3 * rng.random(len(x)) ** 3, 0, 1),
        "completions/eos_ratio": 1 - length.cut,
    }


def sampling(rng: np.random.Generator, x: Latent) -> dict[str, NDArray[np.float64]]:
    """The sampler's log-probabilities against the trainer's, as TRL logs them beside vLLM. Arrays of shape ``(n,)``."""
    n = len(x)
    mean = x.mismatch * lognormal(rng, n, 0.1, 0.3)
    most = mean * 25 * heavy(rng, n, 0.3)
    return {
        "sampling/sampling_logp_difference/mean": mean,
        "sampling/sampling_logp_difference/max": most,
        "sampling/importance_sampling_ratio/min": np.exp(-most),
        "sampling/importance_sampling_ratio/mean": 1 + 0.2 * x.mismatch * rng.normal(size=n),
        "sampling/importance_sampling_ratio/max": np.exp(np.minimum(most, 1.1)),
    }
