"""What a healthy run is like: its shape, size, noise and how it was logged. Families are named sets of such conditions.

Every family is healthy. Together they hold what makes naive rules cry wolf: convex KL, spent entropy, slow starts, dips,
solved tasks, smoothed or sparse logs, resumes, base models that learn to stop, reasoning that grows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np


HORIZON = 10_000.0
"""Horizon of an adaptive KL coefficient in episodes, as Ziegler et al. (2019) have it."""
QUICK_HORIZON = 1_000.0
"""One in which the coefficient can double within some fifty updates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Parameters of a healthy run.

    Attributes:
        curve: Learning curve: ``exponential``, ``sigmoid``, ``slow-start``, ``fast``.
        pace: Steepness of the curve, in units of the run's length.
        start: Success rate, or score in units of the reward's spread, at the beginning.
        gain: What the run gains, in the same units.
        noise: Factor on the spread of batch means.
        rho: Correlation of neighbouring rows.
        tail: Standard deviation of the logarithm of the gradient norm.
        dips: Passing falls of the reward.
        beta: KL coefficient; 0 logs no KL (GRPO).
        target: KL target in nats/sequence of an adaptive coefficient; None keeps it fixed.
        horizon: Episodes in which that coefficient can change by a fifth.
        drift: KL at the end, nats/token.
        convexity: KL grows as this power of progress in steps; below 1 it saturates.
        entropy: At the beginning, nats/token.
        entropy_left: Share of it that is left at the end.
        length: Mean completion length at the beginning, tokens.
        growth: Factor on the length by the end.
        limit: Length limit, as a multiple of the initial length.
        unstopped: Share of completions that do not stop yet at the beginning (base models).
        group: Completions per prompt.
        prompts: Prompts per batch.
        difficulty: How unequal prompts are: 0 all alike, large values always-or-never.
        iterations: Updates per batch of completions.
        learning_rate: Peak learning rate.
        warmup: Share of the run in which it rises.
        decay: Whether it decays to 0 over the run.
        value_noise: Standard deviation of the logarithm of the value loss.
        evaluate: Rows between evaluations; 0: none.
        items: Held-out prompts of one evaluation.
        gap: How much better an evaluation's success rate is than training's.
        every: Optimizer steps a logged row; rows are means over them.
        smoothing: Weight of the past in an exponentially smoothed log; 0 logs raw values.
        resumes: Number of times that the run was resumed from an earlier step.
        instrumented: Whether what TRL does not log is logged as well: sampler against trainer, advantages, unscored rewards.
        rows: Length that the family asks for; None leaves it to the caller.
    """

    curve: str = "exponential"
    pace: float = 3.0
    start: float = 0.2
    gain: float = 0.4
    noise: float = 1.0
    rho: float = 0.2
    tail: float = 0.25
    dips: int = 0
    beta: float = 0.04
    target: float | None = None
    horizon: float = HORIZON
    drift: float = 0.1
    convexity: float = 1.7
    entropy: float = 1.2
    entropy_left: float = 0.6
    length: float = 180.0
    growth: float = 1.2
    limit: float = 4.0
    unstopped: float = 0.0
    group: int = 8
    prompts: int = 16
    difficulty: float = 1.0
    iterations: int = 1
    learning_rate: float = 1e-6
    warmup: float = 0.02
    decay: bool = True
    value_noise: float = 0.2
    evaluate: int = 0
    items: int = 200
    gap: float = 0.05
    every: int = 1
    smoothing: float = 0.0
    resumes: int = 0
    instrumented: bool = False
    rows: int | None = None


def _drawn(rng: np.random.Generator) -> Conditions:
    """The middle of the road: every parameter drawn from the range that real healthy runs show."""
    start = float(rng.uniform(0.05, 0.4))
    return Conditions(
        curve=str(rng.choice(["exponential", "sigmoid"])),
        pace=float(rng.uniform(1.5, 6)),
        start=start,
        gain=float(rng.uniform(0.15, 0.9 - start)),
        noise=float(rng.uniform(0.8, 1.3)),
        rho=float(rng.uniform(0, 0.5)),
        tail=float(rng.uniform(0.1, 0.4)),
        drift=float(10 ** rng.uniform(-2.5, -0.7)),
        convexity=float(rng.choice([0.6, 1.0, 1.5, 2.0])),
        entropy=float(rng.uniform(0.3, 2.5)),
        entropy_left=float(rng.uniform(0.35, 1.0)),
        length=float(10 ** rng.uniform(1.3, 3.0)),
        growth=float(rng.uniform(0.8, 1.5)),
        limit=float(rng.uniform(3, 6)),
        group=int(rng.choice([4, 8, 16])),
        prompts=int(rng.choice([8, 16, 32])),
        difficulty=float(rng.uniform(0.5, 2)),
        learning_rate=float(10 ** rng.uniform(-6.5, -5)),
        warmup=float(rng.choice([0.0, 0.03, 0.1])),
        decay=bool(rng.random() < 0.6),
        value_noise=float(rng.uniform(0.1, 0.3)),
    )


def _with(**changes: object) -> Callable[[np.random.Generator], Conditions]:
    return lambda rng: replace(_drawn(rng), **changes)  # type: ignore[arg-type]


FAMILIES: Mapping[str, Callable[[np.random.Generator], Conditions]] = {
    "plain": _drawn,
    "adaptive-kl": lambda rng: replace(_drawn(rng), target=6.0, beta=float(rng.uniform(0.02, 0.2))),
    "no-kl": _with(beta=0.0),
    "noisy": lambda rng: replace(_drawn(rng), noise=float(rng.uniform(2, 3.5)), group=4, prompts=8, tail=0.5),
    "slow-start": lambda rng: replace(_drawn(rng), curve="slow-start", pace=float(rng.uniform(10, 25))),
    "converged": lambda rng: replace(_drawn(rng), curve="fast", pace=float(rng.uniform(8, 20))),
    "solved": lambda rng: replace(
        _drawn(rng), curve="fast", pace=float(rng.uniform(5, 15)), start=0.3, gain=0.67, difficulty=0.6
    ),
    "dips": lambda rng: replace(_drawn(rng), dips=int(rng.integers(1, 4))),
    "short": lambda rng: replace(_drawn(rng), rows=int(rng.integers(5, 40))),
    "sparse": lambda rng: replace(_drawn(rng), every=int(rng.choice([5, 10]))),
    "smoothed": lambda rng: replace(_drawn(rng), smoothing=float(rng.uniform(0.6, 0.95))),
    "resumed": lambda rng: replace(_drawn(rng), resumes=int(rng.integers(1, 3))),
    "evaluated": lambda rng: replace(
        _drawn(rng), evaluate=int(rng.choice([5, 10, 20])), items=int(rng.choice([64, 200, 1000]))
    ),
    "low-entropy": lambda rng: replace(_drawn(rng), entropy=float(rng.uniform(0.05, 0.3))),
    "reasoning": lambda rng: replace(
        _drawn(rng), growth=float(rng.uniform(1.8, 3)), limit=12.0, curve="exponential", pace=1.5
    ),
    "base-model": lambda rng: replace(_drawn(rng), unstopped=float(rng.uniform(0.3, 0.7))),
    "off-policy": lambda rng: replace(_drawn(rng), iterations=int(rng.choice([2, 4]))),
    "instrumented": lambda rng: replace(
        _drawn(rng),
        instrumented=True,
        evaluate=10,
        growth=1.0,
        target=6.0,
        horizon=QUICK_HORIZON,
        beta=float(rng.uniform(0.02, 0.2)),
    ),
}
"""Families by name. ``plain`` stands for an ordinary run."""
