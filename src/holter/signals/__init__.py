"""What is measured: one declaration a metric, and the functions that compute it from tensors.

The functions take and give tensors; importing them imports no torch. ``(B, T)`` are completion tokens, ``(B,)`` completions::

    from holter.signals import kl, kl_per_token, logprobs_and_entropy, ratio, tally

    logprobs, entropy = logprobs_and_entropy(logits, tokens)  # (B, T), nats
    drift = kl(logprobs, ref_logprobs, "k3")  # (B, T), nats a token
    total, count = kl_per_token(logprobs, ref_logprobs, mask)  # what `Recorder.record` takes

| from log-probabilities | |
|---|---|
| `logprobs_and_entropy`, `selected_logprobs`, `entropy` | of logits: at the tokens, over the vocabulary |
| `kl`, `k1`, `k2`, `k3` | each token's KL, by an estimator |
| `kl_per_token`, `kl_per_sequence` | its mean over tokens, or over completions of the sum |
| `log_ratio`, `ratio`, `sequence_log_ratio`, `ratio_statistics` | new against sampling policy |
| `clipped`, `clip_fraction`, `clipped_per_sequence`, `value_clipped` | where the clip of PPO cuts the gradient |

| from rewards, values and masks | |
|---|---|
| `group_advantages`, `group_statistics` | relative to the completions of a prompt |
| `explained_variance`, `explained_parts` | how much of the returns the values explain |
| `whiten` | mean 0, variance 1 |
| `tally`, `Tally`, `masked_mean`, `masked_sum`, `masked_var`, `masked_min`, `masked_max` | what every mean is made of |
"""

from holter.signals.divergence import k1, k2, k3, kl, kl_per_sequence, kl_per_token
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
from holter.signals.logprobs import entropy_from_logits as entropy
from holter.signals.logprobs import logprobs_and_entropy, selected_logprobs
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
    "entropy",
    "explained_parts",
    "explained_variance",
    "group_advantages",
    "group_statistics",
    "k1",
    "k2",
    "k3",
    "kl",
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
