"""Signals of advantage."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

ADVANTAGES_MEAN = Signal(
    key="advantages/mean",
    concept="advantage_mean",
    title="Mean advantage",
    unit=Unit.REWARD,
    what="Mean advantage.",
    healthy="",
)
ADVANTAGES_STD = Signal(
    key="advantages/std",
    concept="advantage_std",
    title="Standard deviation of the advantages",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    low=0.0,
    what="Std of advantages.",
    healthy="",
)
ADVANTAGES_MIN = Signal(
    key="advantages/min",
    concept="advantage_min",
    title="Smallest advantage",
    unit=Unit.REWARD,
    reduction=Reduction.MIN,
    what="Smallest advantage.",
    healthy="",
)
ADVANTAGES_MAX = Signal(
    key="advantages/max",
    concept="advantage_max",
    title="Largest advantage",
    unit=Unit.REWARD,
    reduction=Reduction.MAX,
    what="Largest advantage.",
    healthy="",
)
ADVANTAGES_ABS_MEAN = Signal(
    key="advantages/abs_mean",
    concept="advantage_abs",
    title="Mean absolute advantage",
    unit=Unit.REWARD,
    low=0.0,
    what="Mean absolute advantage.",
    healthy="",
)
ADVANTAGES_FRAC_ZERO = Signal(
    key="advantages/frac_zero",
    concept="zero_advantage_fraction",
    title="Fraction of samples with zero advantage",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of samples with zero advantage.",
    healthy="",
)
