"""What is measured: one declaration a metric, and the functions that compute it from tensors.

The functions take and give tensors of the caller's framework by their methods; importing them imports no torch::

    from holter.signals import k3, kl_per_token, logprobs_and_entropy, clipped, tally
"""

from holter.signals.divergence import k1, k2, k3, kl_estimate, kl_per_sequence, kl_per_token
from holter.signals.explained import explained_parts, explained_variance
from holter.signals.grouped import group_advantages, group_statistics
from holter.signals.importance import (
    clip_fraction,
    clipped,
    clipped_per_sequence,
    log_ratio,
    ratio,
    ratio_statistics,
    sequence_log_ratio,
    value_clipped,
)
from holter.signals.logprobs import entropy_from_logits, logprobs_and_entropy, selected_logprobs
from holter.signals.masked import (
    Tally,
    masked_max,
    masked_mean,
    masked_min,
    masked_sum,
    masked_var,
    tally,
    whiten,
)

__all__ = [
    "Tally",
    "clip_fraction",
    "clipped",
    "clipped_per_sequence",
    "entropy_from_logits",
    "explained_parts",
    "explained_variance",
    "group_advantages",
    "group_statistics",
    "k1",
    "k2",
    "k3",
    "kl_estimate",
    "kl_per_sequence",
    "kl_per_token",
    "log_ratio",
    "logprobs_and_entropy",
    "masked_max",
    "masked_mean",
    "masked_min",
    "masked_sum",
    "masked_var",
    "ratio",
    "ratio_statistics",
    "selected_logprobs",
    "sequence_log_ratio",
    "tally",
    "value_clipped",
    "whiten",
]
