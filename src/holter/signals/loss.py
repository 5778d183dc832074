"""Signals of loss."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

LOSS_POLICY_AVG = Signal(
    key="loss/policy_avg",
    concept="policy_loss",
    title="Policy loss",
    unit=Unit.NUMBER,
    reduction=Reduction.TOKEN,
    what="Clipped policy loss (minimised: negative surrogate).",
    healthy="",
)
LOSS_VALUE_AVG = Signal(
    key="loss/value_avg",
    concept="value_loss",
    title="Value loss",
    unit=Unit.REWARD_SQUARED,
    reduction=Reduction.TOKEN,
    low=0.0,
    what="0.5 * clipped squared value error, before vf_coef.",
    healthy="",
)
LOSS = Signal(
    key="loss",
    concept="total_loss",
    title="Total loss",
    unit=Unit.NUMBER,
    reduction=Reduction.MICRO_BATCH,
    what="Total loss that is minimised.",
    healthy="",
)
LOSS_AUX = Signal(
    key="loss/aux",
    concept="aux_loss",
    title="Auxiliary loss",
    unit=Unit.NUMBER,
    what="Router, pretraining-mix or other auxiliary loss.",
    healthy="",
)
