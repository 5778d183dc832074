"""What the value model expects, and how far off it is.

Guards against judging it by the loss alone: the loss falls when rewards saturate and rises when they spread. Explained variance
is the scale-free measure, and the mean error shows a bias that neither shows.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import PUBLIC_LOGS

EXPLAINED_VARIANCE = Signal(
    key="explained_variance",
    concept="explained_variance",
    title="Explained variance of the value function",
    unit=Unit.NUMBER,
    sign="1 is perfect, 0 no better than the mean, negative worse than the mean.",
    high=1.0,
    what="Share of the variance of the returns that the value estimates explain.",
    formula="1 - var(ret - v) / var(ret)",
    healthy=(
        "Starts about 0 or below and rises to 0.3-0.9. Single rows far below 0 (-48 in a public log) come from "
        "batches with hardly any spread. Lastingly below -0.2 after 40 rows the value model does harm."
    ),
    differs="TRL logs it up to 0.11 only (PPOTrainer of that time).",
    moves_with=("loss/value_avg", "returns/var", "value/mean_error"),
    sources=(
        "Schulman et al., High-Dimensional Continuous Control Using Generalized Advantage Estimation (2015)",
        "verl, NeMo-RL and Stable-Baselines3 (source)",
        PUBLIC_LOGS,
    ),
)
VALUE_MEAN = Signal(
    key="value/mean",
    concept="value_mean",
    title="Mean value estimate",
    unit=Unit.REWARD,
    sign="In reward units.",
    what="Mean over completion tokens of the value model's estimate.",
    formula="mean_it v_it",
    healthy=(
        "Approaches `returns/mean` in the first tens of steps and follows it. An estimate of 0.5 against returns of "
        "0.1 that does not close is a value model that is not trained."
    ),
    moves_with=("returns/mean", "value/mean_error", "loss/value_avg"),
    sources=(
        "Schulman et al., High-Dimensional Continuous Control Using Generalized Advantage Estimation (2015)",
        "Yuan et al., What's Behind PPO's Collapse in Long-CoT? Value Optimization Holds the Secret (2025)",
        "verl, TRL 0.4 - 0.11 and NeMo-Aligner (source)",
    ),
)
VALUE_MEAN_ERROR = Signal(
    key="value/mean_error",
    concept="value_bias",
    title="Mean error of the value estimates",
    unit=Unit.REWARD,
    reduction=Reduction.TOKEN,
    sign="Positive: it promises too much, and advantages are too low. Negative: it promises too little.",
    what="Mean over completion tokens of value estimate minus return: the bias of the value model.",
    formula="sum_it m_it (v_it - ret_it) / sum_it m_it",
    healthy=(
        "Near 0 against the spread of the returns once warmed up; no measured band is known. At the start it may be "
        "large: a value model that starts as the reward model overrates early tokens, which shortens completions."
    ),
    differs="TRL does not log it.",
    moves_with=("value/mean", "returns/mean", "explained_variance", "advantages/mean"),
    sources=(
        "Schulman et al., High-Dimensional Continuous Control Using Generalized Advantage Estimation (2015)",
        "Yuan et al., What's Behind PPO's Collapse in Long-CoT? Value Optimization Holds the Secret (2025)",
    ),
)
VALUE_ERROR = Signal(
    key="value/error",
    concept="value_error",
    title="Squared error of the value estimates",
    unit=Unit.REWARD_SQUARED,
    sign="0 is perfect.",
    low=0.0,
    what=(
        "Mean squared error of the value estimates against the returns, without clipping and without the factor one "
        "half."
    ),
    formula="mean_it (v_it - ret_it)^2",
    healthy="Falls below `returns/var` in the first tens of steps and stays there.",
    moves_with=("loss/value_avg", "explained_variance", "returns/var"),
    sources=(
        "Ziegler et al., Fine-Tuning Language Models from Human Preferences (2019)",
        "TRL 0.4 - 0.11, trlX and ROLL (source)",
    ),
)
VALUE_STD = Signal(
    key="value/std",
    concept="value_std",
    title="Standard deviation of the value estimates",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    sign="0 means one estimate for every token.",
    low=0.0,
    what="Standard deviation of the value estimates over completion tokens.",
    formula="std_it v_it",
    healthy="Grows from near 0 towards `returns/std` and stays below it.",
    moves_with=("value/mean", "returns/std"),
    sources=("trlX and NeMo-Aligner (source)",),
)
VALUE_VAR = Signal(
    key="value/var",
    concept="value_var",
    title="Variance of the value estimates",
    unit=Unit.REWARD_SQUARED,
    sign="0 means one estimate for every token.",
    low=0.0,
    what="Variance of the value estimates over completion tokens.",
    formula="var_it v_it",
    healthy="Grows from near 0 towards `returns/var` and stays below it.",
    moves_with=("value/mean", "returns/var"),
    sources=(
        "Ziegler et al., Fine-Tuning Language Models from Human Preferences (2019)",
        "TRL 0.4 - 0.11, PPOTrainer (source)",
    ),
)
VALUE_MIN = Signal(
    key="value/min",
    concept="value_min",
    title="Smallest value estimate",
    unit=Unit.REWARD,
    reduction=Reduction.MIN,
    sign="In reward units.",
    what="Smallest value estimate of any completion token in the batch.",
    formula="min_it v_it",
    healthy="Not far below `returns/min`; further out, the value model extrapolates.",
    moves_with=("value/mean", "value/max", "returns/min"),
    sources=("verl, ROLL and trlX (source)",),
)
VALUE_MAX = Signal(
    key="value/max",
    concept="value_max",
    title="Largest value estimate",
    unit=Unit.REWARD,
    reduction=Reduction.MAX,
    sign="In reward units.",
    what="Largest value estimate of any completion token in the batch.",
    formula="max_it v_it",
    healthy="Not far above `returns/max`; further out, the value model extrapolates.",
    moves_with=("value/mean", "value/min", "returns/max"),
    sources=("verl, ROLL and trlX (source)",),
)
