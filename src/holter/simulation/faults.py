"""Faults: what each bends, and which detectors name it rightly. A new fault is one more entry of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holter.simulation import effects
from holter.simulation.conditions import QUICK_HORIZON

if TYPE_CHECKING:
    import numpy as np

    from holter.simulation.conditions import Conditions
    from holter.simulation.course import Course
    from holter.simulation.latent import Latent

Apply = Callable[["Latent", "Course", "Conditions", "np.random.Generator"], None]
Condition = Callable[["Conditions"], "Conditions"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of trouble.

    Attributes:
        says: What happens, in one line.
        apply: Bends the curves in place.
        named_by: Detectors that name it rightly, any of them.
        algorithms: Algorithms in which it can be planted.
        from_start: Whether it has no onset: it is there from the first step on.
        ramp: Steps until it is fully there, unless the caller says; a share of the rows that are left.
        under: What else has to be true of a run for the fault to happen or to be seen.
    """

    says: str
    apply: Apply
    named_by: tuple[str, ...]
    algorithms: tuple[str, ...] = ("ppo", "grpo")
    from_start: bool = False
    ramp: float = 0.0
    under: Condition = field(default=lambda conditions: conditions)


def _with_kl(conditions: Conditions) -> Conditions:
    return conditions if conditions.beta else replace(conditions, beta=0.04)


def _evaluated(conditions: Conditions) -> Conditions:
    return (
        conditions if conditions.evaluate else replace(conditions, evaluate=10 if (conditions.rows or 60) >= 60 else 5)
    )


def _instrumented(conditions: Conditions) -> Conditions:
    return replace(conditions, instrumented=True)


def _controlled(conditions: Conditions) -> Conditions:
    """An adaptive coefficient that is fast enough to climb within the run."""
    return replace(_instrumented(_with_kl(conditions)), target=conditions.target or 6.0, horizon=QUICK_HORIZON)


FAULTS: Mapping[str, Fault] = {
    "kl-explosion": Fault(
        "the policy runs away from the reference; reward, length and critic follow",
        effects.kl_explosion,
        ("kl-runaway", "kl-above-budget", "policy-divergence"),
        ramp=0.4,
        under=_with_kl,
    ),
    "kl-drift": Fault(
        "the KL settles far away, at six times its level or more, and buys no reward",
        effects.kl_drift,
        ("kl-above-budget", "kl-runaway", "kl-bought-nothing"),
        ramp=0.5,
        under=_with_kl,
    ),
    "reward-hacking": Fault(
        "the reward goes on rising while the held-out score falls",
        effects.reward_hacking,
        ("reward-hacking", "eval-declines", "train-eval-gap"),
        ramp=0.6,
        under=_evaluated,
    ),
    "reward-collapse": Fault(
        "the reward falls back to where it began",
        effects.reward_collapse,
        ("reward-collapse", "reward-decline", "policy-divergence"),
        ramp=0.15,
    ),
    "no-learning": Fault(
        "nothing is learned", effects.no_learning, ("no-learning", "policy-not-updating"), from_start=True
    ),
    "frozen": Fault(
        "the learning rate is 0 and the policy never moves",
        effects.frozen,
        ("lr-zero", "policy-not-updating", "no-learning"),
        from_start=True,
    ),
    "entropy-collapse": Fault(
        "one answer is left", effects.entropy_collapse, ("entropy-collapse", "policy-divergence"), ramp=0.3
    ),
    "entropy-explosion": Fault(
        "completions turn to noise", effects.entropy_explosion, ("entropy-explosion", "policy-divergence"), ramp=0.3
    ),
    "value-divergence": Fault(
        "the value loss grows without bound",
        effects.value_divergence,
        ("value-loss-diverges", "critic-useless"),
        algorithms=("ppo",),
        ramp=0.4,
    ),
    "ratio-explosion": Fault(
        "the mean ratio leaves 1 by orders of magnitude",
        effects.ratio_explosion,
        ("ratio-off-one", "policy-update-too-large", "policy-divergence"),
        algorithms=("ppo",),
        ramp=0.1,
    ),
    "large-updates": Fault(
        "updates get so large that a third of the tokens is clipped",
        effects.large_updates,
        ("policy-update-too-large", "clip-fraction-high", "policy-divergence"),
        algorithms=("ppo",),
    ),
    "gradient-spikes": Fault(
        "single gradient norms of 15 to 120 times the usual",
        effects.gradient_spikes,
        ("gradient-spikes", "policy-divergence"),
        algorithms=("grpo",),
    ),
    "gradient-growth": Fault(
        "the gradient norm doubles again and again, and the reward suffers",
        effects.gradient_growth,
        ("gradient-growth", "gradient-spikes", "policy-divergence"),
        algorithms=("grpo",),
        ramp=0.5,
    ),
    "nan": Fault("losses and norms are not numbers any more", effects.not_finite, ("not-finite", "critic-not-finite")),
    "masked-nan": Fault(
        "a loss that is not a number is logged as 0.0, the gradient norm is NaN and the KL null",
        effects.masked,
        ("masked-nan", "not-finite"),
        algorithms=("grpo",),
    ),
    "truncation": Fault(
        "completions stop stopping and run into the limit",
        effects.truncation,
        ("truncation", "no-eos", "eos-falling", "length-explosion"),
        ramp=0.3,
    ),
    "no-eos": Fault(
        "no completion contains EOS, from the first step on",
        effects.no_eos,
        ("no-eos", "truncation"),
        from_start=True,
    ),
    "length-explosion": Fault(
        "completions grow into the limit and the reward stands still",
        effects.length_explosion,
        ("length-explosion", "truncation"),
        algorithms=("grpo",),
        ramp=0.6,
    ),
    "length-collapse": Fault(
        "completions shrink to two tokens",
        effects.length_collapse,
        ("length-collapse",),
        algorithms=("grpo",),
        ramp=0.2,
    ),
    "zero-variance": Fault(
        "nearly every group gets the same reward",
        effects.zero_variance,
        ("zero-variance-groups", "zero-reward", "reward-frozen"),
        algorithms=("grpo",),
        ramp=0.3,
    ),
    "negative-kl": Fault(
        "samples do not come from the policy: the k1 estimate is below 0",
        effects.negative_kl,
        ("kl-negative", "impossible-value"),
        algorithms=("ppo",),
        under=_with_kl,
    ),
    "judge-outage": Fault(
        "the reward service answers with one constant",
        effects.judge_outage,
        ("judge-outage", "reward-collapse", "zero-variance-groups", "reward-frozen"),
    ),
    "reward-rescaled": Fault(
        "rewards are multiplied by 5 or 10 in mid-run",
        effects.rescaled,
        ("reward-scale-shift", "value-loss-diverges"),
    ),
    "slow-down": Fault(
        "steps take seven times as long at the same length",
        effects.slow_down,
        ("throughput-rot", "stalled-run"),
        algorithms=("grpo",),
        ramp=0.4,
    ),
    "sampler-mismatch": Fault(
        "the sampler's weights are not the trainer's any more",
        effects.sampler_mismatch,
        ("sampler-mismatch",),
        algorithms=("grpo",),
        ramp=0.3,
        under=_instrumented,
    ),
    "other-numerics": Fault(
        "sampler and trainer compute differently, from the first step on",
        effects.other_numerics,
        ("sampler-mismatch",),
        algorithms=("grpo",),
        from_start=True,
        under=_instrumented,
    ),
    "reference-swapped": Fault(
        "the KL is measured against another model from one step on",
        effects.reference_swapped,
        ("kl-runaway", "kl-above-budget", "kl-spike"),
        under=_with_kl,
    ),
    "other-reference": Fault(
        "the policy does not start as the reference",
        effects.other_reference,
        ("kl-nonzero-at-start", "kl-above-budget"),
        from_start=True,
        under=_with_kl,
    ),
    "stale-rollouts": Fault(
        "completions come from a policy of many updates ago",
        effects.stale_rollouts,
        ("policy-update-too-large", "clip-fraction-high", "ratio-off-one", "policy-divergence", "sampler-mismatch"),
        ramp=0.3,
    ),
    "rate-jump": Fault(
        "the learning rate jumps to 10 or 40 times what it was",
        effects.rate_jump,
        ("lr-schedule-fault", "kl-runaway", "policy-update-too-large", "policy-divergence", "reward-collapse"),
    ),
    "kl-for-nothing": Fault(
        "the policy leaves the reference and the reward stays where it began",
        effects.kl_for_nothing,
        ("kl-bought-nothing", "kl-above-budget", "kl-runaway", "no-learning"),
        from_start=True,
        under=_with_kl,
    ),
    "controller-saturated": Fault(
        "the adaptive KL coefficient climbs and climbs, and the KL stays far above its target",
        effects.controller_saturated,
        ("kl-controller-saturated", "kl-above-budget", "kl-runaway"),
        algorithms=("ppo",),
        ramp=0.1,
        under=_controlled,
    ),
    "duplicates": Fault(
        "all completions of a prompt are the same",
        effects.duplicates,
        ("duplicate-completions", "zero-variance-groups", "gradient-zero"),
        algorithms=("grpo",),
    ),
    "unscored": Fault(
        "a reward function gives no number for some completions",
        effects.unscored,
        ("unscored-rewards", "reward-not-finite"),
        under=_instrumented,
    ),
    "first-ratio": Fault(
        "the mean ratio is off 1 before the first update",
        effects.first_ratio,
        ("ratio-off-one-at-first-step", "ratio-off-one", "policy-update-too-large"),
        algorithms=("ppo",),
        from_start=True,
    ),
    "huge-advantages": Fault(
        "advantages are far larger than normalised ones can be",
        effects.huge_advantages,
        ("advantage-too-large", "gradient-growth", "gradient-spikes"),
        algorithms=("grpo",),
        ramp=0.1,
        under=_instrumented,
    ),
    "huge-rewards": Fault(
        "rewards are hundreds of times too large, from the first step on",
        effects.huge_rewards,
        ("reward-scale-large",),
        from_start=True,
    ),
    "two-writers": Fault(
        "two processes log the same steps into one file",
        effects.two_writers,
        ("steps-repeat",),
        from_start=True,
    ),
}
"""Faults by name."""
