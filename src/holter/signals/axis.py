"""Signals of axis."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

EPISODE = Signal(
    key="episode",
    concept="axis",
    title="Episode counter",
    unit=Unit.EPISODES,
    reduction=Reduction.COUNTER,
    low=0.0,
    what="Prompts or rollouts consumed.",
    healthy="",
)
EPOCH = Signal(
    key="epoch",
    concept="axis",
    title="Epoch",
    unit=Unit.EPOCHS,
    reduction=Reduction.COUNTER,
    low=0.0,
    what="Passes over the prompt set.",
    healthy="",
)
STEP = Signal(
    key="step",
    concept="axis",
    title="Step counter",
    unit=Unit.STEPS,
    reduction=Reduction.COUNTER,
    low=0.0,
    what="The framework's own step counter.",
    healthy="",
)
NUM_TOKENS = Signal(
    key="num_tokens",
    concept="axis",
    title="Token counter",
    unit=Unit.TOKENS,
    reduction=Reduction.COUNTER,
    low=0.0,
    what="Tokens processed so far (prompt + completion), cumulative.",
    healthy="",
)
