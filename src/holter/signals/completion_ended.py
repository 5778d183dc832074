"""Whether completions end by themselves, and how long those are that do.

Guards against the word ``clipped``, which TRL uses for truncated completions and for clipped ratios, and against a length
of 0 that only means that none ended.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, PUBLIC_LOGS, TRL_GRPO, TRL_PPO, WINDOW

COMPLETIONS_CLIPPED_RATIO = Signal(
    key="completions/clipped_ratio",
    concept="truncation",
    title="Fraction of truncated completions",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Lower is better.",
    low=0.0,
    high=1.0,
    what="Share of completions that did not end by themselves and were cut at the length limit.",
    formula="mean_i [last token of completion i is neither EOS nor padding]",
    healthy=(
        "Exactly 0 in our runs; 0-0.56 at the start of healthy public ones (median 0.04), falling to a third. A "
        "base model may begin at 0.3-0.7 while it learns to stop. Above 0.2 and 15 points over its least value, or "
        "above one half for ten rows, it is a fault: cut answers earn nothing and teach nothing. From 0 to 1 within "
        "30 steps is the shape of a length collapse."
    ),
    differs=(
        "The documentation speaks of completions cut at the limit. The code tests the last token, not the length: "
        "an end at exactly the limit is not truncated, and a wrong EOS id gives 1 although no limit was met. AReaL "
        "compares with the longest of the batch, so its number is never 0."
    ),
    moves_with=("completions/mean_length", "completions/max_length", "reward", "frac_reward_zero_std"),
    sources=(TRL_GRPO, "Yu et al., DAPO (2025)", OUR_RUNS, PUBLIC_LOGS),
)
COMPLETIONS_MEAN_TERMINATED_LENGTH = Signal(
    key="completions/mean_terminated_length",
    concept="terminated_length",
    title="Mean length of ended completions",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    sign="Neither good nor bad.",
    low=0.0,
    what="Mean number of tokens of the completions that ended by themselves.",
    formula="mean_(i ended) T_i; 0 when none ended",
    healthy=(
        "Equal to `completions/mean_length` while nothing is truncated (14-26 tokens in our runs). Flat while the "
        "mean grows: more completions are cut."
    ),
    differs="Documentation and code agree, but for the case that none ended: the code then logs 0, which is no length.",
    moves_with=("completions/mean_length", "completions/clipped_ratio"),
    sources=(TRL_GRPO, OUR_RUNS),
)
COMPLETIONS_MIN_TERMINATED_LENGTH = Signal(
    key="completions/min_terminated_length",
    concept="terminated_length_min",
    title="Shortest ended completion",
    unit=Unit.TOKENS,
    reduction=Reduction.MIN,
    sign="Neither good nor bad.",
    low=0.0,
    what="Tokens of the shortest completion that ended by itself.",
    formula="min_(i ended) T_i; 0 when none ended",
    healthy=(
        "6-14 tokens in our runs with a mean of 20. 0 together with a truncated fraction of 1 means that none ended."
    ),
    differs=f"0 stands for none ended, which the documentation does not say. {WINDOW}",
    moves_with=("completions/mean_terminated_length", "completions/clipped_ratio"),
    sources=(TRL_GRPO, OUR_RUNS),
)
COMPLETIONS_MAX_TERMINATED_LENGTH = Signal(
    key="completions/max_terminated_length",
    concept="terminated_length_max",
    title="Longest ended completion",
    unit=Unit.TOKENS,
    reduction=Reduction.MAX,
    sign="Neither good nor bad.",
    low=0.0,
    what="Tokens of the longest completion that ended by itself.",
    formula="max_(i ended) T_i; 0 when none ended",
    healthy="Well below the length limit (31 of 48 tokens in our runs); near it, the limit is about to cut.",
    differs=f"0 stands for none ended, which the documentation does not say. {WINDOW}",
    moves_with=("completions/mean_terminated_length", "completions/max_length"),
    sources=(TRL_GRPO, OUR_RUNS),
)
VAL_NUM_EOS_TOKENS = Signal(
    key="val/num_eos_tokens",
    concept="eos_count",
    title="Number of EOS tokens",
    unit=Unit.COUNT,
    reduction=Reduction.RANK,
    sign="0 means that no completion ends.",
    low=0.0,
    what="Number of end-of-sequence tokens in the sampled batch of one process.",
    formula="sum_it [token_it = EOS] over the raw completions of the local process",
    healthy=(
        "The local batch size when every completion ends (32 of 32 in our PPO runs). Below it, the difference is "
        "truncated. Above it, generation goes on after EOS (85-117 of 32) or padding is EOS (270-419 of 32, and "
        "then it falls as completions grow)."
    ),
    differs=(
        "TRL's documentation offers it as the number of complete responses. It counts tokens, not completions, of "
        "the main process only, padding included where padding is EOS. It cannot be read without the batch size."
    ),
    moves_with=("objective/scores", "completions/eos_ratio", "objective/entropy"),
    sources=(TRL_PPO, OUR_RUNS),
)
COMPLETIONS_EOS_RATIO = Signal(
    key="completions/eos_ratio",
    concept="eos_fraction",
    title="Fraction of completions that ended",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Higher is better.",
    low=0.0,
    high=1.0,
    what="Share of completions that ended by themselves, by an end-of-sequence token or a stop string.",
    formula="1 - truncated completions / B",
    healthy="Near 1; a base model may begin at 0.3-0.7 while it learns to stop.",
    moves_with=("completions/clipped_ratio", "completions/mean_length"),
    sources=("open-instruct, NeMo-RL and NeMo-Aligner (source)", PUBLIC_LOGS),
)
COMPLETIONS_ABORTED_RATIO = Signal(
    key="completions/aborted_ratio",
    concept="aborted_fraction",
    title="Fraction of aborted completions",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="0 is normal.",
    low=0.0,
    high=1.0,
    what="Share of completions without a single token, or given up by the sampler.",
    formula="mean_i [T_i = 0 or aborted]",
    healthy="0. A lasting share points to the sampler: a queue that times out, a prompt longer than the context.",
    moves_with=("rollout/error_ratio", "completions/min_length"),
    sources=("verl (source)",),
)
COMPLETIONS_REPETITION_RATIO = Signal(
    key="completions/repetition_ratio",
    concept="repetition",
    title="Fraction of repetitive completions",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Lower is better.",
    low=0.0,
    high=1.0,
    what="Share of completions that a repetition test flags.",
    formula="mean_i [completion i repeats itself]",
    healthy="Near 0 and flat. Rising together with length and truncation means that completions run on in a loop.",
    moves_with=("completions/mean_length", "completions/clipped_ratio", "entropy"),
    sources=("slime (source)",),
)
