"""How fast the run goes, and what of the hardware it uses.

Guards against an average since the start being read as the current rate, and against comparing samples per second of runs whose
completions differ in length: compare tokens.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, TRL_PPO

EPS = Signal(
    key="eps",
    concept="throughput_episodes",
    title="Episodes per second",
    unit=Unit.EPISODES_PER_SECOND,
    sign="Higher is faster.",
    low=0.0,
    what="Completions finished per second of wall time, averaged since the start of training.",
    formula="floor(episodes / (now - start))",
    healthy=(
        "Settles as the start-up is averaged out, then falls slowly when completions grow. 102-344 episodes/s in "
        "our PPO runs on tiny models. 0 means slower than one episode a second."
    ),
    differs=(
        "TRL's documentation calls it the number of episodes per second. It is the average since the start, with "
        "start-up and evaluation in it for ever, cut to an integer: a stall late in the run hardly shows."
    ),
    moves_with=("episode", "step_time", "completions/mean_length"),
    sources=(TRL_PPO, OUR_RUNS),
)
BATCH_NUM_TOKENS = Signal(
    key="batch/num_tokens",
    concept="batch_tokens",
    title="Tokens in one step",
    unit=Unit.TOKENS,
    reduction=Reduction.SUM,
    sign="Neither good nor bad.",
    low=0.0,
    what="Tokens trained on in this step, over all processes.",
    formula="sum_it m_it, with prompts where the framework counts them",
    healthy=(
        "Batch size times mean length. It varies with length; a fall at equal length means that samples are dropped."
    ),
    moves_with=("batch/num_samples", "completions/mean_length", "filter/kept_ratio"),
    sources=("verl, AReaL, NeMo-RL and open-instruct (source)",),
)
BATCH_NUM_SAMPLES = Signal(
    key="batch/num_samples",
    concept="batch_samples",
    title="Completions in one step",
    unit=Unit.SAMPLES,
    reduction=Reduction.SUM,
    sign="Neither good nor bad.",
    low=0.0,
    what="Completions trained on in this step, over all processes.",
    formula="B",
    healthy="Constant, or varying where groups are filtered. 0 means a step without training.",
    moves_with=("batch/num_tokens", "filter/kept_ratio"),
    sources=("AReaL, NeMo-RL and OpenRLHF (source)",),
)
THROUGHPUT_TOKENS_PER_S = Signal(
    key="throughput/tokens_per_s",
    concept="throughput",
    title="Tokens per second",
    unit=Unit.TOKENS_PER_SECOND,
    sign="Higher is faster.",
    low=0.0,
    what="Tokens processed per second of wall time, over all devices.",
    formula="tokens in the step / step time",
    healthy="Steady after warm-up; it rises with length, because longer sequences fill the devices better.",
    moves_with=("step_time", "throughput/tokens_per_s_per_gpu", "completions/mean_length"),
    sources=("open-instruct, prime-rl, slime and ROLL (source)",),
)
THROUGHPUT_TOKENS_PER_S_PER_GPU = Signal(
    key="throughput/tokens_per_s_per_gpu",
    concept="throughput_per_gpu",
    title="Tokens per second and GPU",
    unit=Unit.TOKENS_PER_SECOND_PER_GPU,
    sign="Higher is faster.",
    low=0.0,
    what="Tokens processed per second of wall time and device.",
    formula="tokens in the step / (step time * devices)",
    healthy="Steady after warm-up. The number to compare between set-ups of different size.",
    moves_with=("throughput/tokens_per_s", "perf/mfu"),
    sources=("verl, NeMo-RL and SkyRL (source)",),
)
THROUGHPUT_GEN_TOKENS_PER_S = Signal(
    key="throughput/gen_tokens_per_s",
    concept="throughput_generation",
    title="Generated tokens per second",
    unit=Unit.TOKENS_PER_SECOND,
    sign="Higher is faster.",
    low=0.0,
    what="Completion tokens the sampler produces per second.",
    formula="sum_i T_i / generation time",
    healthy="Falls when a few long completions hold up the batch: the last of them are generated nearly alone.",
    moves_with=("time/rollout", "completions/max_length"),
    sources=("open-instruct and TRL's asynchronous GRPO (source)",),
)
THROUGHPUT_SAMPLES_PER_S = Signal(
    key="throughput/samples_per_s",
    concept="throughput_samples",
    title="Samples per second",
    unit=Unit.SAMPLES_PER_SECOND,
    sign="Higher is faster.",
    low=0.0,
    what="Completions, or environment steps in classic RL, processed per second.",
    formula="samples / time",
    healthy="Steady; it falls as completions grow.",
    moves_with=("step_time", "completions/mean_length"),
    sources=("CleanRL, Stable-Baselines3 and DeepSpeed-Chat (source)",),
)
PERF_MFU = Signal(
    key="perf/mfu",
    concept="mfu",
    title="Model FLOP utilisation",
    unit=Unit.FRACTION,
    sign="Higher is better.",
    low=0.0,
    high=1.0,
    what="Share of the devices' peak arithmetic that the model's forward and backward passes use.",
    formula="model FLOP in the step / (time * peak FLOP/s)",
    healthy="0.3-0.5 in the update of dense models; far lower over a whole RL step, most of which is generation.",
    differs="prime-rl logs per cent; its dialect divides by 100.",
    moves_with=("perf/tflops", "throughput/tokens_per_s_per_gpu"),
    sources=("Chowdhery et al., PaLM (2022)", "verl and prime-rl (source)"),
)
PERF_TFLOPS = Signal(
    key="perf/tflops",
    concept="tflops",
    title="Compute per GPU",
    unit=Unit.TFLOPS_PER_GPU,
    sign="Higher is better.",
    low=0.0,
    what="Arithmetic that the model's passes do per second and device.",
    formula="model FLOP in the step / (time * devices)",
    healthy="Steady after warm-up; judged against the peak of the device (`perf/mfu`).",
    moves_with=("perf/mfu",),
    sources=("slime and DeepSpeed-Chat (source)",),
)
MEMORY_PEAK_GB = Signal(
    key="memory/peak_gb",
    concept="memory_peak",
    title="Peak GPU memory",
    unit=Unit.GIGABYTES,
    reduction=Reduction.MAX,
    sign="Lower leaves room.",
    low=0.0,
    what="Largest device memory in use since the last row.",
    formula="max over the step",
    healthy=(
        "Steady or growing with the longest sequence. Within a few per cent of the device's memory the next long "
        "batch may fail."
    ),
    differs="Several frameworks count GiB (1.074 GB); their dialects convert.",
    moves_with=("completions/max_length", "batch/num_tokens"),
    sources=("verl, prime-rl and torchtune (source)",),
)
