"""Lengths of what goes into the model: prompts, and prompts with their completions.

Guards against frameworks that call this the response length: AReaL's ``seq_len`` and NeMo-Aligner's ``response_lengths``
include the prompt. What the policy itself wrote is in ``completion``.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS

SEQUENCE_MEAN_LENGTH = Signal(
    key="sequence/mean_length",
    concept="sequence_length",
    title="Mean sequence length",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    sign="Neither good nor bad.",
    low=0.0,
    what="Tokens of prompt and completion together, averaged over the batch.",
    formula="mean_i (P_i + T_i), P_i prompt tokens",
    healthy="Moves with the completion length, since prompts do not change on average.",
    moves_with=("completions/mean_length", "prompt_length/mean"),
    sources=("AReaL, NeMo-RL, OpenRLHF and prime-rl (source)",),
)
SEQUENCE_MIN_LENGTH = Signal(
    key="sequence/min_length",
    concept="sequence_length_min",
    title="Shortest sequence",
    unit=Unit.TOKENS,
    reduction=Reduction.MIN,
    sign="Neither good nor bad.",
    low=0.0,
    what="Tokens of prompt and completion together, the least of any sequence in the batch.",
    formula="min_i (P_i + T_i), P_i prompt tokens",
    healthy="Steady within the noise of the prompts.",
    moves_with=("completions/mean_length", "prompt_length/mean"),
    sources=("AReaL (source)",),
)
SEQUENCE_MAX_LENGTH = Signal(
    key="sequence/max_length",
    concept="sequence_length_max",
    title="Longest sequence",
    unit=Unit.TOKENS,
    reduction=Reduction.MAX,
    sign="Neither good nor bad.",
    low=0.0,
    what="Tokens of prompt and completion together, the most of any sequence in the batch.",
    formula="max_i (P_i + T_i), P_i prompt tokens",
    healthy="Below the context length of the model; at it, prompts or completions are cut.",
    moves_with=("completions/mean_length", "prompt_length/mean"),
    sources=("AReaL (source)",),
)
PROMPT_LENGTH_MEAN = Signal(
    key="prompt_length/mean",
    concept="prompt_length",
    title="Mean prompt length",
    unit=Unit.TOKENS,
    reduction=Reduction.BATCH,
    sign="Neither good nor bad.",
    low=0.0,
    what="Mean number of tokens of the prompts.",
    formula="mean_i P_i",
    healthy=(
        "Steady within noise. A step is a change of the data or of the chat template, and explains steps of reward "
        "and length at the same row."
    ),
    moves_with=("prompt_length/clipped_ratio", "reward"),
    sources=("verl, EasyR1 and ROLL (source)",),
)
PROMPT_LENGTH_MIN = Signal(
    key="prompt_length/min",
    concept="prompt_length_min",
    title="Shortest prompt",
    unit=Unit.TOKENS,
    reduction=Reduction.MIN,
    sign="Neither good nor bad.",
    low=0.0,
    what="Tokens of the shortest prompt of the batch.",
    formula="min_i P_i",
    healthy="Steady within noise; 0 or 1 tokens is a broken template.",
    moves_with=("prompt_length/mean", "prompt_length/clipped_ratio", "reward"),
    sources=("verl, EasyR1 and ROLL (source)",),
)
PROMPT_LENGTH_MAX = Signal(
    key="prompt_length/max",
    concept="prompt_length_max",
    title="Longest prompt",
    unit=Unit.TOKENS,
    reduction=Reduction.MAX,
    sign="Neither good nor bad.",
    low=0.0,
    what="Tokens of the longest prompt of the batch.",
    formula="max_i P_i",
    healthy="Below the prompt limit; constant at it, prompts are cut.",
    moves_with=("prompt_length/mean", "prompt_length/clipped_ratio", "reward"),
    sources=("verl, EasyR1 and ROLL (source)",),
)
PROMPT_LENGTH_CLIPPED_RATIO = Signal(
    key="prompt_length/clipped_ratio",
    concept="prompt_truncation",
    title="Fraction of truncated prompts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Lower is better.",
    low=0.0,
    high=1.0,
    what="Share of prompts as long as the prompt limit, so that they were probably cut.",
    formula="mean_i [P_i = limit]",
    healthy="0. A lasting share means that the model answers questions it has not seen whole.",
    moves_with=("prompt_length/max", "reward"),
    sources=("verl (source)",),
)
PADDING_RATIO = Signal(
    key="padding_ratio",
    concept="padding",
    title="Fraction of padding",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Lower is cheaper.",
    low=0.0,
    high=1.0,
    what="Share of positions of the batch that are padding or masked.",
    formula="1 - sum_it m_it / (B * T)",
    healthy=(
        "0.4 in our GRPO runs, 0.6 with longer completions: sequences of one batch differ in length. It only costs "
        "time, unless a metric counts padding, as several of TRL's PPO do."
    ),
    moves_with=("completions/max_length", "step_time"),
    sources=("trlX and verifiers (source)", OUR_RUNS),
)
