"""Signals of sequence."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

TOOLS_CALL_FREQUENCY = Signal(
    key="tools/call_frequency",
    concept="tool_calls",
    title="tools/call_frequency",
    unit=Unit.CALLS_PER_COMPLETION,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Tool calls per completion.",
    healthy="",
)
TOOLS_FAILURE_FREQUENCY = Signal(
    key="tools/failure_frequency",
    concept="tool_failures",
    title="tools/failure_frequency",
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
    title="sequence/mean_length",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Prompt + response.",
    healthy="",
)
SEQUENCE_MIN_LENGTH = Signal(
    key="sequence/min_length",
    concept="sequence_length_min",
    title="sequence/min_length",
    unit=Unit.TOKENS,
    reduction=Reduction.MIN,
    low=0.0,
    what="Prompt + response.",
    healthy="",
)
SEQUENCE_MAX_LENGTH = Signal(
    key="sequence/max_length",
    concept="sequence_length_max",
    title="sequence/max_length",
    unit=Unit.TOKENS,
    reduction=Reduction.MAX,
    low=0.0,
    what="Prompt + response.",
    healthy="",
)
PROMPT_LENGTH_MEAN = Signal(
    key="prompt_length/mean",
    concept="prompt_length",
    title="prompt_length/mean",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Mean prompt length.",
    healthy="",
)
PROMPT_LENGTH_MIN = Signal(
    key="prompt_length/min",
    concept="prompt_length_min",
    title="prompt_length/min",
    unit=Unit.TOKENS,
    reduction=Reduction.MIN,
    low=0.0,
    what="Shortest prompt.",
    healthy="",
)
PROMPT_LENGTH_MAX = Signal(
    key="prompt_length/max",
    concept="prompt_length_max",
    title="prompt_length/max",
    unit=Unit.TOKENS,
    reduction=Reduction.MAX,
    low=0.0,
    what="Longest prompt.",
    healthy="",
)
PROMPT_LENGTH_CLIPPED_RATIO = Signal(
    key="prompt_length/clipped_ratio",
    concept="prompt_truncation",
    title="prompt_length/clipped_ratio",
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
    title="padding_ratio",
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
    title="turns/mean",
    unit=Unit.TURNS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Turns per episode.",
    healthy="",
)
TURNS_MIN = Signal(
    key="turns/min",
    concept="turns_min",
    title="turns/min",
    unit=Unit.TURNS,
    reduction=Reduction.MIN,
    low=0.0,
    what="Fewest turns.",
    healthy="",
)
TURNS_MAX = Signal(
    key="turns/max",
    concept="turns_max",
    title="turns/max",
    unit=Unit.TURNS,
    reduction=Reduction.MAX,
    low=0.0,
    what="Most turns.",
    healthy="",
)
ROLLOUT_ERROR_RATIO = Signal(
    key="rollout/error_ratio",
    concept="rollout_error",
    title="rollout/error_ratio",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of rollouts that failed with an error.",
    healthy="",
)
