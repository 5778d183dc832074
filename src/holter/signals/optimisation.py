"""Signals of optimisation."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

LR = Signal(
    key="lr",
    concept="lr",
    title="Learning rate",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    low=0.0,
    what="Policy learning rate.",
    healthy="",
)
GRAD_NORM = Signal(
    key="grad_norm",
    concept="grad_norm",
    title="Gradient norm",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    low=0.0,
    what="Policy gradient norm before clipping.",
    healthy="",
)
CRITIC_GRAD_NORM = Signal(
    key="critic/grad_norm",
    concept="critic_grad_norm",
    title="Gradient norm of the value model",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    low=0.0,
    what="Value-network gradient norm.",
    healthy="",
)
CRITIC_LR = Signal(
    key="critic/lr",
    concept="critic_lr",
    title="Learning rate of the value model",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    low=0.0,
    what="Value-network learning rate.",
    healthy="",
)
HEALTH_UPDATE_SKIPPED = Signal(
    key="health/update_skipped",
    concept="update_skipped",
    title="Fraction of skipped updates",
    unit=Unit.FRACTION,
    low=0.0,
    high=1.0,
    what="Share of optimizer updates dropped.",
    healthy="",
)
