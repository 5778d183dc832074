"""Signals of sampling."""

from __future__ import annotations

from holter.signals.base import Estimator, Reduction, Signal, Unit

SAMPLING_SAMPLING_LOGP_DIFFERENCE_MEAN = Signal(
    key="sampling/sampling_logp_difference/mean",
    concept="mismatch",
    title="Log-probability gap between sampler and trainer",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.ABS,
    low=0.0,
    what="Mean |logp_trainer - logp_sampler|.",
    healthy="",
)
SAMPLING_SAMPLING_LOGP_DIFFERENCE_MAX = Signal(
    key="sampling/sampling_logp_difference/max",
    concept="mismatch_max",
    title="Largest log-probability gap between sampler and trainer",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.MAX,
    estimator=Estimator.ABS,
    low=0.0,
    what="Maximum of the same.",
    healthy="",
)
SAMPLING_IMPORTANCE_SAMPLING_RATIO_MEAN = Signal(
    key="sampling/importance_sampling_ratio/mean",
    concept="sampler_ratio",
    title="Importance ratio of trainer to sampler",
    unit=Unit.NUMBER,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Mean trainer/sampler probability ratio.",
    healthy="",
)
SAMPLING_IMPORTANCE_SAMPLING_RATIO_MIN = Signal(
    key="sampling/importance_sampling_ratio/min",
    concept="sampler_ratio_min",
    title="Smallest importance ratio of trainer to sampler",
    unit=Unit.NUMBER,
    reduction=Reduction.MIN,
    low=0.0,
    what="Smallest ratio.",
    healthy="",
)
SAMPLING_IMPORTANCE_SAMPLING_RATIO_MAX = Signal(
    key="sampling/importance_sampling_ratio/max",
    concept="sampler_ratio_max",
    title="Largest importance ratio of trainer to sampler",
    unit=Unit.NUMBER,
    reduction=Reduction.MAX,
    low=0.0,
    what="Largest ratio.",
    healthy="",
)
SAMPLING_KL = Signal(
    key="sampling/kl",
    concept="mismatch_kl",
    title="KL of sampler and trainer",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K1,
    what="KL(sampler||trainer), k1.",
    healthy="",
)
SAMPLING_KL_K2 = Signal(
    key="sampling/kl_k2",
    concept="mismatch_kl",
    title="KL of sampler and trainer by k2",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K2,
    low=0.0,
    rank=1,
    what="The same with k2.",
    healthy="",
)
SAMPLING_KL_K3 = Signal(
    key="sampling/kl_k3",
    concept="mismatch_kl",
    title="KL of sampler and trainer by k3",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K3,
    low=0.0,
    rank=2,
    what="The same with k3.",
    healthy="",
)
SAMPLING_KL_REVERSE = Signal(
    key="sampling/kl_reverse",
    concept="mismatch_kl_reverse",
    title="KL of trainer and sampler",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K1,
    what="KL(trainer||sampler).",
    healthy="",
)
SAMPLING_PROB_DIFFERENCE_MEAN = Signal(
    key="sampling/prob_difference/mean",
    concept="mismatch_probability",
    title="Probability gap between sampler and trainer",
    unit=Unit.PROBABILITY,
    reduction=Reduction.TOKEN,
    low=0.0,
    high=1.0,
    what="Mean |p_trainer - p_sampler|.",
    healthy="",
)
SAMPLING_PROB_DIFFERENCE_MAX = Signal(
    key="sampling/prob_difference/max",
    concept="mismatch_probability_max",
    title="Largest probability gap between sampler and trainer",
    unit=Unit.PROBABILITY,
    reduction=Reduction.MAX,
    low=0.0,
    high=1.0,
    what="Maximum of the same.",
    healthy="",
)
SAMPLING_LOGP_DIFFERENCE_STD = Signal(
    key="sampling/logp_difference/std",
    concept="mismatch_std",
    title="Spread of the log-probability gap between sampler and trainer",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.STD,
    low=0.0,
    what="Std of the log-probability difference.",
    healthy="",
)
SAMPLING_MULT_PROB_ERROR = Signal(
    key="sampling/mult_prob_error",
    concept="mismatch_error",
    title="Multiplicative probability error of the sampler",
    unit=Unit.NUMBER,
    reduction=Reduction.TOKEN,
    low=1.0,
    what="Mean exp|dlogp|.",
    healthy="",
)
SAMPLING_PEARSON = Signal(
    key="sampling/pearson",
    concept="mismatch_correlation",
    title="Correlation of sampler and trainer probabilities",
    unit=Unit.NUMBER,
    reduction=Reduction.TOKEN,
    low=-1.0,
    high=1.0,
    what="Correlation of trainer and sampler probabilities.",
    healthy="",
)
SAMPLING_PPL_RATIO = Signal(
    key="sampling/ppl_ratio",
    concept="mismatch_perplexity",
    title="Perplexity ratio of trainer to sampler",
    unit=Unit.NUMBER,
    reduction=Reduction.TOKEN,
    low=0.0,
    what="Trainer/sampler perplexity ratio.",
    healthy="",
)
SAMPLING_ESS = Signal(
    key="sampling/ess",
    concept="mismatch_ess",
    title="Effective sample size of the importance weights",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Effective sample size of importance weights.",
    healthy="",
)
SAMPLING_FILTERED_FRAC = Signal(
    key="sampling/filtered_frac",
    concept="mismatch_filtered",
    title="Fraction of samples cut by importance sampling",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share of tokens or sequences cut by importance or rejection sampling.",
    healthy="",
)
