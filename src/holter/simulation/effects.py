"""What each fault does to the curves of a run, in place.

A fault is only planted where a person would call the run sick: what it bends is also bent far enough to be seen beside the
curve's own noise, or does visible harm. How far is far comes from what is published, not from what detectors notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.simulation.conditions import Conditions
    from holter.simulation.course import Course
    from holter.simulation.latent import Latent


FAR_TOKEN, FAR_SEQUENCE = 0.3, 40.0
"""KL to the reference that counts as far, nats/token and nats/sequence: twice the highest of published healthy runs, and four
times the upper end of what TRL's guide calls ideal."""


def _far(conditions: Conditions) -> float:
    """KL that is far in both units, nats/token."""
    return max(FAR_TOKEN, FAR_SEQUENCE / conditions.length)


def _stalled(curve: NDArray[np.float64], course: Course) -> NDArray[np.float64]:
    """A curve that stays where it was when the fault began."""
    return np.where(course.weight > 0, curve[course.onset], curve)


def kl_explosion(x: Latent, course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    """The distance to the reference doubles again and again; far out, text, reward and critic go with it."""
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


def kl_drift(x: Latent, course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    """KL settles at six times its level, where that is far from the reference, and the policy is not paid for it."""
    far = max(6 * float(x.kl[course.onset]), _far(conditions))
    x.drift = np.sqrt(x.kl + course.weight * np.maximum(far - x.kl, 0.0))
    x.paid, x.skill = _stalled(x.paid, course), _stalled(x.skill, course)


def reward_hacking(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """The reward nears its ceiling while what it stands for falls below where it began."""
    x.paid = x.paid + course.weight * 0.6 * (
        0.98 - x.paid if conditions.start + conditions.gain <= 1 else conditions.gain
    )
    x.skill = x.skill - course.weight * (x.skill - 0.4 * conditions.start)
    x.drift = x.drift * np.sqrt(1 + course.weight * float(rng.uniform(2, 8)))
    x.length *= 1 + course.weight * float(rng.uniform(0, 0.6))
    x.entropy *= 1 - 0.3 * course.weight


def reward_collapse(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """Seven tenths or more of the way back to half of the first level is lost."""
    lost = course.weight * float(rng.uniform(0.7, 1.0)) * (x.paid - 0.5 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def no_learning(x: Latent, _course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """Reward and entropy stay where they began, while the policy moves a little, less or not."""
    x.paid, x.skill = np.full(len(x), conditions.start), np.full(len(x), conditions.start)
    x.drift *= float(rng.choice([0.05, 0.3, 1.0]))
    x.entropy = np.full(len(x), conditions.entropy)


def frozen(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """The learning rate is 0: nothing moves at all."""
    no_learning(x, course, conditions, rng)
    x.drift[:] = 0.0
    x.update[:] = 0.0
    x.rate[:] = 0.0


def entropy_collapse(x: Latent, course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    """Entropy halves again and again; groups agree, and the reward stops rising."""
    x.entropy /= course.doubling(max(2.0, (course.ramp or 12) / 6), 7)
    gone = 1 - np.clip(x.entropy / (0.3 * conditions.entropy), 0, 1)
    stalls = np.where(course.weight > 0, x.paid[course.onset], x.paid)
    x.paid, x.skill = stalls - 0.1 * conditions.gain * gone, stalls - 0.2 * conditions.gain * gone
    x.copies = np.maximum(x.copies, 0.95 * gone)


def entropy_explosion(x: Latent, course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    """Entropy doubles up to eight times its level; completions get garbled, longer, and are paid less."""
    x.entropy = np.minimum(x.entropy * course.doubling(max(2.0, (course.ramp or 12) / 3), 3), 9.0)
    garbled = np.clip(x.entropy / conditions.entropy - 1.5, 0, 2) / 2
    lost = garbled * (x.paid - 0.5 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost
    x.length *= 1 + garbled


def value_divergence(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    """The value loss doubles again and again."""
    x.critic *= course.doubling(max(3.0, (course.ramp or 20) / 5), 8)


def ratio_explosion(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """The mean ratio leaves 1 by half an order of magnitude to three."""
    x.offset = x.offset + course.weight * float(10 ** rng.uniform(0.5, 3))
    x.update = np.where(course.weight > 0, np.maximum(x.update, 0.6) * (1 + course.weight), x.update)
    lost = course.weight * 0.7 * (x.paid - 0.5 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def large_updates(x: Latent, course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    """Log-ratios are spread so widely that a third of the tokens or more is clipped."""
    x.update = x.update + course.weight * float(rng.uniform(0.5, 0.9))
    x.drift = x.drift * (1 + course.weight)


def gradient_spikes(x: Latent, course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    """One step in eight has a gradient norm of 15 to 120 times the usual."""
    hits = (rng.random(len(x)) < 0.12) & (course.weight > 0)
    hits[course.onset] = True
    x.spikes = np.where(hits, rng.uniform(15, 120, size=len(x)), x.spikes)


def gradient_growth(x: Latent, course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    """The norm doubles up to 64 times the usual.

    From eight times on a clipped step is an eighth of a step, in the direction of few tokens: what was learnt stops growing, and
    half of it is lost by the end.
    """
    grows = course.doubling(max(4.0, (course.ramp or 30) / 4), 6)
    x.gradient *= grows
    harm = np.clip((np.log2(grows) - 3) / 3, 0, 1)
    for curve in (x.paid, x.skill):
        reached = np.maximum.accumulate(np.where(harm > 0, -np.inf, curve))
        curve[:] = np.where(harm > 0, reached - 0.5 * harm * (reached - 0.5 * conditions.start), curve)


def not_finite(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    """Losses and norms are no numbers any more."""
    x.broken = course.onset


def masked(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    """The same, shown as a loss of 0.0; nothing is learnt from there on."""
    x.broken = course.onset
    x.notes["masked"] = 1.0
    x.paid[course.onset :] = x.paid[course.onset]
    x.skill[course.onset :] = x.skill[course.onset]


def truncation(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """Three fifths of the completions or more do not stop, and are paid nothing."""
    x.unstopped = np.maximum(x.unstopped, course.weight * float(rng.uniform(0.6, 0.95)))
    lost = course.weight * 0.6 * (x.paid - 0.3 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def no_eos(x: Latent, _course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    """No completion stops, from the first step on."""
    x.unstopped[:] = 1.0
    x.paid[:] = 0.3 * conditions.start
    x.skill[:] = 0.3 * conditions.start


def length_explosion(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """Completions grow to the limit and gain next to nothing."""
    x.length *= 1 + course.weight * float(rng.uniform(0.9, 1.4)) * conditions.limit
    x.paid = np.where(course.weight > 0, x.paid[course.onset] + 0.1 * conditions.gain * course.weight, x.paid)


def length_collapse(x: Latent, course: Course, conditions: Conditions, _rng: np.random.Generator) -> None:
    """Completions shrink to a few tokens and lose what was gained."""
    x.length = np.maximum(x.length * (1 - 0.97 * course.weight), 2.0)
    lost = course.weight * (x.paid - 0.3 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def zero_variance(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    """Nearly all groups agree, at a reward of nearly nothing."""
    x.copies = np.maximum(x.copies, 0.97 * course.weight)
    x.paid = x.paid * (1 - course.weight) + 0.01 * course.weight
    x.skill = x.skill * (1 - course.weight) + 0.01 * course.weight


def negative_kl(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """The k1 estimate lies one and a half to six nats a sequence below 0."""
    x.sampler_bias -= course.weight * (x.kl + float(rng.uniform(1.5, 6)) / conditions.length)


def judge_outage(x: Latent, course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    """The reward is one constant, whatever the completion."""
    x.outage = np.where(course.weight > 0, float(rng.choice([0.0, 0.5])), x.outage)


def rescaled(x: Latent, course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    """Rewards are multiplied by 5 or 10."""
    x.scale *= np.where(course.weight > 0, float(rng.choice([5.0, 10.0])), 1.0)


def slow_down(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    """A token takes seven times as long."""
    x.pace *= 1 + 6 * course.weight


def sampler_mismatch(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """Weights are not synchronised any more: each sampled token is off by a quarter to one nat, and the gradient is biased."""
    x.mismatch = x.mismatch + course.weight * float(rng.uniform(0.25, 1.0))
    lost = course.weight * 0.5 * (x.paid - 0.5 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def other_numerics(x: Latent, _course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """Sampler and trainer compute differently from the first step on; learning is half of what it could be."""
    x.mismatch = x.mismatch + float(rng.uniform(0.15, 0.6))
    x.paid = conditions.start + 0.5 * (x.paid - conditions.start)
    x.skill = x.paid.copy()


def reference_swapped(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """KL is measured against another model from one step on; nothing else changes."""
    x.drift = np.sqrt(x.kl + course.weight * _far(conditions) * float(rng.uniform(1, 3)))


def other_reference(x: Latent, _course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """The policy does not start as the reference."""
    x.drift = np.sqrt(x.kl + _far(conditions) * float(rng.uniform(0.3, 2)))


def stale_rollouts(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """Completions come from a policy of many updates ago: log-ratios are spread by a third of a nat and more."""
    x.stale = x.stale + course.weight * float(rng.uniform(0.35, 0.9))
    lost = course.weight * 0.4 * (x.paid - 0.5 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def rate_jump(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """The learning rate is 10 or 40 times what it was, from one step on; updates grow with it and undo what was learnt."""
    factor = float(rng.choice([10.0, 40.0]))
    base = max(float(x.rate[course.onset]), 0.1 * conditions.learning_rate)
    x.rate = np.where(course.weight > 0, np.maximum(x.rate, base) * factor, x.rate)
    grows = course.doubling(6.0, 3)
    x.update *= np.where(course.weight > 0, 4.0, 1.0)
    x.drift = np.where(course.weight > 0, np.maximum(x.drift, np.sqrt(_far(conditions)) / 4) * grows, x.drift)
    x.gradient *= grows
    lost = (grows - 1) / 7 * 0.7 * (x.paid - 0.5 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def kl_for_nothing(x: Latent, _course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """The policy walks away from the reference at an even pace, and the reward stays where it began."""
    end = _far(conditions) * float(rng.uniform(2, 5))
    x.drift = np.sqrt(end * np.linspace(0, 1, len(x)))
    x.paid, x.skill = np.full(len(x), conditions.start), np.full(len(x), conditions.start)


def controller_saturated(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """KL stays at two and a half to five times its target, however far the adaptive coefficient climbs."""
    level = (conditions.target or 6.0) * float(rng.uniform(2.5, 5)) / x.length
    x.drift = np.sqrt(x.kl + course.weight * np.maximum(level - x.kl, 0.0))


def duplicates(x: Latent, course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    """All completions of a prompt are one and the same, so no group tells anything apart, and learning stops."""
    x.copies = np.maximum(x.copies, course.weight)
    x.paid, x.skill = _stalled(x.paid, course), _stalled(x.skill, course)


def unscored(x: Latent, course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    """A reward function gives no number for some completions; means leave them out, so that only their share shows it."""
    x.unscored = np.maximum(x.unscored, course.weight * float(rng.uniform(0.15, 0.7)))


def first_ratio(x: Latent, _course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    """Policy and sampler differ before the first update: dropout, or another precision. The mean ratio is off 1 throughout."""
    x.offset = x.offset + float(rng.uniform(0.2, 0.8))


def huge_advantages(x: Latent, course: Course, conditions: Conditions, rng: np.random.Generator) -> None:
    """Advantages are divided by next to nothing: 8 to 60 times what normalised ones can be, and the gradient with them."""
    factor = 1 + course.weight * float(rng.uniform(8, 60))
    x.advantage *= factor
    x.gradient *= factor
    lost = course.weight * 0.4 * (x.paid - 0.5 * conditions.start)
    x.paid, x.skill = x.paid - lost, x.skill - lost


def huge_rewards(x: Latent, _course: Course, _conditions: Conditions, rng: np.random.Generator) -> None:
    """Rewards in the hundreds or thousands, as of a sum that was meant to be a mean."""
    x.scale *= float(rng.choice([300.0, 1000.0]))


def two_writers(x: Latent, _course: Course, _conditions: Conditions, _rng: np.random.Generator) -> None:
    """A second process logs its own rows of every other step into the same file."""
    x.notes["writers"] = 2.0
