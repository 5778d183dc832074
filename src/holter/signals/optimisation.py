"""What the optimizer does: how large a step, along how large a gradient.

Guards against calling the gradient norm an alarm: it has a heavy tail in health, is 0 in batches without reward spread, and falls
in several kinds of collapse.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, PUBLIC_LOGS, TRL_GRPO, TRL_PPO

LR = Signal(
    key="lr",
    concept="lr",
    title="Learning rate",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    sign="0 means that nothing is learnt at this step.",
    low=0.0,
    what="Learning rate of the policy used for this step.",
    formula="schedule(step)",
    healthy=(
        "Follows its schedule: warm-up, then constant or decay. 0 in the first row is a warm-up; 0 in every row "
        "means that the run trains nothing. 1e-6 to 1e-5 is common for full fine-tuning, 10 times that for LoRA. A "
        "plateau that begins where it reaches 0 is the end of the schedule, no fault."
    ),
    differs=(
        "Documentation and code agree. PPO logs lr, the rate used in this update; GRPO logs learning_rate, the rate "
        "of the last step in the window. Both are the first parameter group's only. On the console of transformers "
        "5 it is a string of 4 digits."
    ),
    moves_with=("grad_norm", "kl", "policy/approxkl_avg"),
    sources=(TRL_PPO, TRL_GRPO, OUR_RUNS),
)
GRAD_NORM = Signal(
    key="grad_norm",
    concept="grad_norm",
    title="Gradient norm",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    sign="0 means no learning signal.",
    low=0.0,
    what="Norm of the policy's gradient over all parameters, before it is clipped.",
    formula="sqrt(sum_p |dL/dp|^2)",
    healthy=(
        "0.04-1.7 in our runs; 0.03 to 3.9 at the start of healthy public ones (median 0.54) and 0.24 at their end. "
        "Heavy-tailed: the largest row is 4 times the median in half of them, 18 times in a tenth; single spikes of "
        "10 times mean nothing by themselves. Exactly 0 where no group has reward spread: 38-82 % of the rows of "
        "solved runs. Below a thousandth of its start for many rows the policy is dead."
    ),
    differs=(
        "GRPO reports the last step of the logging window only. It is not covered by the filter that hides NaN "
        "losses, so a NaN shows here first. NeMo-RL sums it over the optimizer steps of a batch, verl averages. "
        "TRL's PPOTrainer neither clips nor logs it."
    ),
    moves_with=("loss", "lr", "frac_reward_zero_std", "kl"),
    sources=("transformers 5.24, Trainer (source)", OUR_RUNS, PUBLIC_LOGS),
)
CRITIC_GRAD_NORM = Signal(
    key="critic/grad_norm",
    concept="critic_grad_norm",
    title="Gradient norm of the value model",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    sign="0 means that the value model is not trained.",
    low=0.0,
    what="Norm of the value model's gradient, before it is clipped.",
    formula="sqrt(sum_p |dL_value/dp|^2)",
    healthy=(
        "Large at the start, when the value model knows nothing, then falling with the value loss. It scales with "
        "the reward."
    ),
    differs="TRL's PPOTrainer does not log it.",
    moves_with=("loss/value_avg", "critic/lr", "explained_variance"),
    sources=("verl, OpenRLHF and NeMo-RL (source)",),
)
CRITIC_LR = Signal(
    key="critic/lr",
    concept="critic_lr",
    title="Learning rate of the value model",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    sign="0 means that the value model is frozen at this step.",
    low=0.0,
    what="Learning rate of the value model used for this step.",
    formula="schedule(step)",
    healthy="Follows its schedule, commonly 1 to 10 times the policy's.",
    differs="TRL's PPOTrainer has one optimizer for both models and logs lr only.",
    moves_with=("loss/value_avg", "critic/grad_norm"),
    sources=("verl, OpenRLHF and NeMo-RL (source)",),
)
HEALTH_UPDATE_SKIPPED = Signal(
    key="health/update_skipped",
    concept="update_skipped",
    title="Fraction of skipped updates",
    unit=Unit.FRACTION,
    sign="0 means that every update was applied.",
    low=0.0,
    high=1.0,
    what=(
        "Share of optimizer updates that were dropped: non-finite gradients, an overflow of the loss scale, or a "
        "batch held for too far off."
    ),
    formula="skipped updates / all updates since the last row",
    healthy=(
        "0. With fp16 a few at the start while the loss scale settles. Lastingly 1 means that the run stands still "
        "and its other metrics describe an untrained policy."
    ),
    moves_with=("grad_norm", "loss", "lr"),
    sources=("ColossalChat and AReaL (source)",),
)
