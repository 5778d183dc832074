"""What the value function is taught: the discounted reward still to come, after each token.

Guards against taking them for the reward: with a group baseline and no value model some frameworks log the advantage under this
name, which is about 0.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

RETURNS_MEAN = Signal(
    key="returns/mean",
    concept="return_mean",
    title="Mean return",
    unit=Unit.REWARD,
    sign="Higher is better, in reward units.",
    what="Mean over completion tokens of the return, the target of the value function.",
    formula="mean_it ret_it, ret_t = A_t + v_old_t",
    healthy=(
        "Follows the reward after the KL penalty. `value/mean` should lie near it once the value model has warmed up."
    ),
    differs=(
        "Without a value model verl logs the advantage under this name; OpenRLHF's is about 0 with group baselines."
    ),
    moves_with=("value/mean", "objective/rlhf_reward", "loss/value_avg"),
    sources=(
        "Schulman et al., High-Dimensional Continuous Control Using Generalized Advantage Estimation (2015)",
        "verl, OpenRLHF and trlX (source)",
    ),
)
RETURNS_STD = Signal(
    key="returns/std",
    concept="return_std",
    title="Standard deviation of the returns",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    sign="0 means that every token has the same return.",
    low=0.0,
    what="Standard deviation of the returns over completion tokens.",
    formula="std_it ret_it",
    healthy="Of the order of the spread of scores. Value losses are judged against its square.",
    moves_with=("returns/mean", "loss/value_avg", "reward_std"),
    sources=(
        "trlX and NeMo-Aligner (source)",
        "Schulman et al., High-Dimensional Continuous Control Using Generalized Advantage Estimation (2015)",
    ),
)
RETURNS_VAR = Signal(
    key="returns/var",
    concept="return_var",
    title="Variance of the returns",
    unit=Unit.REWARD_SQUARED,
    sign="0 means that every token has the same return.",
    low=0.0,
    what="Variance of the returns over completion tokens.",
    formula="var_it ret_it",
    healthy=(
        "Of the order of the squared spread of scores; the value loss of an untrained value model is half of it or "
        "more."
    ),
    moves_with=("explained_variance", "loss/value_avg", "returns/mean"),
    sources=(
        "Ziegler et al., Fine-Tuning Language Models from Human Preferences (2019)",
        "TRL 0.4 - 0.11, PPOTrainer (source)",
    ),
)
RETURNS_MIN = Signal(
    key="returns/min",
    concept="return_min",
    title="Smallest return",
    unit=Unit.REWARD,
    reduction=Reduction.MIN,
    sign="Higher is better, in reward units.",
    what="Smallest return of any completion token in the batch.",
    formula="min_it ret_it",
    healthy="Near the smallest reward less the KL penalty. Far below it, the discounting or the mask is wrong.",
    moves_with=("returns/mean", "returns/max", "reward/min"),
    sources=("verl, ROLL and trlX (source)",),
)
RETURNS_MAX = Signal(
    key="returns/max",
    concept="return_max",
    title="Largest return",
    unit=Unit.REWARD,
    reduction=Reduction.MAX,
    sign="Higher is better, in reward units.",
    what="Largest return of any completion token in the batch.",
    formula="max_it ret_it",
    healthy="Near the largest reward. Far above it, the discounting or the mask is wrong.",
    moves_with=("returns/mean", "returns/min", "reward/max"),
    sources=("verl, ROLL and trlX (source)",),
)
