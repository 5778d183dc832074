"""Refusals: completions in which the policy declines to answer."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

REFUSALS = Signal(
    key="safety/refusals",
    concept="refusals",
    title="Share of refusals",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="never negative",
    low=0.0,
    high=1.0,
    what="Share of the completions of a batch that a classifier takes for refusals.",
    formula="refusals / completions",
    healthy="Stays near the share of prompts that ought to be refused.",
    moves_with=("reward",),
    sources=("Rottger et al., XSTest (2023)",),
)
