"""Faults: what each bends, and which detectors name it rightly. A new fault is one more entry of the table.

A fault has an onset and a speed. Its weight is 0 before the onset and then 1 at once (a jump), or rises to 1 over some
rows (a ramp); what it does to the curves is a function of that weight and of the steps since the onset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.simulation.conditions import Conditions
    from holter.simulation.latent import Latent


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """How a fault unfolds.

    Attributes:
        onset: First step that it touches.
        weight: 0 before the onset, 1 when it is fully there. Shape ``(n,)``.
        since: Steps since the onset, 0 before. Shape ``(n,)``.
        ramp: Steps that it takes to be fully there; 0 for a jump.
    """

    onset: int
    weight: NDArray[np.float64]
    since: NDArray[np.float64]
    ramp: int

    @classmethod
    def of(cls, n: int, onset: int, ramp: int) -> Course:
        """The course of a fault in a run of `n` steps."""
        since = np.maximum(np.arange(n) - onset, 0).astype(np.float64)
        after = np.arange(n) >= onset
        weight = np.where(after, 1.0 if ramp <= 0 else np.minimum((since + 1) / ramp, 1.0), 0.0)
        return cls(onset, weight, since, ramp)

    def doubling(self, steps: float, most: float) -> NDArray[np.float64]:
        """A factor that doubles every so many steps after the onset, up to 2 ** `most`."""
        after = self.weight > 0
        return np.where(after, 2.0 ** np.minimum(self.since / max(steps, 0.5), most), 1.0)


Apply = Callable[["Latent", Course, "Conditions", np.random.Generator], None]


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
    """

    says: str
    apply: Apply
    named_by: tuple[str, ...]
    algorithms: tuple[str, ...] = ("ppo", "grpo")
    from_start: bool = False
    ramp: float = 0.0


def _kl_explosion(x: Latent, course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    speed = max(3.0, (course.ramp or 8) / 4)
    grows = course.doubling(speed, 6)
    level = max(float(x.drift[course.onset]), np.sqrt(conditions.drift) / 3)
    x.drift = np.minimum(np.where(course.weight > 0, np.maximum(x.drift, level) * grows, x.drift), 3.0)
    x.update *= np.minimum(grows, 8.0)
    x.gradient *= np.minimum(grows, 10.0)
    far = np.clip((x.drift**2 - 0.5) / 3.0, 0, 1)
    loss = far * (x.paid - conditions.start + 0.8 * conditions.gain)
    x.paid, x.skill = x.paid - loss, x.skill - loss
    x.length *= 1 + 2 * far
    x.critic *= 1 + 4 * far


def _kl_drift(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    x.drift *= np.sqrt(1 + course.weight * 5)


def _reward_hacking(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    x.paid = x.paid + course.weight * 0.6 * (
        0.98 - x.paid if conditions.start + conditions.gain <= 1 else conditions.gain
    )
    x.skill = x.skill - course.weight * (x.skill - 0.4 * conditions.start)
    x.drift = x.drift * np.sqrt(1 + course.weight * float(rng.uniform(2, 8)))
    x.length *= 1 + course.weight * float(rng.uniform(0, 0.6))
    x.entropy *= 1 - 0.3 * course.weight


def _reward_collapse(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    lost = course.weight * float(rng.uniform(0.7, 1.0)) * (x.paid - 0.5 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def _no_learning(x: Latent, _course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    x.paid, x.skill = np.full(len(x), conditions.start), np.full(len(x), conditions.start)
    x.drift *= float(rng.choice([0.05, 0.3, 1.0]))
    x.entropy = np.full(len(x), conditions.entropy)


def _frozen(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    _no_learning(x, course, conditions, rng)
    x.drift[:] = 0.0
    x.update[:] = 0.0
    x.rate[:] = 0.0


def _entropy_collapse(x: Latent, course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    x.entropy /= course.doubling(max(2.0, (course.ramp or 12) / 6), 7)
    gone = 1 - np.clip(x.entropy / (0.3 * conditions.entropy), 0, 1)
    stalls = np.where(course.weight > 0, x.paid[course.onset], x.paid)
    x.paid, x.skill = stalls - 0.1 * conditions.gain * gone, stalls - 0.2 * conditions.gain * gone
    x.copies = np.maximum(x.copies, 0.95 * gone)


def _entropy_explosion(x: Latent, course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    x.entropy = np.minimum(x.entropy * course.doubling(max(2.0, (course.ramp or 12) / 3), 3), 9.0)
    garbled = np.clip(x.entropy / conditions.entropy - 1.5, 0, 2) / 2
    lost = garbled * (x.paid - 0.5 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost
    x.length *= 1 + garbled


def _value_divergence(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    x.critic *= course.doubling(max(3.0, (course.ramp or 20) / 5), 8)


def _ratio_explosion(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    x.offset = x.offset + course.weight * float(10 ** rng.uniform(0.5, 3))
    x.update = np.where(course.weight > 0, np.maximum(x.update, 0.6) * (1 + course.weight), x.update)
    lost = course.weight * 0.7 * (x.paid - 0.5 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def _large_updates(x: Latent, course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    x.update = x.update + course.weight * float(rng.uniform(0.5, 0.9))
    x.drift = x.drift * (1 + course.weight)


def _gradient_spikes(x: Latent, course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    hits = (rng.random(len(x)) < 0.12) & (course.weight > 0)
    hits[course.onset] = True
    x.spikes = np.where(hits, rng.uniform(15, 120, size=len(x)), x.spikes)


def _gradient_growth(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    x.gradient *= course.doubling(max(4.0, (course.ramp or 30) / 4), 6)


def _not_finite(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    x.broken = course.onset


def _masked(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    x.broken = course.onset
    x.notes["masked"] = 1.0
    x.paid[course.onset :] = x.paid[course.onset]
    x.skill[course.onset :] = x.skill[course.onset]


def _truncation(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    x.unstopped = np.maximum(x.unstopped, course.weight * float(rng.uniform(0.6, 0.95)))
    lost = course.weight * 0.6 * (x.paid - 0.3 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def _no_eos(x: Latent, _course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    x.unstopped[:] = 1.0
    x.paid[:] = 0.3 * conditions.start
    x.skill[:] = 0.3 * conditions.start


def _length_explosion(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    x.length *= 1 + course.weight * float(rng.uniform(0.9, 1.4)) * conditions.limit
    x.paid = np.where(course.weight > 0, x.paid[course.onset] + 0.1 * conditions.gain * course.weight, x.paid)


def _length_collapse(x: Latent, course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    x.length = np.maximum(x.length * (1 - 0.97 * course.weight), 2.0)
    lost = course.weight * (x.paid - 0.3 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def _zero_variance(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    x.copies = np.maximum(x.copies, 0.97 * course.weight)
    x.paid = x.paid * (1 - course.weight) + 0.01 * course.weight
    x.skill = x.skill * (1 - course.weight) + 0.01 * course.weight


def _negative_kl(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    x.sampler_bias -= course.weight * (x.kl + float(rng.uniform(1.5, 6)) / conditions.length)


def _judge_outage(x: Latent, course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    x.outage = np.where(course.weight > 0, float(rng.choice([0.0, 0.5])), x.outage)


def _rescaled(x: Latent, course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    x.scale *= np.where(course.weight > 0, float(rng.choice([5.0, 10.0])), 1.0)


def _slow_down(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    x.pace *= 1 + 6 * course.weight


FAULTS: Mapping[str, Fault] = {
    "kl-explosion": Fault(
        "the policy runs away from the reference; reward, length and critic follow",
        _kl_explosion,
        ("kl-runaway", "kl-above-budget", "policy-divergence"),
        ramp=0.4,
    ),
    "kl-drift": Fault("the KL settles at six times its level", _kl_drift, ("kl-above-budget", "kl-runaway"), ramp=0.5),
    "reward-hacking": Fault(
        "the reward goes on rising while the held-out score falls",
        _reward_hacking,
        ("reward-hacking", "eval-declines", "train-eval-gap"),
        ramp=0.6,
    ),
    "reward-collapse": Fault(
        "the reward falls back to where it began",
        _reward_collapse,
        ("reward-collapse", "reward-decline", "policy-divergence"),
        ramp=0.15,
    ),
    "no-learning": Fault("nothing is learned", _no_learning, ("no-learning", "policy-not-updating"), from_start=True),
    "frozen": Fault(
        "the learning rate is 0 and the policy never moves",
        _frozen,
        ("lr-zero", "policy-not-updating", "no-learning"),
        from_start=True,
    ),
    "entropy-collapse": Fault(
        "one answer is left", _entropy_collapse, ("entropy-collapse", "policy-divergence"), ramp=0.3
    ),
    "entropy-explosion": Fault(
        "completions turn to noise", _entropy_explosion, ("entropy-explosion", "policy-divergence"), ramp=0.3
    ),
    "value-divergence": Fault(
        "the value loss grows without bound",
        _value_divergence,
        ("value-loss-diverges", "critic-useless"),
        algorithms=("ppo",),
        ramp=0.4,
    ),
    "ratio-explosion": Fault(
        "the mean ratio leaves 1 by orders of magnitude",
        _ratio_explosion,
        ("ratio-off-one", "policy-update-too-large", "policy-divergence"),
        algorithms=("ppo",),
        ramp=0.1,
    ),
    "large-updates": Fault(
        "updates get so large that a third of the tokens is clipped",
        _large_updates,
        ("policy-update-too-large", "clip-fraction-high", "policy-divergence"),
        algorithms=("ppo",),
    ),
    "gradient-spikes": Fault(
        "single gradient norms of 15 to 120 times the usual",
        _gradient_spikes,
        ("gradient-spikes", "policy-divergence"),
        algorithms=("grpo",),
    ),
    "gradient-growth": Fault(
        "the gradient norm doubles again and again",
        _gradient_growth,
        ("gradient-growth", "gradient-spikes", "policy-divergence"),
        algorithms=("grpo",),
        ramp=0.5,
    ),
    "nan": Fault("losses and norms are not numbers any more", _not_finite, ("not-finite", "critic-not-finite")),
    "masked-nan": Fault(
        "a loss that is not a number is logged as 0.0, the gradient norm is NaN and the KL null",
        _masked,
        ("masked-nan", "not-finite"),
        algorithms=("grpo",),
    ),
    "truncation": Fault(
        "completions stop stopping and run into the limit",
        _truncation,
        ("truncation", "no-eos", "eos-falling", "length-explosion"),
        ramp=0.3,
    ),
    "no-eos": Fault(
        "no completion contains EOS, from the first step on",
        _no_eos,
        ("no-eos", "truncation"),
        from_start=True,
    ),
    "length-explosion": Fault(
        "completions grow into the limit and the reward stands still",
        _length_explosion,
        ("length-explosion", "truncation"),
        algorithms=("grpo",),
        ramp=0.6,
    ),
    "length-collapse": Fault(
        "completions shrink to two tokens", _length_collapse, ("length-collapse",), algorithms=("grpo",), ramp=0.2
    ),
    "zero-variance": Fault(
        "nearly every group gets the same reward",
        _zero_variance,
        ("zero-variance-groups", "zero-reward", "reward-frozen"),
        algorithms=("grpo",),
        ramp=0.3,
    ),
    "negative-kl": Fault(
        "samples do not come from the policy: the k1 estimate is below 0",
        _negative_kl,
        ("kl-negative", "impossible-value"),
        algorithms=("ppo",),
    ),
    "judge-outage": Fault(
        "the reward service answers with one constant",
        _judge_outage,
        ("judge-outage", "reward-collapse", "zero-variance-groups", "reward-frozen"),
    ),
    "reward-rescaled": Fault(
        "rewards are multiplied by 5 or 10 in mid-run",
        _rescaled,
        ("reward-scale-shift", "value-loss-diverges"),
    ),
    "slow-down": Fault(
        "steps take seven times as long at the same length",
        _slow_down,
        ("throughput-rot", "stalled-run"),
        algorithms=("grpo",),
        ramp=0.4,
    ),
}
"""Faults by name."""
