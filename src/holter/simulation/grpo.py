"""What TRL's GRPO trainer would log of a made run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.simulation import instruments
from holter.simulation.completions import agreement, lengths, normal_tail
from holter.simulation.noise import heavy, lognormal, mean_of_batch, share_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.simulation.conditions import Conditions
    from holter.simulation.latent import Latent

FORMAT_WEIGHT = 0.2
"""Weight of the format reward; the accuracy reward weighs 1."""
OF_A_GENERATION = ("reward", "rewards/", "frac_reward", "completions/", "num_tokens")
"""Beginnings of the keys that only rows with a generation hold."""


def configuration(conditions: Conditions) -> dict[str, object]:
    """Hyper-parameters under TRL's names."""
    return {
        "algorithm": "grpo",
        "num_generations": conditions.group,
        "num_iterations": conditions.iterations,
        "beta": conditions.beta,
        "max_completion_length": max(int(conditions.length * conditions.limit), 4),
        "learning_rate": conditions.learning_rate,
        "reward_weights": [1.0, FORMAT_WEIGHT],
        "logging_steps": conditions.every,
    }


def columns(rng: np.random.Generator, x: Latent, conditions: Conditions) -> dict[str, NDArray[np.float64]]:
    """Every metric at every step, under TRL's names; NaN is a value. Arrays of shape ``(n,)``."""
    n, size = len(x), conditions.group * conditions.prompts
    out: dict[str, NDArray[np.float64]] = {}
    out.update(_rewards(rng, x, conditions, size))
    length = lengths(rng, x, conditions, size)
    kl = x.kl * lognormal(rng, n, 0.15, 0.3) * heavy(rng, n, 0.08)
    out["loss"] = conditions.beta * kl + 0.03 * rng.normal(size=n) * np.sqrt(1 - out["frac_reward_zero_std"])
    carried = np.sqrt(np.clip(1 - out["frac_reward_zero_std"], 0, 1))
    out["grad_norm"] = x.gradient * heavy(rng, n, conditions.tail) * x.spikes * carried + (kl > 0) * 1e-3
    out["learning_rate"] = x.rate
    out["completions/mean_length"] = length.mean
    out["completions/min_length"] = length.shortest
    out["completions/max_length"] = length.longest
    out["completions/clipped_ratio"] = length.cut
    out["completions/mean_terminated_length"] = length.ended
    out["num_tokens"] = np.cumsum(np.round((length.mean + 60) * size))
    if conditions.beta:
        out["kl"] = kl
    out["entropy"] = x.entropy * lognormal(rng, n, 0.03, conditions.rho)
    out.update(_clipping(rng, x, conditions))
    out["step_time"] = (3 + 0.02 * length.mean) * x.pace * lognormal(rng, n, 0.06)
    if conditions.instrumented:
        out.update(instruments.columns(rng, x, conditions, length, size))
        out.update(instruments.sampling(rng, x))
    _break(x, out)
    return out


def _rewards(rng: np.random.Generator, x: Latent, conditions: Conditions, size: int) -> dict[str, NDArray[np.float64]]:
    right = np.clip(x.paid, 0.0, 0.999)
    formed = np.clip(0.6 + 0.5 * right, 0, 0.995)
    accuracy = mean_of_batch(rng, right, size, conditions.rho, conditions.noise)
    form = mean_of_batch(rng, formed, size, conditions.rho, conditions.noise)
    agree = agreement(right, conditions.group, conditions.difficulty) * agreement(formed, conditions.group, 1.5)
    out_of_order = np.isfinite(x.outage)
    agree = np.where(out_of_order, 1.0, x.copies + (1 - x.copies) * agree)
    accuracy = np.where(out_of_order, x.outage, accuracy)
    form = np.where(out_of_order, 0.0, form)
    grain = lognormal(rng, len(x), 1 / np.sqrt(2 * size))
    a_std = np.where(out_of_order, 0.0, np.sqrt(accuracy * (1 - accuracy)) * grain)
    f_std = np.where(out_of_order, 0.0, np.sqrt(form * (1 - form)) * grain)
    share = share_of(rng, agree, conditions.prompts)
    return {
        "rewards/accuracy/mean": x.scale * accuracy,
        "rewards/accuracy/std": x.scale * a_std,
        "rewards/format/mean": x.scale * form,
        "rewards/format/std": x.scale * f_std,
        "reward": x.scale * (accuracy + FORMAT_WEIGHT * form),
        "reward_std": x.scale * np.sqrt(a_std**2 + (FORMAT_WEIGHT * f_std) ** 2),
        "frac_reward_zero_std": share,
    }


def _clipping(rng: np.random.Generator, x: Latent, conditions: Conditions) -> dict[str, NDArray[np.float64]]:
    """Nothing is clipped when a fresh batch is used once; with several iterations all but the first of them can."""
    n = len(x)
    again = np.arange(n) % conditions.iterations != 0
    spread = np.sqrt(np.where(again, x.update, 0.0) ** 2 + x.stale**2)
    tails = np.where(spread > 0, normal_tail(0.2 / np.maximum(spread, 1e-6)), 0.0)
    low = np.clip(tails * lognormal(rng, n, 0.3), 0, 0.5)
    high = np.clip(tails * lognormal(rng, n, 0.3), 0, 0.5)
    return {
        "clip_ratio/low_mean": low,
        "clip_ratio/low_min": low * 0.0,
        "clip_ratio/high_mean": high,
        "clip_ratio/high_max": np.clip(high * 2, 0, 1),
        "clip_ratio/region_mean": low + high,
    }


def _break(x: Latent, out: dict[str, NDArray[np.float64]]) -> None:
    """Numbers that are not finite from some step on; where the trainer filters the loss, it shows 0.0 instead."""
    if x.broken >= len(x):
        return
    after = slice(x.broken, None)
    out["loss"][after] = 0.0 if x.notes.get("masked") else np.nan
    out["grad_norm"][after] = np.nan
    if "kl" in out:
        out["kl"][after] = np.nan
