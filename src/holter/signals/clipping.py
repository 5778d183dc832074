"""Signals of clipping."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

POLICY_CLIPFRAC_AVG = Signal(
    key="policy/clipfrac_avg",
    concept="clip_fraction",
    title="policy/clipfrac_avg",
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
    title="val/clipfrac_avg",
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
    title="clip_ratio",
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
    title="clip_ratio/low_mean",
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
    title="clip_ratio/low_min",
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
    title="clip_ratio/high_mean",
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
    title="clip_ratio/high_max",
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
    title="clip_ratio/region_mean",
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
    title="cispo_clip_ratio",
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
    title="policy/dual_clipfrac",
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
    title="policy/masked_frac",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    what="Share of tokens removed from the loss by a trust-region mask.",
    healthy="",
)
