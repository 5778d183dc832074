"""Signals of value."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

RETURNS_MEAN = Signal(
    key="returns/mean",
    concept="return_mean",
    title="Mean return",
    unit=Unit.REWARD,
    what="Mean return (critic target).",
    healthy="",
)
RETURNS_STD = Signal(
    key="returns/std",
    concept="return_std",
    title="Standard deviation of the returns",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    low=0.0,
    what="Std of returns.",
    healthy="",
)
RETURNS_VAR = Signal(
    key="returns/var",
    concept="return_var",
    title="Variance of the returns",
    unit=Unit.REWARD_SQUARED,
    low=0.0,
    what="Variance of returns.",
    healthy="",
)
RETURNS_MIN = Signal(
    key="returns/min",
    concept="return_min",
    title="Smallest return",
    unit=Unit.REWARD,
    reduction=Reduction.MIN,
    what="Smallest return.",
    healthy="",
)
RETURNS_MAX = Signal(
    key="returns/max",
    concept="return_max",
    title="Largest return",
    unit=Unit.REWARD,
    reduction=Reduction.MAX,
    what="Largest return.",
    healthy="",
)
VALUE_MEAN = Signal(
    key="value/mean",
    concept="value_mean",
    title="Mean value estimate",
    unit=Unit.REWARD,
    what="Mean value prediction.",
    healthy="",
)
VALUE_STD = Signal(
    key="value/std",
    concept="value_std",
    title="Standard deviation of the value estimates",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    low=0.0,
    what="Std of value predictions.",
    healthy="",
)
VALUE_VAR = Signal(
    key="value/var",
    concept="value_var",
    title="Variance of the value estimates",
    unit=Unit.REWARD_SQUARED,
    low=0.0,
    what="Variance of value predictions.",
    healthy="",
)
VALUE_MIN = Signal(
    key="value/min",
    concept="value_min",
    title="Smallest value estimate",
    unit=Unit.REWARD,
    reduction=Reduction.MIN,
    what="Smallest value prediction.",
    healthy="",
)
VALUE_MAX = Signal(
    key="value/max",
    concept="value_max",
    title="Largest value estimate",
    unit=Unit.REWARD,
    reduction=Reduction.MAX,
    what="Largest value prediction.",
    healthy="",
)
VALUE_ERROR = Signal(
    key="value/error",
    concept="value_error",
    title="Squared error of the value estimates",
    unit=Unit.REWARD_SQUARED,
    low=0.0,
    what="Mean squared error of values against returns.",
    healthy="",
)
EXPLAINED_VARIANCE = Signal(
    key="explained_variance",
    concept="explained_variance",
    title="Explained variance of the value function",
    unit=Unit.NUMBER,
    high=1.0,
    what="1 - Var(return - value)/Var(return).",
    healthy="",
)
