"""How far the policy has moved from the frozen reference policy, and what that costs.

Guards against mixing the per-sequence ``objective/kl`` of PPO with the per-token ``kl`` of GRPO: they differ by the completion
length. The KL of one update (new against sampling policy) is another quantity, in ``policy_update``.
"""

from __future__ import annotations

from holter.signals.base import Estimator, Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, PUBLIC_LOGS, TRL_GRPO, TRL_PPO

OBJECTIVE_KL = Signal(
    key="objective/kl",
    concept="ref_kl",
    title="KL to the reference policy per sequence",
    unit=Unit.NATS_PER_SEQUENCE,
    reduction=Reduction.SEQUENCE_SUM,
    estimator=Estimator.K1,
    sign=(
        "Positive when the policy likes its own samples more than the reference does. k1 is signed: near the start "
        "it may fall a little below 0 by sampling noise. Lastingly below about -1 means that the completions do not "
        "come from the policy whose log-probabilities are taken."
    ),
    rank=1,
    what=(
        "Distance of the policy from the frozen reference policy in nats over a whole completion: log-ratios of the "
        "sampled tokens, summed over each completion, averaged over completions."
    ),
    formula="mean_i sum_t m_it (lp_old_it - lp_ref_it)",
    healthy=(
        "Starts at 0 nats/sequence (within 1e-6; up to 0.006 with bf16 weights) and rises all through a healthy "
        "run, convexly, because KL grows with the square of the distance travelled: to 8-10 nats/sequence in our "
        "PPO runs of 17-token completions, at most 26; 2-8 at the start and 4-13 at the top of public runs. TRL's "
        "advice is 0-10, the first RLHF controllers aimed at 6. The level grows with completion length and says "
        "little without it."
    ),
    differs=(
        "TRL's documentation calls it the mean KL; its code sums over the tokens of a completion. The advice that "
        "it should stay positive holds on average only. kl_estimator='k3' can be chosen from 0.17 on and is never "
        "negative; before, it is always k1."
    ),
    moves_with=(
        "objective/non_score_reward",
        "objective/scores",
        "objective/kl_coef",
        "policy/approxkl_avg",
        "eval/reward",
    ),
    sources=(
        TRL_PPO,
        "Ziegler et al., Fine-Tuning Language Models from Human Preferences (2019)",
        "Gao et al., Scaling Laws for Reward Model Overoptimization (2022)",
        OUR_RUNS,
        PUBLIC_LOGS,
    ),
)
KL = Signal(
    key="kl",
    concept="ref_kl",
    title="KL to the reference policy",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K3,
    sign=(
        "0 when both policies agree on the sampled tokens. k3 is never negative; dialects that log k1 under this "
        "key may give small negative values."
    ),
    what=(
        "Distance of the policy from the frozen reference policy in nats a token, averaged over all completion "
        "tokens of the batch."
    ),
    formula="sum_it m_it (exp(d_it) - 1 - d_it) / sum_it m_it, with d = lp_ref - lp",
    healthy=(
        "Exactly 0 in the first row when the policy starts as the reference; more than 1e-3 nats/token there means "
        "another reference, dropout or another precision. Then it rises for the whole run, convexly: from 0.0005 to "
        "0.1-0.96 in our runs; in the last tenth of healthy public runs 7e-4 to 0.49, median 0.095. k3 has a heavy "
        "right tail: single rows up to 29 occur in healthy runs and are gone one to three rows later."
    ),
    differs=(
        "The documentation calls it the mean KL, logged when beta is not 0. beta is 0 by default from 0.19 on (0.04 "
        "before), so most logs have no KL at all. The code has changed under the name: use_bias_correction_kl "
        "multiplies each token by the importance ratio, an option from 0.26 and the default from 1.10; up to 1.8 it "
        "is the mean of per-rank token means, from 1.9 the token mean over all ranks. Log-probabilities are those "
        "of the logits divided by the sampling temperature. That it stays positive is no sign of health: k3 always "
        "does."
    ),
    moves_with=("objective/kl_coef", "reward", "entropy", "completions/mean_length", "eval/reward"),
    sources=(
        TRL_GRPO,
        "Schulman, Approximating KL Divergence (2020)",
        "Shao et al., DeepSeekMath (2024)",
        "Gao et al., Scaling Laws for Reward Model Overoptimization (2022)",
        OUR_RUNS,
        PUBLIC_LOGS,
    ),
)
OBJECTIVE_NON_SCORE_REWARD = Signal(
    key="objective/non_score_reward",
    concept="kl_penalty",
    title="KL penalty in the reward",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    sign=(
        "Negative while it costs, which is the normal case. Lastingly positive means that the KL estimate is negative."
    ),
    what=(
        "The part of the reward that does not come from the reward model: the KL to the reference times the "
        "coefficient, negated, summed over each completion."
    ),
    formula="mean_i sum_t m_it (-kl_coef * (lp_old_it - lp_ref_it)) = -kl_coef * objective/kl",
    healthy=(
        "Slightly negative and slowly falling: -0.4 reward at kl_coef 0.05 and 8 nats/sequence. Its size stays "
        "below the gain in score; when it exceeds it, the update optimises the penalty."
    ),
    differs=(
        "TRL's documentation writes beta * kl.sum(1) and drops the sign; its code logs -kl_coef * kl.sum(1). The "
        "coefficient is fixed: this trainer has no adaptive controller."
    ),
    moves_with=("objective/kl", "objective/rlhf_reward", "objective/kl_coef"),
    sources=(TRL_PPO, "Ziegler et al., Fine-Tuning Language Models from Human Preferences (2019)", OUR_RUNS),
)
LOSS_KL_AVG = Signal(
    key="loss/kl_avg",
    concept="kl_loss",
    title="KL term of the loss",
    unit=Unit.NUMBER,
    sign="Positive; larger means a stronger pull back to the reference.",
    what="The KL to the reference as it enters the loss, multiplied by its coefficient.",
    formula="kl_coef * KL(policy || reference)",
    healthy=(
        "kl_coef times the KL: at a coefficient of 0.04 and 0.1 nats/token it is 0.004. It rises with the KL, and "
        "is the part of the GRPO loss that drifts upwards in health."
    ),
    moves_with=("kl", "objective/kl_coef", "loss"),
    sources=("Shao et al., DeepSeekMath (2024)", "verl, NeMo-RL and OpenRLHF (source)"),
)
KL_COEF = Signal(
    key="objective/kl_coef",
    concept="kl_coef",
    title="KL coefficient",
    unit=Unit.NUMBER,
    reduction=Reduction.LAST,
    sign="0 means no penalty.",
    low=0.0,
    what="Weight of the KL to the reference in the reward or in the loss, at this step.",
    formula="fixed: beta; adaptive: beta <- beta * (1 + clip(KL / target - 1, -0.2, 0.2) * episodes / horizon)",
    healthy=(
        "Constant when fixed. An adaptive one settles while the KL swings about 30 % around its target; with the "
        "usual horizon of 10,000 and 512 episodes a step it moves by 1 % at most a step, so it needs some 70 steps "
        "to double. Four times its start with the KL still above 1.5 times the target means that the controller "
        "cannot hold the policy."
    ),
    differs=(
        "PPOTrainer logged it up to TRL 0.11; the trainer of 0.12 - 1.12 has a fixed coefficient and does not log it."
    ),
    moves_with=("objective/kl", "kl", "objective/non_score_reward"),
    sources=(
        "Ziegler et al., Fine-Tuning Language Models from Human Preferences (2019)",
        "TRL 0.4 - 0.11, verl and OpenRLHF (source)",
    ),
)
