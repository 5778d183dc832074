"""Signals of group."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

FRAC_REWARD_ZERO_STD = Signal(
    key="frac_reward_zero_std",
    concept="zero_std_groups",
    title="Fraction of groups without reward spread",
    unit=Unit.FRACTION,
    reduction=Reduction.GROUP,
    low=0.0,
    high=1.0,
    what="Share of prompt groups whose rewards are all equal.",
    healthy="",
)
GROUPS_ALL_SOLVED = Signal(
    key="groups/all_solved",
    concept="groups_solved",
    title="Fraction of groups all solved",
    unit=Unit.FRACTION,
    reduction=Reduction.GROUP,
    low=0.0,
    high=1.0,
    what="Share of groups with every answer right.",
    healthy="",
)
GROUPS_NONE_SOLVED = Signal(
    key="groups/none_solved",
    concept="groups_failed",
    title="Fraction of groups none solved",
    unit=Unit.FRACTION,
    reduction=Reduction.GROUP,
    low=0.0,
    high=1.0,
    what="Share of groups with every answer wrong.",
    healthy="",
)
GROUPS_MIXED = Signal(
    key="groups/mixed",
    concept="groups_mixed",
    title="Fraction of groups partly solved",
    unit=Unit.FRACTION,
    reduction=Reduction.GROUP,
    low=0.0,
    high=1.0,
    what="Share of groups that carry a gradient.",
    healthy="",
)
GROUPS_ALL_SOLVED_COUNT = Signal(
    key="groups/all_solved_count",
    concept="groups_solved_count",
    title="Number of groups all solved",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    low=0.0,
    what="Same as a count.",
    healthy="",
)
GROUPS_NONE_SOLVED_COUNT = Signal(
    key="groups/none_solved_count",
    concept="groups_failed_count",
    title="Number of groups none solved",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    low=0.0,
    what="Same as a count.",
    healthy="",
)
GROUPS_MIXED_COUNT = Signal(
    key="groups/mixed_count",
    concept="groups_mixed_count",
    title="Number of groups partly solved",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    low=0.0,
    what="Same as a count.",
    healthy="",
)
GROUPS_ZERO_STD_COUNT = Signal(
    key="groups/zero_std_count",
    concept="zero_std_groups_count",
    title="Number of groups without reward spread",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    low=0.0,
    what="Groups with equal rewards.",
    healthy="",
)
FILTER_KEPT_RATIO = Signal(
    key="filter/kept_ratio",
    concept="kept_fraction",
    title="Fraction of samples kept",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of sampled groups or rollouts kept for the update.",
    healthy="",
)
FILTER_DROPPED = Signal(
    key="filter/dropped",
    concept="dropped_count",
    title="Number of samples dropped",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    low=0.0,
    what="Samples or groups removed before the update.",
    healthy="",
)
FILTER_GEN_BATCHES = Signal(
    key="filter/gen_batches",
    concept="generation_rounds",
    title="Generation rounds per batch",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    low=0.0,
    what="Generation rounds needed to fill one batch.",
    healthy="",
)
