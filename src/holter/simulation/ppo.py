"""What TRL's PPO trainer would log of a made run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.simulation import instruments
from holter.simulation.completions import lengths, normal_tail
from holter.simulation.noise import autocorrelated, heavy, lognormal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.simulation.conditions import Conditions
    from holter.simulation.latent import Latent

BATCH = 64
"""Completions of one update."""
SPREAD = 1.5
"""Standard deviation of the scores of a batch, in reward units."""


def configuration(conditions: Conditions) -> dict[str, object]:
    """Hyper-parameters under TRL's names."""
    return {
        "algorithm": "ppo",
        "kl_coef": conditions.beta,
        "cliprange": 0.2,
        "learning_rate": conditions.learning_rate,
        "batch_size": BATCH,
        **({"kl_target": conditions.target, "horizon": conditions.horizon} if conditions.target is not None else {}),
    }


def columns(rng: np.random.Generator, x: Latent, conditions: Conditions) -> dict[str, NDArray[np.float64]]:
    """Every metric at every update, under TRL's names; NaN is a value. Arrays of shape ``(n,)``."""
    n = len(x)
    length = lengths(rng, x, conditions, BATCH)
    kl = _kl(rng, x, length.mean)
    coefficient = _coefficient(kl, conditions)
    scores = x.scale * SPREAD * (4 * x.paid - 1.2)
    scores = scores + x.scale * SPREAD * conditions.noise * autocorrelated(rng, n, conditions.rho) / np.sqrt(BATCH)
    scores = np.where(np.isfinite(x.outage), x.outage, scores)
    update = np.sqrt(x.update**2 + x.stale**2)
    tails = normal_tail(0.2 / np.maximum(update, 1e-6))
    out = {
        "eps": np.floor(BATCH / (2 + 0.01 * length.mean) / x.pace),
        "objective/kl": kl,
        "objective/entropy": x.entropy * length.mean * lognormal(rng, n, 0.04, conditions.rho),
        "objective/non_score_reward": -coefficient * kl,
        "objective/rlhf_reward": scores - coefficient * kl,
        "objective/scores": scores,
        "policy/approxkl_avg": update**2 / 2 * heavy(rng, n, 0.25),
        "policy/clipfrac_avg": np.clip(1.2 * tails * lognormal(rng, n, 0.25), 0, 1),
        "loss/policy_avg": (-0.004 + 0.008 * rng.normal(size=n)) * (1 + 5 * x.update),
        "loss/value_avg": x.critic * (SPREAD * x.scale) ** 2 * 0.4 * lognormal(rng, n, conditions.value_noise, 0.3),
        "val/clipfrac_avg": np.clip(0.03 * np.sqrt(x.critic) * lognormal(rng, n, 0.4), 0, 1),
        "policy/entropy_avg": x.entropy * lognormal(rng, n, 0.03, conditions.rho),
        "val/ratio": 1 + x.offset * heavy(rng, n, 0.4) + 0.05 * x.update * rng.normal(size=n),
        "val/ratio_var": (0.02 * update**2 + 0.1 * x.offset**2) * heavy(rng, n, 0.5),
        "val/num_eos_tokens": np.round((1 - length.cut) * BATCH),
        "lr": x.rate,
        "episode": BATCH * np.arange(1, n + 1, dtype=np.float64),
    }
    if conditions.instrumented:
        out.update(instruments.columns(rng, x, conditions, length, BATCH))
        out["policy/kl_k1_avg"] = 0.02 * x.update * rng.normal(size=n)
        if conditions.target is not None:
            out["objective/kl_coef"] = coefficient
    _break(x, out)
    return out


def _kl(rng: np.random.Generator, x: Latent, length: NDArray[np.float64]) -> NDArray[np.float64]:
    """The k1 estimate summed over completions: unbiased, with a spread that grows with the KL itself."""
    true = (x.kl + x.sampler_bias) * length
    spread = np.sqrt(2 * np.maximum(x.kl * length, 1e-12) / BATCH)
    return np.asarray(true + spread * rng.normal(size=len(x)) + 1e-7 * rng.normal(size=len(x)))


def _coefficient(kl: NDArray[np.float64], conditions: Conditions) -> NDArray[np.float64]:
    """The KL coefficient of each update: fixed, or adapted to the target by the KL of the update before."""
    out = np.full(len(kl), conditions.beta)
    if conditions.target is not None:
        for i in range(1, len(kl)):
            error = float(np.clip(kl[i - 1] / conditions.target - 1, -0.2, 0.2))
            out[i] = out[i - 1] * (1 + error * BATCH / conditions.horizon)
    return out


def _break(x: Latent, out: dict[str, NDArray[np.float64]]) -> None:
    """Losses, ratio and scores that are not numbers from some update on."""
    if x.broken >= len(x):
        return
    keys = ("loss/policy_avg", "loss/value_avg", "policy/approxkl_avg", "val/ratio", "val/ratio_var")
    for key in (*keys, "objective/scores", "objective/rlhf_reward"):
        out[key][x.broken :] = np.nan
