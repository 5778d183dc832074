"""Runs beside each other: what differs, where they part, and whether seeds alone could have done it.

References:
    Henderson et al., "Deep Reinforcement Learning that Matters" (2018): settings that look different are often seeds.
    Colas, Sigaud and Oudeyer, "A Hitchhiker's Guide to Statistical Comparisons of RL Algorithms" (2019): Welch's test.
"""

from __future__ import annotations

from holter.compare.comparison import Compared, Comparison, Difference, Pair, Regression, compare
from holter.compare.curves import AXES, AxisError
from holter.compare.direction import Better
from holter.compare.effect import Basis, Effect, Level, Verdict
from holter.compare.groups import BY, Group

__all__ = [
    "AXES",
    "BY",
    "AxisError",
    "Basis",
    "Better",
    "Compared",
    "Comparison",
    "Difference",
    "Effect",
    "Group",
    "Level",
    "Pair",
    "Regression",
    "Verdict",
    "compare",
]
