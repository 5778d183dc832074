"""Signals of time."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

STEP_TIME = Signal(
    key="step_time",
    concept="step_time",
    title="Time of one step",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    low=0.0,
    what="Wall time of one training step.",
    healthy="",
)
EVAL_TIME = Signal(
    key="eval/time",
    concept="time_eval",
    title="Time of one evaluation",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    low=0.0,
    what="Duration of the evaluation.",
    healthy="",
)
TIME_ROLLOUT = Signal(
    key="time/rollout",
    concept="time_rollout",
    title="Time of the rollout",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    low=0.0,
    what="Generation.",
    healthy="",
)
TIME_REWARD = Signal(
    key="time/reward",
    concept="time_reward",
    title="Time of the rewards",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    low=0.0,
    what="Reward computation.",
    healthy="",
)
TIME_TRAIN = Signal(
    key="time/train",
    concept="time_train",
    title="Time of the policy update",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    low=0.0,
    what="Policy update.",
    healthy="",
)
TIME_WEIGHT_SYNC = Signal(
    key="time/weight_sync",
    concept="time_weight_sync",
    title="Time of the weight transfer",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    low=0.0,
    what="Weight transfer to the sampler.",
    healthy="",
)
TIME_WAIT = Signal(
    key="time/wait",
    concept="time_wait",
    title="Time the trainer waits",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    low=0.0,
    what="Trainer idle.",
    healthy="",
)
TIME_WAIT_RATIO = Signal(
    key="time/wait_ratio",
    concept="time_wait_fraction",
    title="Fraction of time the trainer waits",
    unit=Unit.FRACTION,
    low=0.0,
    high=1.0,
    what="Share of time the trainer is idle.",
    healthy="",
)
TIME_TOTAL = Signal(
    key="time/total",
    concept="time_total",
    title="Time since the start",
    unit=Unit.SECONDS,
    reduction=Reduction.COUNTER,
    low=0.0,
    what="Elapsed since start.",
    healthy="",
)
