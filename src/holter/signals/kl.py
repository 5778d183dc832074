"""Signals of kl."""

from __future__ import annotations

from holter.signals.base import Estimator, Reduction, Signal, Unit

OBJECTIVE_KL = Signal(
    key="objective/kl",
    concept="ref_kl",
    title="KL to the reference policy per sequence",
    unit=Unit.NATS_PER_SEQUENCE,
    reduction=Reduction.SEQUENCE_SUM,
    estimator=Estimator.K1,
    rank=1,
    what="KL(policy||reference), summed over response tokens, mean over sequences.",
    healthy="",
)
OBJECTIVE_NON_SCORE_REWARD = Signal(
    key="objective/non_score_reward",
    concept="kl_penalty",
    title="KL penalty in the reward",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    what="KL part of the reward, -kl_coef*KL summed over tokens; negative when KL is positive.",
    healthy="",
)
KL = Signal(
    key="kl",
    concept="ref_kl",
    title="KL to the reference policy",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K3,
    what="KL(policy||reference) per response token.",
    healthy="",
)
LOSS_KL_AVG = Signal(
    key="loss/kl_avg",
    concept="kl_loss",
    title="KL term of the loss",
    unit=Unit.NUMBER,
    what="KL loss term with its coefficient.",
    healthy="",
)
KL_COEF = Signal(
    key="objective/kl_coef",
    concept="kl_coef",
    title="KL coefficient",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    low=0.0,
    what="Current KL coefficient.",
    healthy="",
)
