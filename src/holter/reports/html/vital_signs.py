"""Which series are drawn in which strip: the vital signs in the order in which a reader looks at them.

A strip holds series of one unit, so that one axis fits them all. What belongs to no vital sign is drawn after them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.runs.run import Run, Series

MOST_IN_STRIP = 6
"""Lines that can be told apart in one strip; further ones get a strip of their own."""
OTHER = "other"
"""The vital sign of everything else."""


@dataclass(frozen=True, slots=True)
class VitalSign:
    """A family of strips.

    Attributes:
        id: Short name.
        title: What it is called on the page; goes through the catalogue there.
        slots: Concepts that share a strip where their units agree, in the order of the strips.
        brief: Those of them that are shown where there is little room, in a terminal.
    """

    id: str
    title: str
    slots: tuple[tuple[str, ...], ...]
    brief: tuple[str, ...] = ()


VITAL_SIGNS = (
    VitalSign(
        "reward",
        "Reward and held-out score",
        (
            ("reward", "reward_penalised", "eval_reward"),
            ("eval_score", "eval_alignment", "eval_avg_at_k"),
            ("eval_accuracy", "eval_preference_accuracy", "eval_pass_at_k", "eval_maj_at_k", "accuracy"),
            ("reward_component",),
            ("reward_group_spread", "reward_spread"),
            ("kl_penalty",),
        ),
        ("reward", "eval_score"),
    ),
    VitalSign("kl", "KL to the reference policy", (("ref_kl",), ("kl_coef",)), ("ref_kl",)),
    VitalSign("entropy", "Entropy", (("entropy",),), ("entropy",)),
    VitalSign(
        "loss",
        "Losses",
        (("policy_loss",), ("value_loss",), ("explained_variance",), ("total_loss",), ("kl_loss",)),
        ("policy_loss", "value_loss", "total_loss"),
    ),
    VitalSign(
        "update",
        "Ratio, clip fraction and size of an update",
        (
            ("ratio", "ratio_max", "ratio_min"),
            ("clip_fraction", "clip_fraction_high", "clip_fraction_low"),
            ("value_clip_fraction",),
            ("policy_kl",),
        ),
        ("clip_fraction", "policy_kl"),
    ),
    VitalSign(
        "completion",
        "Completion length and truncation",
        (("length", "length_median", "terminated_length"), ("truncation", "eos_fraction", "repetition")),
        ("length", "truncation"),
    ),
    VitalSign("group", "Groups", (("zero_std_groups", "groups_solved", "groups_failed"),)),
    VitalSign("gradient", "Gradient and learning rate", (("grad_norm", "critic_grad_norm"), ("lr",)), ("grad_norm",)),
    VitalSign(
        "sampling",
        "Sampler and trainer",
        (("mismatch", "mismatch_kl"), ("sampler_ratio",), ("mismatch_ess",), ("staleness",)),
    ),
)


@dataclass(frozen=True, slots=True)
class Strip:
    """One strip of a page.

    Attributes:
        id: The same in every run, so that runs can be laid over each other: vital sign, what it shows, unit.
        sign: Identifier of its vital sign; `OTHER` for none.
        series: What it shows, all in one unit.
    """

    id: str
    sign: str
    series: tuple[Series, ...]


def strips(run: Run) -> list[Strip]:
    """The strips of a run; every series that holds a value, but for counters of steps, is in exactly one."""
    out: list[Strip] = []
    drawn: set[str] = set()
    for sign in VITAL_SIGNS:
        for slot in sign.slots:
            by_unit: dict[str, list[Series]] = {}
            for each in _of(run, slot):
                if each.key not in drawn and len(by_unit.setdefault(str(each.unit), [])) < MOST_IN_STRIP:
                    by_unit[str(each.unit)].append(each)
                    drawn.add(each.key)
            out += [Strip(f"{sign.id}/{slot[0]}/{unit}", sign.id, tuple(s)) for unit, s in by_unit.items() if s]
    rest = [s for k, s in sorted(run.series.items()) if k not in drawn and len(s) and s.concept != "axis"]
    return out + [Strip(f"{OTHER}/{s.key}", OTHER, (s,)) for s in rest]


def _of(run: Run, concepts: tuple[str, ...]) -> Iterator[Series]:
    """What was measured in training before what was held out; of one concept the best first."""
    for split in Split:
        for concept in concepts:
            yield from run.all(concept, split)
