"""The importance weights that correct for the gap between sampler and trainer, and what they cut.

Guards against reading them as the PPO ratio (``val/ratio`` compares the policy before and after the update), and against a
maximum that only repeats the cap.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import PUBLIC_LOGS, TRL_GRPO

SAMPLING_IMPORTANCE_SAMPLING_RATIO_MEAN = Signal(
    key="sampling/importance_sampling_ratio/mean",
    concept="sampler_ratio",
    title="Importance ratio of trainer to sampler",
    unit=Unit.NUMBER,
    reduction=Reduction.BATCH,
    sign="1 means that no correction is needed.",
    low=0.0,
    what="Mean weight that corrects for the difference between trainer and sampler, after truncation or masking.",
    formula="mean of w = exp(lp_old - lp_sampler), by token or by sequence",
    healthy=(
        "Near 1; verl advises to look outside 0.5-2. By sequence it drifts off 1 with length, because differences "
        "add up: 0.012 nats a token make a factor of 3 over 100 tokens."
    ),
    differs=(
        "From TRL 0.23 on, with vLLM only; not in the documented list. Taken after truncation and masking; by "
        "sequence in the default mode, by token in others; 0 when the batch is empty."
    ),
    moves_with=("sampling/sampling_logp_difference/mean", "sampling/ess", "completions/mean_length"),
    sources=(TRL_GRPO, "verl documentation of rollout correction"),
)
SAMPLING_IMPORTANCE_SAMPLING_RATIO_MIN = Signal(
    key="sampling/importance_sampling_ratio/min",
    concept="sampler_ratio_min",
    title="Smallest importance ratio of trainer to sampler",
    unit=Unit.NUMBER,
    reduction=Reduction.MIN,
    sign="At most 1 in practice. 0 means that something was masked out.",
    low=0.0,
    what="Smallest importance weight in the batch, after truncation or masking.",
    formula="min of w",
    healthy=(
        "Somewhat below 1 by token; no measured band is known. 0 in every row with the masking mode on means that "
        "every batch has a sequence beyond the cap."
    ),
    differs="As for the mean: from TRL 0.23 on, with vLLM only, undocumented; a masked weight counts as 0.",
    moves_with=("sampling/importance_sampling_ratio/mean", "sampling/filtered_frac"),
    sources=(TRL_GRPO,),
)
SAMPLING_IMPORTANCE_SAMPLING_RATIO_MAX = Signal(
    key="sampling/importance_sampling_ratio/max",
    concept="sampler_ratio_max",
    title="Largest importance ratio of trainer to sampler",
    unit=Unit.NUMBER,
    reduction=Reduction.MAX,
    sign="1 means that no correction is needed.",
    low=0.0,
    what="Largest importance weight in the batch, after truncation or masking.",
    formula="max of w, at most the cap",
    healthy=(
        "1.5-2 in healthy public runs; below 0.7 at collapses of entropy, when the trainer finds every sampled "
        "token less likely than the sampler did. Constant at the cap (3 by default) it is cut in every batch."
    ),
    differs="As for the mean: from TRL 0.23 on, with vLLM only, undocumented; never above the cap.",
    moves_with=("sampling/sampling_logp_difference/max", "entropy"),
    sources=(TRL_GRPO, PUBLIC_LOGS),
)
SAMPLING_ESS = Signal(
    key="sampling/ess",
    concept="mismatch_ess",
    title="Effective sample size of the importance weights",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Higher is better; 1 when all weights are equal.",
    low=0.0,
    high=1.0,
    what="Share of the batch that the weighted mean is worth.",
    formula="(sum_i w_i)^2 / (B * sum_i w_i^2)",
    healthy="Near 1; verl advises to look below 0.3.",
    moves_with=("sampling/importance_sampling_ratio/max", "staleness/mean"),
    sources=(
        "Kong, A Note on Importance Sampling using Standardized Weights (1992)",
        "verl documentation of rollout correction",
    ),
)
SAMPLING_FILTERED_FRAC = Signal(
    key="sampling/filtered_frac",
    concept="mismatch_filtered",
    title="Fraction of samples cut by importance sampling",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="0 means that nothing is cut.",
    low=0.0,
    high=1.0,
    what=(
        "Share of tokens or sequences whose weight was truncated, or which were rejected because sampler and "
        "trainer disagree."
    ),
    formula="mean [w outside the allowed range]",
    healthy="Small and steady; no measured band is known. Rising, it silently shrinks the batch.",
    moves_with=("sampling/importance_sampling_ratio/mean", "sampling/ess"),
    sources=("verl, AReaL, slime and NeMo-RL (source)",),
)
