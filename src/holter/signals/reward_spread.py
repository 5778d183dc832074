"""Signals of reward_spread."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

REWARD_STD = Signal(
    key="reward_std",
    concept="reward_spread",
    title="Reward spread",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    low=0.0,
    what="Spread of rewards; TRL <=0.26 mean within-group std, >=0.27 std of the whole batch.",
    healthy="",
)
REWARDS_COMPONENT_STD = Signal(
    key="rewards/{name}/std",
    concept="reward_component_spread",
    title="Spread of one reward function",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    low=0.0,
    what="Std of one reward function over the batch.",
    healthy="",
)
REWARD_GROUP_STD = Signal(
    key="reward_group_std",
    concept="reward_group_spread",
    title="Reward spread within groups",
    unit=Unit.REWARD,
    reduction=Reduction.GROUP,
    low=0.0,
    what="Mean over prompts of the within-group reward std.",
    healthy="",
)
