"""How old the completions are, in policy versions, when they are trained on.

Guards against reading the drift of an asynchronous run as a fault of the optimizer: with stale completions the ratio is off 1
before the first update.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS

STALENESS_MEAN = Signal(
    key="staleness/mean",
    concept="staleness",
    title="Mean staleness of the samples",
    unit=Unit.VERSIONS,
    reduction=Reduction.BATCH,
    sign="0 means on-policy; lower is better.",
    low=0.0,
    what="Mean number of policy versions between the sampling of a completion and its use.",
    formula="mean_i (version at training - version at sampling)",
    healthy=(
        "0 for synchronous training; steady at the configured lag for asynchronous. A batch sampled 8 steps "
        "ahead learns well in our runs, with a clip fraction of 0.05-0.16. A steady rise means that sampling does "
        "not keep up."
    ),
    moves_with=("staleness/max", "policy/clipfrac_avg", "sampling/kl_k3"),
    sources=("prime-rl, SkyRL, rLLM and verl (source)", OUR_RUNS),
)
STALENESS_MIN = Signal(
    key="staleness/min",
    concept="staleness_min",
    title="Smallest staleness of the samples",
    unit=Unit.VERSIONS,
    reduction=Reduction.MIN,
    sign="0 means on-policy; lower is better.",
    low=0.0,
    what="Smallest number of policy versions between sampling and use in the batch.",
    formula="min_i (version at training - version at sampling)",
    healthy="0 or 1 versions. A lasting value above that means that every sample waits in a queue.",
    moves_with=("staleness/mean", "staleness/max", "policy/clipfrac_avg", "sampling/kl_k3"),
    sources=("prime-rl, SkyRL, rLLM and verl (source)",),
)
STALENESS_MAX = Signal(
    key="staleness/max",
    concept="staleness_max",
    title="Largest staleness of the samples",
    unit=Unit.VERSIONS,
    reduction=Reduction.MAX,
    sign="0 means on-policy; lower is better.",
    low=0.0,
    what="Largest number of policy versions between sampling and use in the batch.",
    formula="max_i (version at training - version at sampling)",
    healthy="At most the configured limit, in versions. Above it, the limit does not work.",
    moves_with=("staleness/mean", "policy/clipfrac_avg", "sampling/kl_k3"),
    sources=("prime-rl, SkyRL, rLLM and verl (source)",),
)
STALENESS_DROPPED = Signal(
    key="staleness/dropped",
    concept="staleness_dropped",
    title="Number of samples dropped as stale",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    sign="0 means that nothing is wasted.",
    low=0.0,
    what="Number of completions thrown away because they were too old.",
    formula="sum_i [staleness_i > limit]",
    healthy="0, or a small steady number. A rise means that sampling is too slow or the limit too tight.",
    differs="TRL's asynchronous GRPO logs the total since the start.",
    moves_with=("staleness/max", "staleness/queue_size", "throughput/tokens_per_s"),
    sources=("verl, SkyRL, prime-rl and TRL's asynchronous GRPO (source)",),
)
STALENESS_QUEUE_SIZE = Signal(
    key="staleness/queue_size",
    concept="queue_size",
    title="Number of samples waiting",
    unit=Unit.COUNT,
    sign="0 means that the trainer waits; the full queue, that the sampler does.",
    low=0.0,
    what="Number of completions or groups that are sampled and wait for the trainer.",
    formula="length of the queue when the trainer asks",
    healthy="Neither empty nor full for long.",
    moves_with=("time/wait", "staleness/mean"),
    sources=("NeMo-RL, SkyRL and rLLM (source)",),
)
