"""What the completions are paid, before and after the KL penalty.

Guards against three mix-ups: score (reward model only) and reward (with the penalty); reward and group-normalised
advantage, whose mean is 0; and a reward that rises and a policy that gets better, which only held-out evaluation can tell.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, PUBLIC_LOGS, TRL_GRPO, TRL_PPO

REWARD = Signal(
    key="reward",
    concept="reward",
    title="Reward",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    sign="Higher is what training aims at. The zero has no meaning.",
    what=(
        "Mean over completions of the weighted sum of all reward functions, before any KL penalty and before any "
        "normalisation."
    ),
    formula="mean_i sum_k w_k R_k(i)",
    healthy=(
        "Rises and flattens; it may stay flat for the first 50-150 steps. In reward units that differ from task to "
        "task (-22 to 32 in public logs), so only changes can be judged: against its own noise, and beside a "
        "held-out score, because it rises just as well when the policy exploits the reward."
    ),
    differs=(
        "TRL's documentation says that it is the mean after group normalisation, that is of the advantage. In every "
        "release from 0.14 to 1.16 it is the raw weighted sum; a mean of group-normalised rewards would be 0 "
        "always. From 1.6 on a completion that no function scored is left out (it counted 0 up to 1.3); where one "
        "of several functions returned NaN, that part counts 0. 0.14 did not weight."
    ),
    moves_with=("reward_std", "kl", "eval/reward", "completions/mean_length", "rewards/{name}/mean"),
    sources=(TRL_GRPO, "Gao et al., Scaling Laws for Reward Model Overoptimization (2022)", OUR_RUNS, PUBLIC_LOGS),
)
OBJECTIVE_SCORES = Signal(
    key="objective/scores",
    concept="reward",
    title="Score",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    sign="Higher is what the reward model likes. The zero has no meaning.",
    rank=1,
    what="Mean score of the reward model over completions, before the KL penalty.",
    formula="mean_i (score_i - missing_eos_penalty [no EOS in completion i])",
    healthy=(
        "Rises and flattens: 0.1 to 3 in our PPO runs. The level depends on the reward model. A sudden constant "
        "means an outage of the reward service, a sudden drop by the EOS penalty means that completions no longer "
        "end."
    ),
    differs=(
        "TRL's documentation says the mean returned by the reward model. Its code has already taken "
        "missing_eos_penalty off completions without EOS, so a fall may be about endings and not about quality."
    ),
    moves_with=("objective/rlhf_reward", "objective/kl", "val/num_eos_tokens", "eval/reward"),
    sources=(TRL_PPO, "Ziegler et al., Fine-Tuning Language Models from Human Preferences (2019)", OUR_RUNS),
)
OBJECTIVE_RLHF_REWARD = Signal(
    key="objective/rlhf_reward",
    concept="reward_penalised",
    title="Reward after the KL penalty",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    sign="Higher is better; this is the objective itself.",
    what="What PPO maximises: score plus the KL penalty, which is negative.",
    formula="objective/scores + objective/non_score_reward = scores - kl_coef * KL",
    healthy=(
        "Rises; TRL's advice is that it should keep going up. When the score rises and this falls for 20 rows or "
        "more, the distance to the reference costs more than it brings."
    ),
    differs=(
        "TRL's documentation writes score - non_score_reward; its code adds the two, non_score_reward being "
        "negative. AReaL and NeMo-Aligner log it as a mean per token."
    ),
    moves_with=("objective/scores", "objective/non_score_reward", "objective/kl"),
    sources=(TRL_PPO, "Ziegler et al., Fine-Tuning Language Models from Human Preferences (2019)", OUR_RUNS),
)
REWARDS_COMPONENT_MEAN = Signal(
    key="rewards/{name}/mean",
    concept="reward_component",
    title="Mean of one reward function",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    sign="Higher is what this function pays for.",
    what="Mean raw output of one reward function over completions, before its weight is applied.",
    formula="nanmean_i R_k(i)",
    healthy=(
        "Rises or holds together with the others. One function that carries more than 80 % of the gain while "
        "another falls is how reward hacking shows in the parts."
    ),
    differs=(
        "TRL's documentation calls it the average reward of that function, and it is, but a completion for which "
        "the function returned None is left out, and a window without any number is null. The name is the "
        "function's name, the class name of a callable or the last part of a model's path; two of one name share a "
        "column. Up to 0.16 the key was rewards/{name} without /mean."
    ),
    moves_with=("reward", "rewards/{name}/std", "eval/{name}"),
    sources=(TRL_GRPO, OUR_RUNS),
)
REWARD_MIN = Signal(
    key="reward/min",
    concept="reward_min",
    title="Smallest reward",
    unit=Unit.REWARD,
    reduction=Reduction.MIN,
    sign="Higher is better.",
    what="Smallest reward of any completion in the batch.",
    formula="min_i R_i",
    healthy=(
        "At the floor of the reward function while some completions fail; constant for rewards of 0 and 1. A new "
        "minimum far below the others is a fault of the reward function."
    ),
    moves_with=("reward", "reward/max", "reward_std"),
    sources=("verl, NeMo-RL and prime-rl (source)",),
)
REWARD_MAX = Signal(
    key="reward/max",
    concept="reward_max",
    title="Largest reward",
    unit=Unit.REWARD,
    reduction=Reduction.MAX,
    sign="Higher is better.",
    what="Largest reward of any completion in the batch.",
    formula="max_i R_i",
    healthy=(
        "At the ceiling of the reward function once the task is sometimes solved. A new maximum above the ceiling "
        "the function should have is an exploit of the reward."
    ),
    moves_with=("reward", "reward/min", "reward_std"),
    sources=("verl, NeMo-RL and prime-rl (source)",),
)
REWARD_NAN_FRACTION = Signal(
    key="reward/nan_fraction",
    concept="reward_nan_fraction",
    title="Fraction of rewards that are no number",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="0 means that every completion got a number from every function.",
    low=0.0,
    high=1.0,
    what="Share of the rewards of the batch, over completions and reward functions, that were NaN, infinite or None.",
    formula="sum_ik [R_k(i) is not finite] / (B * K), K reward functions",
    healthy=(
        "0, or constant where a function abstains on some prompts by design. A sudden rise is a fault or an outage "
        "of a reward function."
    ),
    differs=(
        "TRL does not log it and hides what it counts: None and NaN are left out of every mean, so 15 % of NaN "
        "rewards leave no trace in its log, and an infinite reward silently sets the advantages of its whole group "
        "to 0."
    ),
    moves_with=("reward", "rewards/{name}/mean", "frac_reward_zero_std"),
    sources=(TRL_GRPO, OUR_RUNS),
)
ACCURACY = Signal(
    key="accuracy",
    concept="accuracy",
    title="Accuracy on training prompts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Higher is better.",
    low=0.0,
    high=1.0,
    what="Share of completions in training that are correct or reach their goal.",
    formula="correct completions / B",
    healthy=(
        "Rises from the rate of the starting model. At 0 or 1 from the first row on there is nothing to learn from: "
        "groups have no reward spread."
    ),
    moves_with=("reward", "eval/accuracy", "frac_reward_zero_std"),
    sources=("open-instruct, ColossalChat and RAGEN (source)",),
)
