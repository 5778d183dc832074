"""Signals of advantage."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

ADVANTAGES_MEAN = Signal(
    key="advantages/mean",
    concept="advantage_mean",
    title="advantages/mean",
    unit=Unit.REWARD,
    what="Mean advantage.",
    healthy="",
)
ADVANTAGES_STD = Signal(
    key="advantages/std",
    concept="advantage_std",
    title="advantages/std",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    low=0.0,
    what="Std of advantages.",
    healthy="",
)
ADVANTAGES_MIN = Signal(
    key="advantages/min",
    concept="advantage_min",
    title="advantages/min",
    unit=Unit.REWARD,
    reduction=Reduction.MIN,
    what="Smallest advantage.",
    healthy="",
)
ADVANTAGES_MAX = Signal(
    key="advantages/max",
    concept="advantage_max",
    title="advantages/max",
    unit=Unit.REWARD,
    reduction=Reduction.MAX,
    what="Largest advantage.",
    healthy="",
)
ADVANTAGES_ABS_MEAN = Signal(
    key="advantages/abs_mean",
    concept="advantage_abs",
    title="advantages/abs_mean",
    unit=Unit.REWARD,
    low=0.0,
    what="Mean absolute advantage.",
    healthy="",
)
ADVANTAGES_FRAC_ZERO = Signal(
    key="advantages/frac_zero",
    concept="zero_advantage_fraction",
    title="advantages/frac_zero",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of samples with zero advantage.",
    healthy="",
)
