"""Signals of entropy."""

from __future__ import annotations

from holter.signals.base import Estimator, Reduction, Signal, Unit

OBJECTIVE_ENTROPY = Signal(
    key="objective/entropy",
    concept="entropy",
    title="Entropy per sequence",
    unit=Unit.NATS_PER_SEQUENCE,
    reduction=Reduction.SEQUENCE_SUM,
    estimator=Estimator.MONTE_CARLO,
    rank=2,
    what="Surprisal -log p of the sampled tokens summed over the response, mean over sequences.",
    healthy="",
)
POLICY_ENTROPY_AVG = Signal(
    key="policy/entropy_avg",
    concept="entropy",
    title="Entropy during the update",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.PADDED,
    estimator=Estimator.EXACT,
    low=0.0,
    rank=1,
    what="Mean softmax entropy during the update (TRL PPO: padding counted).",
    healthy="",
)
ENTROPY = Signal(
    key="entropy",
    concept="entropy",
    title="Entropy",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.EXACT,
    low=0.0,
    what="Mean softmax entropy per response token.",
    healthy="",
)
LOSS_ENTROPY_AVG = Signal(
    key="loss/entropy_avg",
    concept="entropy_loss",
    title="Entropy bonus in the loss",
    unit=Unit.NUMBER,
    what="Entropy bonus with its coefficient (positive).",
    healthy="",
)
ENTROPY_COEF = Signal(
    key="entropy_coef",
    concept="entropy_coef",
    title="Entropy coefficient",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    low=0.0,
    what="Current entropy coefficient.",
    healthy="",
)
