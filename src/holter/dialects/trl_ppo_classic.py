"""TRL's first PPO trainer, whose ``step`` returns statistics that the caller passes to ``log_stats``.

Its worst trap: ``ppo/mean_non_score_reward`` is a mean over tokens while ``objective/kl`` is a sum over the sequence.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

TRL_PPO_CLASSIC = Dialect(
    name="trl-ppo-classic",
    title="TRL PPOTrainer of the step API",
    spoken_by="trl 0.4 - 0.11",
    step=("step", "_step"),
    axis="PPO step (one batch)",
    priority=360,
    signatures=(
        Signature(
            any=(
                "ppo/mean_(non_score_reward|scores)",
                "ppo/policy/(policykl|advantages_mean)",
                "ppo/std_scores",
                "env/reward_(mean|std)",
                "tokens/(queries|responses)_len_mean",
            )
        ),
    ),
    row=(
        "objective/kl",
        "objective/kl_coef",
        "objective/entropy",
        "ppo/mean_non_score_reward",
        "ppo/loss/policy",
        "ppo/loss/value",
        "ppo/policy/approxkl",
        "ppo/policy/clipfrac",
        "env/reward_mean",
        "tokens/responses_len_mean",
    ),
    names=(
        Name(
            "objective/kl",
            "objective/kl",
            estimator=Estimator.K1,
            reduction=Reduction.SEQUENCE_SUM,
            note="k1 by default; kl_penalty may choose abs, mse or full since 0.7.10.",
        ),
        Name("objective/kl_coef", "objective/kl_coef"),
        Name(
            "objective/entropy", "objective/entropy", estimator=Estimator.MONTE_CARLO, reduction=Reduction.SEQUENCE_SUM
        ),
        Name(
            "ppo/mean_non_score_reward",
            "objective/non_score_reward",
            reduction=Reduction.TOKEN,
            fit=Fit.PROXY,
            note="A mean over tokens and not a sum over the sequence.",
        ),
        Name("ppo/mean_scores", "objective/scores", note="After scaling, normalisation and clipping of scores."),
        Name("env/reward_mean", "reward", note="Raw rewards as given to log_stats."),
        Name("env/reward_std", "reward_std", note="Standard deviation over the batch."),
        Name("ppo/std_scores", "reward_std", fit=Fit.CLOSE, note="Standard deviation after scaling of the scores."),
        Name("tokens/queries_len_mean", "prompt_length/mean"),
        Name("tokens/responses_len_mean", "completions/mean_length"),
        Name("tokens/responses_len_std", "completions/std_length"),
        Name("ppo/loss/policy", "loss/policy_avg"),
        Name("ppo/loss/value", "loss/value_avg"),
        Name("ppo/loss/total", "loss", note="Policy loss plus vf_coef times value loss."),
        Name("ppo/policy/entropy", "policy/entropy_avg", estimator=Estimator.EXACT, reduction=Reduction.TOKEN),
        Name("ppo/policy/approxkl", "policy/approxkl_avg", estimator=Estimator.K2, reduction=Reduction.TOKEN),
        Name("ppo/policy/policykl", "policy/kl_k1_avg", estimator=Estimator.K1, reduction=Reduction.TOKEN),
        Name("ppo/policy/clipfrac", "policy/clipfrac_avg"),
        Name("ppo/policy/advantages_mean", "advantages/mean"),
        Name("ppo/returns/mean", "returns/mean"),
        Name("ppo/returns/var", "returns/var"),
        Name("ppo/val/vpred", "value/mean"),
        Name("ppo/val/mean", "value/mean", fit=Fit.CLOSE, note="Values before the update."),
        Name("ppo/val/var", "value/var"),
        Name("ppo/val/error", "value/error"),
        Name("ppo/val/clipfrac", "val/clipfrac_avg"),
        Name(
            "ppo/val/var_explained",
            "explained_variance",
            fit=Fit.CLOSE,
            note="1 - MSE / Var(return): lower than the variance form when the critic is biased.",
        ),
        Name("ppo/learning_rate", "lr"),
        Name("time/ppo/total", "step_time"),
        Name("time/ppo/optimize_step", "time/train"),
    ),
    ignored=(
        ".*_dist",
        "objective/logprobs",
        "objective/ref_logprobs",
        "ppo/policy/ratio",
        "ppo/policy/advantages",
        "tokens/queries_len_std",
        "time/ppo/.*",
        "game_log",
    ),
    never=("grad_norm", "critic_grad_norm", "truncation", "ratio", "critic_lr"),
    note=(
        "Nothing is filtered: NaN and infinities are logged as they are. ppo/val/var_explained uses the squared "
        "error instead of its variance, so a biased critic scores lower than the usual explained variance. The "
        "ratio is logged as a histogram only."
    ),
    sources=("huggingface/trl v0.7.10, v0.11.0",),
)
