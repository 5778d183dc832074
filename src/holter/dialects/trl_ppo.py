"""TRL's second PPO trainer (PPOv2Trainer, later PPOTrainer), and the RLOOTrainer of 0.9-0.21.

Its worst traps: ``objective/kl`` is a sum over the sequence, and ``val/ratio``, ``policy/entropy_avg`` and
``policy/approxkl_avg`` average over padding, so a sound run shows ratios of 0.96-0.99.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Null, Signature
from holter.signals.base import Estimator, Reduction

TRL_PPO = Dialect(
    name="trl-ppo",
    title="TRL PPOTrainer (PPOv2)",
    spoken_by="trl 0.9 - 1.9 (PPOv2Trainer, later trl.experimental.ppo; gone in 1.16)",
    step=("global_step", "step", "episode"),
    axis="update: one rollout batch (state.global_step)",
    inherits="hf-trainer",
    null=Null.NAN,
    priority=380,
    signatures=(
        Signature(all=("objective/kl", "objective/(rlhf_reward|non_score_reward|scores)")),
        Signature(any=("objective/rlhf_reward", "objective/non_score_reward", "policy/approxkl_avg")),
    ),
    row=(
        "eps",
        "objective/kl",
        "objective/entropy",
        "objective/non_score_reward",
        "objective/rlhf_reward",
        "objective/scores",
        "policy/approxkl_avg",
        "policy/clipfrac_avg",
        "loss/policy_avg",
        "loss/value_avg",
        "val/clipfrac_avg",
        "policy/entropy_avg",
        "val/ratio",
        "val/ratio_var",
        "val/num_eos_tokens",
        "lr",
        "episode",
        "epoch",
    ),
    names=(
        Name("eps", "eps", note="Rounded to a whole number."),
        Name(
            "objective/kl",
            "objective/kl",
            estimator=Estimator.K1,
            reduction=Reduction.SEQUENCE_SUM,
            note="k3 when kl_estimator is set to it, since 0.17.",
        ),
        Name(
            "objective/entropy",
            "objective/entropy",
            estimator=Estimator.MONTE_CARLO,
            reduction=Reduction.SEQUENCE_SUM,
            note="Every pad position counts -1, so it is biased low and can be negative.",
        ),
        Name(
            "objective/non_score_reward",
            "objective/non_score_reward",
            reduction=Reduction.SEQUENCE_SUM,
            note="Minus kl_coef times KL.",
        ),
        Name("objective/rlhf_reward", "objective/rlhf_reward", note="Scores plus non_score_reward."),
        Name(
            "objective/scores",
            "objective/scores",
            reduction=Reduction.BATCH,
            note="missing_eos_penalty is already subtracted.",
        ),
        Name(
            "policy/approxkl_avg",
            "policy/approxkl_avg",
            estimator=Estimator.K2,
            reduction=Reduction.PADDED,
            note="Diluted by the zeros of the padding.",
        ),
        Name("policy/clipfrac_avg", "policy/clipfrac_avg", reduction=Reduction.TOKEN),
        Name("policy/entropy_avg", "policy/entropy_avg", estimator=Estimator.EXACT, reduction=Reduction.PADDED),
        Name("loss/policy_avg", "loss/policy_avg", reduction=Reduction.TOKEN),
        Name("loss/value_avg", "loss/value_avg", reduction=Reduction.TOKEN),
        Name("val/clipfrac_avg", "val/clipfrac_avg", reduction=Reduction.TOKEN),
        Name(
            "val/ratio", "val/ratio", reduction=Reduction.PADDED, note="Padding counts, so healthy runs show 0.96-1.0."
        ),
        Name("val/ratio_var", "val/ratio_var"),
        Name("val/num_eos_tokens", "val/num_eos_tokens", reduction=Reduction.RANK),
        Name("lr", "lr"),
        Name("episode", "episode"),
    ),
    never=(
        "grad_norm",
        "critic_grad_norm",
        "total_loss",
        "length",
        "truncation",
        "explained_variance",
        "value_mean",
        "advantage_mean",
        "kl_coef",
        "reward_spread",
    ),
    note=(
        "rlhf_reward is scores plus non_score_reward, and non_score_reward is already negative where KL is "
        "positive. Every pad position counts -1 in objective/entropy, which can make it negative. val/ratio_var is "
        "the variance of mini-batch means and is NaN when there is one mini-batch only. Filters of the Trainer do "
        "not apply: NaN is logged as NaN."
    ),
    sources=("huggingface/trl v0.11.0, v0.15.0, v0.18.0, v1.9.0",),
)
