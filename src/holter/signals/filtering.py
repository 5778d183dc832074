"""What is thrown away between sampling and the update.

Guards against comparing rewards before and after a filter: dynamic sampling drops groups that are solved or hopeless, so the mean
over what is kept stays near one half however good the policy is.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

FILTER_KEPT_RATIO = Signal(
    key="filter/kept_ratio",
    concept="kept_fraction",
    title="Fraction of samples kept",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Higher is cheaper.",
    low=0.0,
    high=1.0,
    what="Share of sampled completions or groups that reach the update.",
    formula="kept / sampled",
    healthy=(
        "1 without filtering. With dynamic sampling 1 minus the share of groups without spread; it falls as prompts "
        "are solved. Near 0 the run spends its time on sampling."
    ),
    moves_with=("filter/gen_batches", "frac_reward_zero_std", "step_time"),
    sources=("Yu et al., DAPO (2025)", "open-instruct, OpenRLHF, AReaL and prime-rl (source)"),
)
FILTER_DROPPED = Signal(
    key="filter/dropped",
    concept="dropped_count",
    title="Number of samples dropped",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    sign="Lower is cheaper.",
    low=0.0,
    what="Number of completions or groups removed before the update.",
    formula="sampled - kept",
    healthy="0 without filtering; otherwise steady, rising as prompts are solved.",
    moves_with=("filter/kept_ratio", "frac_reward_zero_std"),
    sources=("verl, slime, SkyRL and rLLM (source)",),
)
FILTER_GEN_BATCHES = Signal(
    key="filter/gen_batches",
    concept="generation_rounds",
    title="Generation rounds per batch",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    sign="1 means that nothing had to be sampled again.",
    low=0.0,
    what="Number of rounds of generation that were needed to fill one batch after filtering.",
    formula="rounds until kept groups >= batch size",
    healthy="Near 1 at the start. A steady rise means that fewer and fewer prompts carry a gradient.",
    moves_with=("filter/kept_ratio", "step_time", "time/rollout"),
    sources=("Yu et al., DAPO (2025)", "verl and NeMo-RL (source)"),
)
