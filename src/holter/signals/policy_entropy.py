"""How undecided the policy is, which is what is left to explore.

Guards against mixing the softmax entropy per token with TRL's ``objective/entropy``, a surprisal summed over the sequence, and
against reading a level: entropy falls in nearly every healthy run, and healthy levels span three decades.
"""

from __future__ import annotations

from holter.signals.base import Estimator, Reduction, Signal, Unit
from holter.signals.sources import FULL_TABLE, OUR_RUNS, PUBLIC_LOGS, TRL_GRPO, TRL_PPO

ENTROPY = Signal(
    key="entropy",
    concept="entropy",
    title="Entropy",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.EXACT,
    sign="High is undecided, 0 is certain; the ceiling is ln V, a uniform policy.",
    low=0.0,
    what=(
        "Mean entropy of the policy's next-token distribution over the whole vocabulary, averaged over all "
        "completion tokens of the batch."
    ),
    formula="sum_it m_it (-sum_v p_itv log p_itv) / sum_it m_it, p = softmax(logits / temperature)",
    healthy=(
        "Falls: by 5-15 % in our GRPO runs (2.3 to 2.1 nats/token); in healthy public runs from 0.06-1.3 (median "
        "0.24) to 0.02-1.04 (median 0.18), the end at 0.23 to 1.24 times the start. Most of the fall comes early "
        "and pays for most of the gain. With clip-higher or an entropy bonus it rises up to 2.7-fold in health. "
        "Below a tenth of the start together with a falling reward, truncation or groups without spread it is a "
        "collapse; above twice the start while reward falls, an explosion. Exactly 0 in every row means that it was "
        "not computed, or that no token was left unmasked."
    ),
    differs=(
        "Logged from TRL 0.20 on; up to 1.8 the mean of per-rank means, from 1.9 the token mean. Measured during "
        "the update on the policy's own samples, at logits divided by the temperature: at temperature 0.3 it is the "
        "entropy of the sharpened distribution. Top-p, top-k and min-p are not reflected. The documentation says "
        "none of this, nor contradicts it."
    ),
    moves_with=("reward", "clip_ratio/high_mean", "completions/mean_length", "frac_reward_zero_std", "entropy_coef"),
    sources=(
        TRL_GRPO,
        "Cui et al., The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models (2025)",
        "Yu et al., DAPO (2025)",
        OUR_RUNS,
        PUBLIC_LOGS,
    ),
)
POLICY_ENTROPY_AVG = Signal(
    key="policy/entropy_avg",
    concept="entropy",
    title="Entropy during the update",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.PADDED,
    estimator=Estimator.EXACT,
    sign="High is undecided, 0 is certain.",
    low=0.0,
    rank=1,
    what="Mean entropy of the next-token distribution over all positions of the batch during the PPO update.",
    formula="mean over the B x T rectangle of -sum_v p_v log p_v, p = softmax(logits / temperature)",
    healthy=(
        "2.6 to 1.1 nats/token in our PPO runs while the held-out score still rises; 0.3-0.59 in public ones. The "
        "trend can be read, the level depends on the share of padding."
    ),
    differs=(
        "TRL's documentation calls it the mean entropy during training. Its code counts padding positions, whose "
        "entropies are meaningless numbers. It is per token and exact, while objective/entropy is per sequence and "
        "sampled: the two must not be compared. "
        f"{FULL_TABLE}"
    ),
    moves_with=("objective/entropy", "objective/kl", "policy/clipfrac_avg"),
    sources=(TRL_PPO, OUR_RUNS, PUBLIC_LOGS),
)
OBJECTIVE_ENTROPY = Signal(
    key="objective/entropy",
    concept="entropy",
    title="Entropy per sequence",
    unit=Unit.NATS_PER_SEQUENCE,
    reduction=Reduction.SEQUENCE_SUM,
    estimator=Estimator.MONTE_CARLO,
    sign=(
        "High is undecided or long. Never negative when padding is masked; negative values are padding that was "
        "counted."
    ),
    rank=2,
    what=(
        "Surprisal of the sampled tokens, summed over each completion and averaged: a one-sample estimate of the "
        "entropy of whole completions under the sampling policy."
    ),
    formula="mean_i sum_t m_it (-lp_old_it)",
    healthy=(
        "Follows length times entropy per token: 42 to 6 nats/sequence in our PPO runs of 17 tokens, a fall by a "
        "factor of 7 with the held-out score still rising. Divide by the completion length before judging."
    ),
    differs=(
        "TRL's documentation calls it the mean entropy of the policy, the randomness of its choices. Its code takes "
        "the log-probabilities of the sampled tokens and sums them over the sequence. Up to 1.9 every padded "
        "position adds -1 (fill value 1.0), so it can be far below 0 (about -105 in public logs); from 1.10 padding "
        "is masked."
    ),
    moves_with=("policy/entropy_avg", "completions/mean_length", "objective/kl"),
    sources=(TRL_PPO, OUR_RUNS, PUBLIC_LOGS),
)
LOSS_ENTROPY_AVG = Signal(
    key="loss/entropy_avg",
    concept="entropy_loss",
    title="Entropy bonus in the loss",
    unit=Unit.NUMBER,
    sign=(
        "Positive here whatever the framework writes. verl up to 0.4, OpenRLHF and slime log entropy_loss positive, "
        "Stable-Baselines3 and RL4LMs negative; their dialects turn the sign."
    ),
    what="Mean entropy times its coefficient, as it enters the loss.",
    formula="entropy_coef * entropy, subtracted from the loss",
    healthy=(
        "entropy_coef times the entropy: 0.002 at a coefficient of 0.001 and 2 nats/token. 0 when there is no bonus."
    ),
    moves_with=("entropy", "entropy_coef", "loss"),
    sources=("the frameworks' sources", "Schulman et al., Proximal Policy Optimization Algorithms (2017)"),
)
ENTROPY_COEF = Signal(
    key="entropy_coef",
    concept="entropy_coef",
    title="Entropy coefficient",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    sign="0 means no bonus.",
    low=0.0,
    what="Weight of the entropy bonus at this step.",
    formula="loss = policy loss - entropy_coef * entropy",
    healthy=(
        "Constant unless it adapts to a target entropy (TRL: target 0.2 nats/token, change of 0.005 a step); then "
        "it rises while entropy lies below the target. An ever-growing coefficient means that the bonus does not "
        "hold entropy up."
    ),
    differs="From TRL 1.9 on, only with an entropy bonus; not in the documented list.",
    moves_with=("entropy", "loss/entropy_avg"),
    sources=(TRL_GRPO,),
)
