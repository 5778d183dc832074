"""Signals of reward."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

OBJECTIVE_RLHF_REWARD = Signal(
    key="objective/rlhf_reward",
    concept="reward_penalised",
    title="Reward after the KL penalty",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    what="Score plus KL part (= objective/scores + objective/non_score_reward).",
    healthy="",
)
OBJECTIVE_SCORES = Signal(
    key="objective/scores",
    concept="reward",
    title="Score",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    rank=1,
    what="Reward-model score before the KL part (after the missing-EOS penalty in TRL).",
    healthy="",
)
REWARD = Signal(
    key="reward",
    concept="reward",
    title="Reward",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    what="Mean task reward of the rollouts before any KL part, before group normalisation.",
    healthy="",
)
REWARDS_COMPONENT_MEAN = Signal(
    key="rewards/{name}/mean",
    concept="reward_component",
    title="Mean of one reward function",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    what="Mean of one reward function.",
    healthy="",
)
REWARD_MIN = Signal(
    key="reward/min",
    concept="reward_min",
    title="Smallest reward",
    unit=Unit.REWARD,
    reduction=Reduction.MIN,
    what="Smallest reward in the batch.",
    healthy="",
)
REWARD_MAX = Signal(
    key="reward/max",
    concept="reward_max",
    title="Largest reward",
    unit=Unit.REWARD,
    reduction=Reduction.MAX,
    what="Largest reward in the batch.",
    healthy="",
)
ACCURACY = Signal(
    key="accuracy",
    concept="accuracy",
    title="Accuracy on training prompts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of correct or successful rollouts in training.",
    healthy="",
)
