"""Signals of clipping."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

POLICY_CLIPFRAC_AVG = Signal(
    key="policy/clipfrac_avg",
    concept="clip_fraction",
    title="Clip fraction of the PPO update",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    rank=1,
    what="Share of tokens whose clipped surrogate is the active one.",
    healthy="",
)
VAL_CLIPFRAC_AVG = Signal(
    key="val/clipfrac_avg",
    concept="value_clip_fraction",
    title="Clip fraction of the value function",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    what="Share of tokens whose clipped value loss is the active one.",
    healthy="",
)
CLIP_RATIO = Signal(
    key="clip_ratio",
    concept="clip_fraction",
    title="Clip fraction of the Liger loss",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    rank=2,
    what="Share of tokens clipped, old TRL and Liger form.",
    healthy="",
)
CLIP_RATIO_LOW_MEAN = Signal(
    key="clip_ratio/low_mean",
    concept="clip_fraction_low",
    title="Clip fraction at the lower bound",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    what="Ratio < 1-eps_low with negative advantage.",
    healthy="",
)
CLIP_RATIO_LOW_MIN = Signal(
    key="clip_ratio/low_min",
    concept="clip_fraction_low_min",
    title="Least clip fraction at the lower bound",
    unit=Unit.FRACTION,
    reduction=Reduction.MIN,
    low=0.0,
    high=1.0,
    what="Minimum of the former.",
    healthy="",
)
CLIP_RATIO_HIGH_MEAN = Signal(
    key="clip_ratio/high_mean",
    concept="clip_fraction_high",
    title="Clip fraction at the upper bound",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    what="Ratio > 1+eps_high with positive advantage.",
    healthy="",
)
CLIP_RATIO_HIGH_MAX = Signal(
    key="clip_ratio/high_max",
    concept="clip_fraction_high_max",
    title="Greatest clip fraction at the upper bound",
    unit=Unit.FRACTION,
    reduction=Reduction.MAX,
    low=0.0,
    high=1.0,
    what="Maximum of the former.",
    healthy="",
)
CLIP_RATIO_REGION_MEAN = Signal(
    key="clip_ratio/region_mean",
    concept="clip_fraction",
    title="Clip fraction",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    what="Share of tokens in either clipped region.",
    healthy="",
)
CISPO_CLIP_RATIO = Signal(
    key="cispo_clip_ratio",
    concept="clip_fraction_cispo",
    title="Fraction of capped importance weights",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    what="Share of tokens whose importance weight is capped (CISPO).",
    healthy="",
)
POLICY_DUAL_CLIPFRAC = Signal(
    key="policy/dual_clipfrac",
    concept="clip_fraction_dual",
    title="Dual-clip fraction",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    what="Share of tokens on the dual-clip bound.",
    healthy="",
)
POLICY_MASKED_FRAC = Signal(
    key="policy/masked_frac",
    concept="masked_fraction",
    title="Fraction of tokens masked by the trust region",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    what="Share of tokens removed from the loss by a trust-region mask.",
    healthy="",
)
