"""Signals of sequence."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

TOOLS_CALL_FREQUENCY = Signal(
    key="tools/call_frequency",
    concept="tool_calls",
    title="Tool calls per completion",
    unit=Unit.CALLS_PER_COMPLETION,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Tool calls per completion.",
    healthy="",
)
TOOLS_FAILURE_FREQUENCY = Signal(
    key="tools/failure_frequency",
    concept="tool_failures",
    title="Fraction of failed tool calls",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of tool calls that failed.",
    healthy="",
)
SEQUENCE_MEAN_LENGTH = Signal(
    key="sequence/mean_length",
    concept="sequence_length",
    title="Mean sequence length",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Prompt + response.",
    healthy="",
)
SEQUENCE_MIN_LENGTH = Signal(
    key="sequence/min_length",
    concept="sequence_length_min",
    title="Shortest sequence",
    unit=Unit.TOKENS,
    reduction=Reduction.MIN,
    low=0.0,
    what="Prompt + response.",
    healthy="",
)
SEQUENCE_MAX_LENGTH = Signal(
    key="sequence/max_length",
    concept="sequence_length_max",
    title="Longest sequence",
    unit=Unit.TOKENS,
    reduction=Reduction.MAX,
    low=0.0,
    what="Prompt + response.",
    healthy="",
)
PROMPT_LENGTH_MEAN = Signal(
    key="prompt_length/mean",
    concept="prompt_length",
    title="Mean prompt length",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Mean prompt length.",
    healthy="",
)
PROMPT_LENGTH_MIN = Signal(
    key="prompt_length/min",
    concept="prompt_length_min",
    title="Shortest prompt",
    unit=Unit.TOKENS,
    reduction=Reduction.MIN,
    low=0.0,
    what="Shortest prompt.",
    healthy="",
)
PROMPT_LENGTH_MAX = Signal(
    key="prompt_length/max",
    concept="prompt_length_max",
    title="Longest prompt",
    unit=Unit.TOKENS,
    reduction=Reduction.MAX,
    low=0.0,
    what="Longest prompt.",
    healthy="",
)
PROMPT_LENGTH_CLIPPED_RATIO = Signal(
    key="prompt_length/clipped_ratio",
    concept="prompt_truncation",
    title="Fraction of truncated prompts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of prompts at the prompt limit.",
    healthy="",
)
PADDING_RATIO = Signal(
    key="padding_ratio",
    concept="padding",
    title="Fraction of padding",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of padding in the batch.",
    healthy="",
)
TURNS_MEAN = Signal(
    key="turns/mean",
    concept="turns",
    title="Mean number of turns",
    unit=Unit.TURNS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Turns per episode.",
    healthy="",
)
TURNS_MIN = Signal(
    key="turns/min",
    concept="turns_min",
    title="Fewest turns",
    unit=Unit.TURNS,
    reduction=Reduction.MIN,
    low=0.0,
    what="Fewest turns.",
    healthy="",
)
TURNS_MAX = Signal(
    key="turns/max",
    concept="turns_max",
    title="Most turns",
    unit=Unit.TURNS,
    reduction=Reduction.MAX,
    low=0.0,
    what="Most turns.",
    healthy="",
)
ROLLOUT_ERROR_RATIO = Signal(
    key="rollout/error_ratio",
    concept="rollout_error",
    title="Fraction of failed rollouts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of rollouts that failed with an error.",
    healthy="",
)
