"""Signals of completion."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

VAL_NUM_EOS_TOKENS = Signal(
    key="val/num_eos_tokens",
    concept="eos_count",
    title="Number of EOS tokens",
    unit=Unit.COUNT,
    reduction=Reduction.RANK,
    low=0.0,
    what="EOS tokens in the rollout batch (TRL: local rank).",
    healthy="",
)
COMPLETIONS_MEAN_LENGTH = Signal(
    key="completions/mean_length",
    concept="length",
    title="Mean completion length",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Mean response length without prompt and padding.",
    healthy="",
)
COMPLETIONS_MIN_LENGTH = Signal(
    key="completions/min_length",
    concept="length_min",
    title="Shortest completion",
    unit=Unit.TOKENS,
    reduction=Reduction.MIN,
    low=0.0,
    what="Shortest response.",
    healthy="",
)
COMPLETIONS_MAX_LENGTH = Signal(
    key="completions/max_length",
    concept="length_max",
    title="Longest completion",
    unit=Unit.TOKENS,
    reduction=Reduction.MAX,
    low=0.0,
    what="Longest response.",
    healthy="",
)
COMPLETIONS_CLIPPED_RATIO = Signal(
    key="completions/clipped_ratio",
    concept="truncation",
    title="Fraction of truncated completions",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of responses cut at the length limit.",
    healthy="",
)
COMPLETIONS_MEAN_TERMINATED_LENGTH = Signal(
    key="completions/mean_terminated_length",
    concept="terminated_length",
    title="Mean length of ended completions",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Mean length of responses that ended (0 = none ended).",
    healthy="",
)
COMPLETIONS_MIN_TERMINATED_LENGTH = Signal(
    key="completions/min_terminated_length",
    concept="terminated_length_min",
    title="Shortest ended completion",
    unit=Unit.TOKENS,
    reduction=Reduction.MIN,
    low=0.0,
    what="Shortest ended response.",
    healthy="",
)
COMPLETIONS_MAX_TERMINATED_LENGTH = Signal(
    key="completions/max_terminated_length",
    concept="terminated_length_max",
    title="Longest ended completion",
    unit=Unit.TOKENS,
    reduction=Reduction.MAX,
    low=0.0,
    what="Longest ended response.",
    healthy="",
)
COMPLETIONS_STD_LENGTH = Signal(
    key="completions/std_length",
    concept="length_spread",
    title="Standard deviation of the completion length",
    unit=Unit.TOKENS,
    reduction=Reduction.STD,
    low=0.0,
    what="Std of response length.",
    healthy="",
)
COMPLETIONS_MEDIAN_LENGTH = Signal(
    key="completions/median_length",
    concept="length_median",
    title="Median completion length",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Median response length.",
    healthy="",
)
COMPLETIONS_CORRECT_MEAN_LENGTH = Signal(
    key="completions/correct_mean_length",
    concept="length_correct",
    title="Mean length of correct completions",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Mean length of correct responses.",
    healthy="",
)
COMPLETIONS_INCORRECT_MEAN_LENGTH = Signal(
    key="completions/incorrect_mean_length",
    concept="length_incorrect",
    title="Mean length of wrong completions",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Mean length of wrong responses.",
    healthy="",
)
COMPLETIONS_EOS_RATIO = Signal(
    key="completions/eos_ratio",
    concept="eos_fraction",
    title="Fraction of completions that ended",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of responses that ended by themselves.",
    healthy="",
)
COMPLETIONS_ABORTED_RATIO = Signal(
    key="completions/aborted_ratio",
    concept="aborted_fraction",
    title="Fraction of aborted completions",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of responses with no token or aborted.",
    healthy="",
)
COMPLETIONS_REPETITION_RATIO = Signal(
    key="completions/repetition_ratio",
    concept="repetition",
    title="Fraction of repetitive completions",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of responses flagged as repetitive.",
    healthy="",
)
