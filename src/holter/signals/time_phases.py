"""The parts of a training step's time: what `time/train` and the time between rollout and update are made of."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

_OURS = ("holter.trainers",)


def _phase(key: str, concept: str, title: str, what: str, healthy: str) -> Signal:
    return Signal(
        key=key,
        concept=concept,
        title=title,
        unit=Unit.SECONDS,
        reduction=Reduction.SUM,
        sign="Lower is faster.",
        low=0.0,
        what=what,
        formula="sum over the step, in seconds of wall time",
        healthy=healthy,
        differs="TRL has no such metric.",
        moves_with=("time/train", "step_time", "completions/mean_length"),
        sources=_OURS,
    )


TIME_REFERENCE = _phase(
    "time/reference",
    "time_reference",
    "Time of the reference policy",
    "Wall time spent on log-probabilities under the frozen reference policy, in PPO of values and rewards models too.",
    "Below the forward pass of the policy, which has to keep what the backward pass needs.",
)
TIME_FORWARD = _phase(
    "time/forward",
    "time_forward",
    "Time of the forward passes",
    "Wall time spent on forward passes and the loss of one step, measuring included.",
    "Steady at a given number of tokens.",
)
TIME_BACKWARD = _phase(
    "time/backward",
    "time_backward",
    "Time of the backward passes",
    "Wall time spent on backward passes of one step.",
    "About twice the forward passes; three times with gradient checkpointing.",
)
TIME_OPTIMIZER = _phase(
    "time/optimizer",
    "time_optimizer",
    "Time of the optimizer",
    "Wall time spent on updating the parameters in one step.",
    "Constant: it depends on the number of parameters, not on the data.",
)
