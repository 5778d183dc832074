"""How far rewards differ, over the batch and within the completions of one prompt.

Guards against one name with three meanings: TRL's ``reward_std`` was the mean within-group spread up to 0.26 and is the spread of
the whole batch from 0.27 on. Only spread within groups gives GRPO a gradient.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, PUBLIC_LOGS, TRL_GRPO

REWARD_STD = Signal(
    key="reward_std",
    concept="reward_spread",
    title="Reward spread",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    sign="0 means that all completions are paid the same.",
    low=0.0,
    what="Standard deviation of the rewards, in current TRL over all completions of the batch.",
    formula="std_i of sum_k w_k R_k(i), n - 1 in the denominator",
    healthy=(
        "Falls in 13 of 14 of our healthy runs, 0.54 to 0.36, as completions agree more; 0.39 to 0.28 (medians) in "
        "healthy public runs. 0 means no learning signal. A step of reward and reward_std together is a rescaled "
        "reward."
    ),
    differs=(
        "TRL's documentation says the standard deviation before group normalisation, which fits all three codes: "
        "the mean over groups of the within-group std (0.14 - 0.21), the same or the global std by scale_rewards "
        "(0.22 - 0.26), the std of the whole batch (from 0.27 on). An upgrade moves the curve with no change in "
        "training. In the last form it can be large while every group is constant: read frac_reward_zero_std."
    ),
    moves_with=("frac_reward_zero_std", "reward", "grad_norm"),
    sources=(TRL_GRPO, OUR_RUNS, PUBLIC_LOGS),
)
REWARDS_COMPONENT_STD = Signal(
    key="rewards/{name}/std",
    concept="reward_component_spread",
    title="Spread of one reward function",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    sign="0 means that this function pays every completion the same.",
    low=0.0,
    what="Standard deviation of the raw output of one reward function over all completions of the batch.",
    formula="nanstd_i R_k(i), n - 1 in the denominator",
    healthy=(
        "Above 0 as long as the function tells completions apart. Exactly 0 from some step on is an outage, a "
        "saturated function, or a policy that writes one answer."
    ),
    differs=(
        "Documentation and code agree that it is a standard deviation; the code takes it across groups, so it mixes "
        "the difficulty of prompts with the noise of sampling. With fewer than two numbers it is left out."
    ),
    moves_with=("rewards/{name}/mean", "reward_std", "frac_reward_zero_std"),
    sources=(TRL_GRPO, OUR_RUNS),
)
REWARD_GROUP_STD = Signal(
    key="reward_group_std",
    concept="reward_group_spread",
    title="Reward spread within groups",
    unit=Unit.REWARD,
    reduction=Reduction.GROUP,
    sign="0 means that no group has a gradient.",
    low=0.0,
    what="Standard deviation of the rewards of one prompt's completions, averaged over prompts.",
    formula="mean_g std_(i in g) R_i",
    healthy=(
        "Falls slowly as prompts are solved. For rewards of 0 and 1 at most about 0.5 in large groups, and the "
        "lower the more prompts are solved nearly always or never."
    ),
    differs="TRL up to 0.21 logs this quantity as reward_std.",
    moves_with=("reward_std", "frac_reward_zero_std", "groups/mixed"),
    sources=("OpenRLHF, RAGEN and ART (source)", "Shao et al., DeepSeekMath (2024)"),
)
