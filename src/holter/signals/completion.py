"""How long the policy's completions are, in tokens of the completion alone.

Guards against three counts under one name: tokens of the completion, tokens of prompt and completion (``sequence/*``), and the
width of the padded batch. Reward gained by length is the commonest cheap gain, so length is read beside every reward.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, PUBLIC_LOGS, TRL_GRPO, WINDOW

COMPLETIONS_MEAN_LENGTH = Signal(
    key="completions/mean_length",
    concept="length",
    title="Mean completion length",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    sign="Neither good nor bad.",
    low=0.0,
    what="Mean number of tokens of all completions, the end-of-sequence token included, prompt and padding left out.",
    formula="mean_i T_i",
    healthy=(
        "Drifts: up in 12 of 14 of our healthy GRPO runs (18 to 22 tokens), 0.63 to 1.9 times the start in healthy "
        "public runs. Growing together with reward is expected when the task is reasoning, suspicious when a reward "
        "model may like length. Twice its past median with a reward that is not rising, or below 0.4 of it, is a "
        "look. At the length limit with everything truncated it is the limit that is measured."
    ),
    differs=(
        "Documentation and code agree. Up to 0.16 TRL called it completion_length. Tokens of tools are not counted."
    ),
    moves_with=("completions/clipped_ratio", "reward", "entropy", "completions/mean_terminated_length"),
    sources=(
        TRL_GRPO,
        "Singhal et al., A Long Way to Go: Investigating Length Correlations in RLHF (2023)",
        "Liu et al., Understanding R1-Zero-Like Training (2025)",
        OUR_RUNS,
        PUBLIC_LOGS,
    ),
)
COMPLETIONS_MIN_LENGTH = Signal(
    key="completions/min_length",
    concept="length_min",
    title="Shortest completion",
    unit=Unit.TOKENS,
    reduction=Reduction.MIN,
    sign="Neither good nor bad.",
    low=0.0,
    what="Tokens of the shortest completion of the batch.",
    formula="min_i T_i",
    healthy=(
        "6-14 tokens in our runs with a mean of 20. 1 means that a completion ended at once, which is normal now "
        "and then; at 1 together with a falling mean it is a collapse of length. Equal to the maximum: all "
        "completions are cut."
    ),
    differs=(
        f"The documentation says minimum over all completions; it is the minimum of one generation batch. {WINDOW}"
    ),
    moves_with=("completions/mean_length", "completions/max_length"),
    sources=(TRL_GRPO, OUR_RUNS),
)
COMPLETIONS_MAX_LENGTH = Signal(
    key="completions/max_length",
    concept="length_max",
    title="Longest completion",
    unit=Unit.TOKENS,
    reduction=Reduction.MAX,
    sign="Neither good nor bad.",
    low=0.0,
    what="Tokens of the longest completion of the batch.",
    formula="max_i T_i",
    healthy=(
        "1.5 times the mean in our runs (31 tokens against 20). Constant at a round number it shows the length limit."
    ),
    differs=(
        f"The documentation says maximum over all completions; it is the maximum of one generation batch. {WINDOW}"
    ),
    moves_with=("completions/mean_length", "completions/clipped_ratio"),
    sources=(TRL_GRPO, OUR_RUNS),
)
COMPLETIONS_STD_LENGTH = Signal(
    key="completions/std_length",
    concept="length_spread",
    title="Standard deviation of the completion length",
    unit=Unit.TOKENS,
    reduction=Reduction.STD,
    sign="0 means that all completions are equally long.",
    low=0.0,
    what="Standard deviation of the number of tokens over the completions of the batch.",
    formula="std_i T_i",
    healthy=(
        "Grows and shrinks with the mean. 0 means that all completions are cut at the limit, or that the policy "
        "writes one answer."
    ),
    moves_with=("completions/mean_length", "completions/clipped_ratio"),
    sources=("SkyRL and TRL 0.4 - 0.11 (source)",),
)
COMPLETIONS_MEDIAN_LENGTH = Signal(
    key="completions/median_length",
    concept="length_median",
    title="Median completion length",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    sign="Neither good nor bad.",
    low=0.0,
    what="Number of tokens that half of the completions do not exceed.",
    formula="median_i T_i",
    healthy=(
        "Below the mean, because lengths have a long upper tail. At the length limit more than half of the "
        "completions are cut."
    ),
    moves_with=("completions/mean_length", "completions/clipped_ratio"),
    sources=("the frameworks' sources",),
)
COMPLETIONS_CORRECT_MEAN_LENGTH = Signal(
    key="completions/correct_mean_length",
    concept="length_correct",
    title="Mean length of correct completions",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    sign="Neither good nor bad.",
    low=0.0,
    what="Mean number of tokens of the completions that are correct.",
    formula="mean_(i correct) T_i",
    healthy="Below the length of wrong ones, because hard prompts get long answers and cut answers are wrong.",
    moves_with=("completions/incorrect_mean_length", "completions/mean_length", "accuracy"),
    sources=("open-instruct and SkyRL (source)", "Liu et al., Understanding R1-Zero-Like Training (2025)"),
)
COMPLETIONS_INCORRECT_MEAN_LENGTH = Signal(
    key="completions/incorrect_mean_length",
    concept="length_incorrect",
    title="Mean length of wrong completions",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    sign="Neither good nor bad.",
    low=0.0,
    what="Mean number of tokens of the completions that are wrong.",
    formula="mean_(i wrong) T_i",
    healthy=(
        "Above the length of correct ones. When it grows alone, a loss that is averaged within each sequence is "
        "making wrong answers longer: each token of a long one is punished less."
    ),
    moves_with=("completions/correct_mean_length", "completions/mean_length", "completions/clipped_ratio"),
    sources=("open-instruct and SkyRL (source)", "Liu et al., Understanding R1-Zero-Like Training (2025)"),
)
