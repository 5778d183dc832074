"""Signals of throughput."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

EPS = Signal(
    key="eps",
    concept="throughput_episodes",
    title="Episodes per second",
    unit=Unit.EPISODES_PER_SECOND,
    low=0.0,
    what="Episodes per second since start.",
    healthy="",
)
BATCH_NUM_TOKENS = Signal(
    key="batch/num_tokens",
    concept="batch_tokens",
    title="Tokens in one step",
    unit=Unit.TOKENS,
    reduction=Reduction.SUM,
    low=0.0,
    what="Tokens in this step.",
    healthy="",
)
BATCH_NUM_SAMPLES = Signal(
    key="batch/num_samples",
    concept="batch_samples",
    title="Completions in one step",
    unit=Unit.SAMPLES,
    reduction=Reduction.SUM,
    low=0.0,
    what="Rollouts in this step.",
    healthy="",
)
THROUGHPUT_TOKENS_PER_S = Signal(
    key="throughput/tokens_per_s",
    concept="throughput",
    title="Tokens per second",
    unit=Unit.TOKENS_PER_SECOND,
    low=0.0,
    what="All devices.",
    healthy="",
)
THROUGHPUT_TOKENS_PER_S_PER_GPU = Signal(
    key="throughput/tokens_per_s_per_gpu",
    concept="throughput_per_gpu",
    title="Tokens per second and GPU",
    unit=Unit.TOKENS_PER_SECOND_PER_GPU,
    low=0.0,
    what="Per device.",
    healthy="",
)
THROUGHPUT_GEN_TOKENS_PER_S = Signal(
    key="throughput/gen_tokens_per_s",
    concept="throughput_generation",
    title="Generated tokens per second",
    unit=Unit.TOKENS_PER_SECOND,
    low=0.0,
    what="Sampler only.",
    healthy="",
)
THROUGHPUT_SAMPLES_PER_S = Signal(
    key="throughput/samples_per_s",
    concept="throughput_samples",
    title="Samples per second",
    unit=Unit.SAMPLES_PER_SECOND,
    low=0.0,
    what="Samples or episodes.",
    healthy="",
)
PERF_MFU = Signal(
    key="perf/mfu",
    concept="mfu",
    title="Model FLOP utilisation",
    unit=Unit.FRACTION,
    low=0.0,
    high=1.0,
    what="Model FLOP utilisation.",
    healthy="",
)
PERF_TFLOPS = Signal(
    key="perf/tflops",
    concept="tflops",
    title="Compute per GPU",
    unit=Unit.TFLOPS_PER_GPU,
    low=0.0,
    what="Achieved compute.",
    healthy="",
)
MEMORY_PEAK_GB = Signal(
    key="memory/peak_gb",
    concept="memory_peak",
    title="Peak GPU memory",
    unit=Unit.GIGABYTES,
    reduction=Reduction.MAX,
    low=0.0,
    what="Peak device memory.",
    healthy="",
)
