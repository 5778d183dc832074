"""What goes on inside a made run, before it is measured and logged: the truth that metrics show with noise.

A healthy run is one set of smooth curves. A fault bends some of them from its onset on, and the rest follows, because metrics are
computed from the curves: truncation from length and limit, agreement of groups from the success rate, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from holter.simulation.noise import autocorrelated, lognormal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.simulation.conditions import Conditions

LENGTH_SPREAD = 0.45
"""Standard deviation of the logarithm of completion lengths within a batch."""
MISMATCH = 0.008
"""Difference of log-probabilities that two engines of the same weights and precision show, nats/token."""


@dataclass(slots=True, eq=False)
class Latent:
    """Curves over the steps of a run; every array has shape ``(n,)``.

    Attributes:
        skill: What a held-out judge sees: success rate or score, in the units of the reward.
        paid: What the reward sees. Equal to `skill` in a healthy run.
        drift: Square root of the KL to the reference, sqrt(nats/token).
        entropy: Nats/token.
        length: Mean length if there were no limit, tokens.
        unstopped: Share of completions that would never stop.
        copies: Share of groups whose completions are all alike.
        update: Square root of twice the policy KL of an update: spread of the log-ratio, nats.
        offset: What is added to the mean ratio.
        critic: Value loss, in units of the squared reward spread.
        gradient: Gradient norm.
        scale: Factor on the rewards.
        outage: Where the reward is a constant of the service and not of the completion; NaN where it works.
        pace: Factor on the wall time of a token.
        rate: Learning rate.
        sampler_bias: Added to the k1 estimate of the KL, nats/token: samples that are not the policy's.
        mismatch: Mean absolute difference of the sampler's and the trainer's log-probabilities, nats/token.
        stale: Spread of the log-ratio that comes from completions of an older policy, nats.
        unscored: Share of rewards that are no number.
        advantage: Factor on the largest advantage.
        broken: Step from which numbers are not finite; n where none are.
        spikes: Factor on single gradient norms.
    """

    skill: NDArray[np.float64]
    paid: NDArray[np.float64]
    drift: NDArray[np.float64]
    entropy: NDArray[np.float64]
    length: NDArray[np.float64]
    unstopped: NDArray[np.float64]
    copies: NDArray[np.float64]
    update: NDArray[np.float64]
    offset: NDArray[np.float64]
    critic: NDArray[np.float64]
    gradient: NDArray[np.float64]
    scale: NDArray[np.float64]
    outage: NDArray[np.float64]
    pace: NDArray[np.float64]
    rate: NDArray[np.float64]
    sampler_bias: NDArray[np.float64]
    spikes: NDArray[np.float64]
    mismatch: NDArray[np.float64]
    stale: NDArray[np.float64]
    unscored: NDArray[np.float64]
    advantage: NDArray[np.float64]
    broken: int
    notes: dict[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.skill)

    @property
    def kl(self) -> NDArray[np.float64]:
        """KL to the reference, nats/token."""
        return self.drift**2


def healthy(rng: np.random.Generator, n: int, conditions: Conditions) -> Latent:
    """The curves of a healthy run of `n` steps."""
    t = np.arange(n) / max(n - 1, 1)
    progress = _progress(rng, t, conditions)
    skill = conditions.start + conditions.gain * progress
    for _ in range(conditions.dips):
        at, width = int(rng.integers(n // 5, max(n // 5 + 1, n - 2))), int(rng.integers(2, 6))
        skill[at : at + width] -= float(rng.uniform(0.1, 0.35)) * conditions.gain
    entropy = conditions.entropy * (
        conditions.entropy_left + (1 - conditions.entropy_left) * np.exp(-float(rng.uniform(2, 10)) * t)
    )
    update = float(10 ** rng.uniform(-1.9, -1.1)) * lognormal(rng, n, 0.15, 0.5)
    return Latent(
        skill=skill,
        paid=skill.copy(),
        drift=_drift(rng, t, conditions),
        entropy=entropy,
        length=conditions.length * (1 + (conditions.growth - 1) * progress),
        unstopped=conditions.unstopped * np.exp(-float(rng.uniform(4, 12)) * t),
        copies=np.zeros(n),
        update=update,
        offset=np.zeros(n),
        critic=_critic(rng, t),
        gradient=float(10 ** rng.uniform(-1, 0.3)) * (1 + float(rng.uniform(0, 2)) * np.exp(-np.arange(n) / 3)),
        scale=np.ones(n),
        outage=np.full(n, np.nan),
        pace=np.ones(n),
        rate=_rate(t, conditions),
        sampler_bias=np.zeros(n),
        spikes=np.ones(n),
        mismatch=np.full(n, MISMATCH),
        stale=np.zeros(n),
        unscored=np.zeros(n),
        advantage=np.ones(n),
        broken=n,
    )


def _progress(rng: np.random.Generator, t: NDArray[np.float64], conditions: Conditions) -> NDArray[np.float64]:
    """The learning curve, from 0 to about 1."""
    pace = conditions.pace
    if conditions.curve in ("exponential", "fast"):
        return np.asarray((1 - np.exp(-pace * t)) / (1 - np.exp(-max(pace, 1e-9))))
    middle = float(rng.uniform(0.35, 0.6)) if conditions.curve == "slow-start" else float(rng.uniform(0.15, 0.5))
    pace = max(pace, 5.0)
    curve = 1 / (1 + np.exp(-pace * (t - middle)))
    first, last = 1 / (1 + np.exp(pace * middle)), 1 / (1 + np.exp(-pace * (1 - middle)))
    return np.asarray((curve - first) / (last - first))


def _drift(rng: np.random.Generator, t: NDArray[np.float64], conditions: Conditions) -> NDArray[np.float64]:
    """sqrt(KL): a power of time, or a damped approach to the target of an adaptive coefficient."""
    if conditions.target is not None:
        level = conditions.target / conditions.length
        swing = 1 + float(rng.uniform(0.1, 0.4)) * np.exp(-4 * t) * np.sin(float(rng.uniform(10, 25)) * t)
        kl = level * (1 - np.exp(-float(rng.uniform(8, 20)) * t)) * swing
    else:
        kl = conditions.drift * t**conditions.convexity
    return np.sqrt(np.maximum(kl, 0))


def _critic(rng: np.random.Generator, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Value loss: falls fast, then stays, or rises a little with the spread of the rewards."""
    left = float(rng.uniform(0.15, 0.6))
    wander = 1 + 0.15 * autocorrelated(rng, len(t), 0.95) * min(1.0, len(t) / 50)
    falls = left + (1 - left) * np.exp(-float(rng.uniform(4, 20)) * t)
    return np.asarray(falls * (1 + float(rng.uniform(0, 0.5)) * t) * np.clip(wander, 0.6, 1.6))


def _rate(t: NDArray[np.float64], conditions: Conditions) -> NDArray[np.float64]:
    rate = np.full(len(t), conditions.learning_rate)
    if conditions.warmup:
        rate *= np.minimum(1.0, t / conditions.warmup)
    if conditions.decay:
        rate *= np.where(t > conditions.warmup, 1 - 0.98 * (t - conditions.warmup) / (1 - conditions.warmup), 1.0)
    return rate
