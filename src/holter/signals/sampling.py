"""The gap between the engine that samples and the trainer that computes log-probabilities, on the same tokens and weights.

Guards against taking it for policy drift: nothing has been learnt between the two numbers. It comes from kernels, precision,
stale weights or settings such as top-p, and what it breaks is the claim to be on-policy.
"""

from __future__ import annotations

from holter.signals.base import Estimator, Reduction, Signal, Unit
from holter.signals.sources import PUBLIC_LOGS, TRL_GRPO

SAMPLING_SAMPLING_LOGP_DIFFERENCE_MEAN = Signal(
    key="sampling/sampling_logp_difference/mean",
    concept="mismatch",
    title="Log-probability gap between sampler and trainer",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.ABS,
    sign="0 means that both compute the same.",
    low=0.0,
    what="Mean absolute difference between the trainer's and the sampler's log-probability of the sampled tokens.",
    formula="sum_it m_it |lp_old_it - lp_sampler_it| / sum_it m_it",
    healthy=(
        "0.01-0.03 nats/token with 16-bit engines; 0.2-0.4 in reports of a broken set-up. A steady rise in the run "
        "means that the policy moves to where the two disagree."
    ),
    differs=(
        "Logged with vLLM and the importance-sampling correction only, from TRL 0.23 on; not in the documented "
        "list. The mean of rank means."
    ),
    moves_with=("sampling/sampling_logp_difference/max", "sampling/importance_sampling_ratio/mean", "entropy"),
    sources=(TRL_GRPO, "slime (source and issues)"),
)
SAMPLING_SAMPLING_LOGP_DIFFERENCE_MAX = Signal(
    key="sampling/sampling_logp_difference/max",
    concept="mismatch_max",
    title="Largest log-probability gap between sampler and trainer",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.MAX,
    estimator=Estimator.ABS,
    sign="0 means that both compute the same.",
    low=0.0,
    what="Largest absolute difference between the trainer's and the sampler's log-probability of any sampled token.",
    formula="max_it |lp_old_it - lp_sampler_it|",
    healthy=(
        "0.3-0.8 nats/token in healthy public runs, never above 0.82. In collapses of entropy it jumps to 6-17 in "
        "the row in which anything can first be seen; 3 or more in two rows running gave no false alarm. It says "
        "nothing of collapses by truncation."
    ),
    differs=(
        "Logged with vLLM and the importance-sampling correction only, from TRL 0.23 on; not in the documented list."
    ),
    moves_with=("sampling/importance_sampling_ratio/max", "entropy", "reward"),
    sources=(TRL_GRPO, PUBLIC_LOGS),
)
SAMPLING_LOGP_DIFFERENCE_STD = Signal(
    key="sampling/logp_difference/std",
    concept="mismatch_std",
    title="Spread of the log-probability gap between sampler and trainer",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.STD,
    sign="0 means that both compute the same.",
    low=0.0,
    what="Standard deviation of the log-probability gap over the sampled tokens.",
    formula="std_it (lp_old_it - lp_sampler_it)",
    healthy=(
        "Of the order of the mean gap, and flat; no measured band is known. Growing while the mean stays: a few "
        "tokens go far off."
    ),
    moves_with=("sampling/sampling_logp_difference/mean", "sampling/sampling_logp_difference/max"),
    sources=("SkyRL and open-instruct (source)",),
)
SAMPLING_KL = Signal(
    key="sampling/kl",
    concept="mismatch_kl",
    title="KL of sampler and trainer",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K1,
    sign="Positive on average; slightly negative values are sampling noise.",
    what="KL from the sampler's distribution to the trainer's on the sampled tokens, by the signed estimator.",
    formula="sum_it m_it (lp_sampler_it - lp_old_it) / sum_it m_it",
    healthy="About 1e-3 nats/token and flat. verl advises to look above 0.1; 1 is a broken set-up.",
    moves_with=("sampling/kl_k3", "sampling/sampling_logp_difference/mean", "staleness/mean"),
    sources=("verl documentation of rollout correction", "NeMo-RL, OpenRLHF and AReaL (source)"),
)
SAMPLING_KL_K2 = Signal(
    key="sampling/kl_k2",
    concept="mismatch_kl",
    title="KL of sampler and trainer by k2",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K2,
    sign="Never negative; 0 means that both compute the same.",
    low=0.0,
    rank=1,
    what="The same divergence by half the mean squared gap.",
    formula="0.5 * sum_it m_it (lp_sampler_it - lp_old_it)^2 / sum_it m_it",
    healthy="About 1e-3 nats/token and flat; above 0.1 is a look.",
    moves_with=("sampling/kl", "sampling/kl_k3"),
    sources=("Tinker Cookbook and rLLM (source)", "Schulman, Approximating KL Divergence (2020)"),
)
SAMPLING_KL_K3 = Signal(
    key="sampling/kl_k3",
    concept="mismatch_kl",
    title="KL of sampler and trainer by k3",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K3,
    sign="Never negative; 0 means that both compute the same.",
    low=0.0,
    rank=2,
    what="The same divergence by the estimator that is unbiased and never negative.",
    formula="sum_it m_it (exp(d_it) - 1 - d_it) / sum_it m_it, with d = lp_old - lp_sampler",
    healthy=(
        "About 1e-3 nats/token and flat; above 0.1 is a look. In prime-rl, which samples asynchronously, it holds "
        "staleness too."
    ),
    moves_with=("sampling/kl", "sampling/importance_sampling_ratio/max", "staleness/mean"),
    sources=("verl, prime-rl and ms-swift (source)", "Schulman, Approximating KL Divergence (2020)"),
)
SAMPLING_KL_REVERSE = Signal(
    key="sampling/kl_reverse",
    concept="mismatch_kl_reverse",
    title="KL of trainer and sampler",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K1,
    sign="Positive on average; slightly negative values are sampling noise.",
    what="KL from the trainer's distribution to the sampler's, estimated on the sampler's tokens.",
    formula="sum_it m_it w_it (lp_old_it - lp_sampler_it) / sum_it m_it, w = exp(lp_old - lp_sampler)",
    healthy="As `sampling/kl`: about 1e-3 nats/token. The two part when single tokens go far off.",
    moves_with=("sampling/kl",),
    sources=("NeMo-RL and open-instruct (source)",),
)
SAMPLING_PROB_DIFFERENCE_MEAN = Signal(
    key="sampling/prob_difference/mean",
    concept="mismatch_probability",
    title="Probability gap between sampler and trainer",
    unit=Unit.PROBABILITY,
    reduction=Reduction.TOKEN,
    sign="0 means that both compute the same.",
    low=0.0,
    high=1.0,
    what="Mean absolute difference between the trainer's and the sampler's probability of the sampled tokens.",
    formula="mean_it |exp(lp_old_it) - exp(lp_sampler_it)|",
    healthy="Below 0.005; above 0.01 verl speaks of a precision problem.",
    differs="verl documents these as differences of log-probabilities; they are differences of probabilities.",
    moves_with=("sampling/prob_difference/max", "sampling/sampling_logp_difference/mean"),
    sources=("verl documentation (FAQ) and source",),
)
SAMPLING_PROB_DIFFERENCE_MAX = Signal(
    key="sampling/prob_difference/max",
    concept="mismatch_probability_max",
    title="Largest probability gap between sampler and trainer",
    unit=Unit.PROBABILITY,
    reduction=Reduction.MAX,
    sign="0 means that both compute the same.",
    low=0.0,
    high=1.0,
    what="Largest absolute difference between the trainer's and the sampler's probability of any sampled token.",
    formula="max_it |exp(lp_old_it) - exp(lp_sampler_it)|",
    healthy="Large in health, up to 0.6 where the mean is 0.003: one token near a tie decides it. Judge the mean.",
    moves_with=("sampling/prob_difference/mean",),
    sources=("verl (source and issues)",),
)
SAMPLING_MULT_PROB_ERROR = Signal(
    key="sampling/mult_prob_error",
    concept="mismatch_error",
    title="Multiplicative probability error of the sampler",
    unit=Unit.NUMBER,
    reduction=Reduction.TOKEN,
    sign="1 means that both compute the same; never below 1.",
    low=1.0,
    what="Mean factor by which the two probabilities of a sampled token differ, whichever is larger.",
    formula="mean_it exp(|lp_old_it - lp_sampler_it|)",
    healthy=(
        "1.00-1.05; NeMo-RL warns above 1.05. Values of thousands (38,565 in one report) are single tokens that the "
        "trainer holds for impossible."
    ),
    moves_with=("sampling/sampling_logp_difference/max", "sampling/kl"),
    sources=("NeMo-RL (source and issues)",),
)
SAMPLING_PEARSON = Signal(
    key="sampling/pearson",
    concept="mismatch_correlation",
    title="Correlation of sampler and trainer probabilities",
    unit=Unit.NUMBER,
    reduction=Reduction.TOKEN,
    sign="1 means that both agree up to scale.",
    low=-1.0,
    high=1.0,
    what="Pearson correlation of the trainer's and the sampler's probabilities over the sampled tokens.",
    formula="corr_it(exp(lp_old_it), exp(lp_sampler_it))",
    healthy=(
        "Near 1 when the same weights are used. A lower value means that weights did not arrive, or that another "
        "model samples."
    ),
    moves_with=("sampling/prob_difference/mean",),
    sources=("verl (source)",),
)
SAMPLING_PPL_RATIO = Signal(
    key="sampling/ppl_ratio",
    concept="mismatch_perplexity",
    title="Perplexity ratio of trainer to sampler",
    unit=Unit.NUMBER,
    reduction=Reduction.TOKEN,
    sign="1 means that both compute the same; above 1 the trainer finds the completions less likely.",
    low=0.0,
    what="Perplexity of the completions under the trainer, divided by that under the sampler.",
    formula="exp(mean_it (lp_sampler_it - lp_old_it)), by sequence, then averaged",
    healthy="Within a few per cent of 1 and flat.",
    moves_with=("sampling/kl", "perplexity"),
    sources=("verl and ms-swift (source)",),
)
