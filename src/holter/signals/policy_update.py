"""Signals of policy_update."""

from __future__ import annotations

from holter.signals.base import Estimator, Reduction, Signal, Unit

POLICY_APPROXKL_AVG = Signal(
    key="policy/approxkl_avg",
    concept="policy_kl",
    title="KL of one update",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.PADDED,
    estimator=Estimator.K2,
    low=0.0,
    what="KL(old||new) within the update, k2 in TRL.",
    healthy="",
)
VAL_RATIO = Signal(
    key="val/ratio",
    concept="ratio",
    title="Importance ratio",
    unit=Unit.NUMBER,
    reduction=Reduction.PADDED,
    low=0.0,
    what="Mean importance ratio pi_new/pi_old.",
    healthy="",
)
VAL_RATIO_VAR = Signal(
    key="val/ratio_var",
    concept="ratio_variance",
    title="Variance of the importance ratio",
    unit=Unit.NUMBER,
    low=0.0,
    what="TRL: variance of mini-batch mean ratios, not of tokens.",
    healthy="",
)
POLICY_KL_K1_AVG = Signal(
    key="policy/kl_k1_avg",
    concept="policy_kl",
    title="Signed KL of one update",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K1,
    rank=1,
    what="Mean(logp_old - logp_new), signed k1 of KL(old||new).",
    healthy="",
)
VAL_RATIO_MIN = Signal(
    key="val/ratio_min",
    concept="ratio_min",
    title="Smallest importance ratio",
    unit=Unit.NUMBER,
    reduction=Reduction.MIN,
    low=0.0,
    what="Smallest importance ratio.",
    healthy="",
)
VAL_RATIO_MAX = Signal(
    key="val/ratio_max",
    concept="ratio_max",
    title="Largest importance ratio",
    unit=Unit.NUMBER,
    reduction=Reduction.MAX,
    low=0.0,
    what="Largest importance ratio.",
    healthy="",
)
