"""The terms the optimizer minimises.

Guards against reading progress into them: a policy loss is about 0 by construction and its trend means nothing, and a loss of
exactly 0.0 may be a NaN that the logger replaced.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import FULL_TABLE, OUR_RUNS, PUBLIC_LOGS, TRL_GRPO, TRL_PPO

LOSS_POLICY_AVG = Signal(
    key="loss/policy_avg",
    concept="policy_loss",
    title="Policy loss",
    unit=Unit.NUMBER,
    reduction=Reduction.TOKEN,
    sign="Minimised. Slightly negative within an update is progress on that batch.",
    what="Clipped policy-gradient loss, averaged over the completion tokens of the update; without the value term.",
    formula="masked mean of max(-A r, -A clip(r, 1 - eps, 1 + eps))",
    healthy=(
        "Around 0: -0.06 to 0.03 in our PPO runs, falling in 4 of 8, rising in 1. Advantages are centred, so "
        "neither level nor trend says how the policy does. Only a non-finite value does."
    ),
    differs=(
        "The documentation says that it shows how well the policy performs; by construction it does not. verl "
        "changed its scale several times (mean over micro-batches up to 0.5, a sum over mini-batches and epochs in "
        "0.7). GRPO logs it as policy_loss only with an entropy bonus. "
        f"{FULL_TABLE}"
    ),
    moves_with=("loss/value_avg", "policy/clipfrac_avg", "grad_norm"),
    sources=(TRL_PPO, "Schulman et al., Proximal Policy Optimization Algorithms (2017)", "verl (source)", OUR_RUNS),
)
LOSS_VALUE_AVG = Signal(
    key="loss/value_avg",
    concept="value_loss",
    title="Value loss",
    unit=Unit.REWARD_SQUARED,
    reduction=Reduction.TOKEN,
    sign="Minimised; 0 is a perfect value function.",
    low=0.0,
    what=(
        "Half the clipped squared error of the value estimates against the returns, averaged over completion "
        "tokens, before it is weighted by vf_coef."
    ),
    formula="0.5 * masked mean of max((v - ret)^2, (clip(v, v_old - c, v_old + c) - ret)^2)",
    healthy=(
        "Falls fast, then follows the spread of the returns: 0.5 to 0.2 reward^2 in our PPO runs (8 of 8 fall), "
        "with jumps of 2 to 4 times when scores rise fast; 10 to 0.03-0.17 in verl, 4-10 and hardly falling in "
        "public TRL runs. It scales with the square of the reward: 3 million is normal for rewards of 1,000. A slow "
        "rise while rewards spread is benign. 2.5 times its past median and a new maximum is a look."
    ),
    differs=(
        "TRL's documentation says that it spikes when training goes wrong. In reward hacking it falls (0.13 to "
        "0.002 in our runs), because a saturated reward is easy to predict. slime, Stable-Baselines3 and RL4LMs "
        "leave out the factor 0.5; their dialects put it in. "
        f"{FULL_TABLE}"
    ),
    moves_with=("explained_variance", "val/clipfrac_avg", "returns/std", "objective/scores", "critic/grad_norm"),
    sources=(
        TRL_PPO,
        "Schulman et al., Proximal Policy Optimization Algorithms (2017)",
        "Yuan et al., What's Behind PPO's Collapse in Long-CoT? Value Optimization Holds the Secret (2025)",
        OUR_RUNS,
        PUBLIC_LOGS,
    ),
)
LOSS = Signal(
    key="loss",
    concept="total_loss",
    title="Total loss",
    unit=Unit.NUMBER,
    reduction=Reduction.MICRO_BATCH,
    sign="Minimised.",
    what="The loss that is minimised, with all its terms, averaged over the logging window.",
    formula="policy loss + beta * KL (+ vf_coef * value loss - entropy_coef * entropy)",
    healthy=(
        "GRPO: starts at 0 and drifts up with beta * KL, -0.21 to 0.19 in our runs, median -0.003; it rises in 6 of "
        "14 healthy runs and falls in 2, so it carries no information. Exactly 0 with a finite gradient norm and a "
        "KL that moves is normal."
    ),
    differs=(
        "transformers replaces a NaN or infinite loss by the running mean of the window (logging_nan_inf_filter, on "
        "by default): with logging_steps 1 a NaN loss is printed as 0.0, and only grad_norm or a vanished kl gives "
        "it away. Losses are normalised differently by loss_type and cannot be compared across types. TRL's "
        "PPOTrainer does not log it."
    ),
    moves_with=("grad_norm", "kl", "loss/policy_avg"),
    sources=(TRL_GRPO, "transformers 5.24, Trainer (source)", OUR_RUNS),
)
LOSS_AUX = Signal(
    key="loss/aux",
    concept="aux_loss",
    title="Auxiliary loss",
    unit=Unit.NUMBER,
    sign="Minimised.",
    what="A loss that is not the policy's: load balancing of a mixture of experts, or a share of pretraining data.",
    formula="router load-balancing loss, or language-model loss on other data",
    healthy=(
        "Near its value before training and flat. A rise means that the experts are used less evenly, or that the "
        "model forgets its pretraining."
    ),
    differs="TRL logs it as aux_loss from 1.9 on, for models that return router logits; not in the documented list.",
    moves_with=("loss",),
    sources=(
        TRL_GRPO,
        "Fedus et al., Switch Transformers (2021)",
        "Ouyang et al., Training Language Models to Follow Instructions with Human Feedback (2022)",
    ),
)
