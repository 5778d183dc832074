"""TRL PPOTrainer 0.4-0.11 (step/log_stats API): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

TRL_PPO_CLASSIC = Dialect(
    name="trl-ppo-classic",
    title="TRL PPOTrainer 0.4-0.11 (step/log_stats API)",
    spoken_by="0.4 - 0.11",
    step=("step", "_step"),
    axis="PPO step (one batch); TensorBoard step = current_step, W&B step automatic",
    priority=360,
    signatures=(
        Signature(
            any=("ppo/mean_non_score_reward", "ppo/mean_scores", "ppo/policy/policykl", "tokens/queries_len_mean")
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
            note="kl_penalty=kl|abs|mse|full since 0.7.10",
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
            note="token mean, not sequence sum: multiply by mean length",
        ),
        Name("ppo/mean_scores", "objective/scores", note="after score scaling, normalisation and clipping"),
        Name("env/reward_mean", "reward", note="raw rewards given to log_stats"),
        Name("env/reward_std", "reward_std", note="batch std"),
        Name("ppo/std_scores", "reward_std", fit=Fit.CLOSE, note="std after score scaling"),
        Name("tokens/queries_len_mean", "prompt_length/mean"),
        Name("tokens/responses_len_mean", "completions/mean_length"),
        Name("tokens/responses_len_std", "completions/std_length"),
        Name("ppo/loss/policy", "loss/policy_avg"),
        Name("ppo/loss/value", "loss/value_avg"),
        Name("ppo/loss/total", "loss", note="policy + vf_coef * value"),
        Name("ppo/policy/entropy", "policy/entropy_avg", estimator=Estimator.EXACT, reduction=Reduction.TOKEN),
        Name("ppo/policy/approxkl", "policy/approxkl_avg", estimator=Estimator.K2, reduction=Reduction.TOKEN),
        Name("ppo/policy/policykl", "policy/kl_k1_avg", estimator=Estimator.K1, reduction=Reduction.TOKEN),
        Name("ppo/policy/clipfrac", "policy/clipfrac_avg"),
        Name("ppo/policy/advantages_mean", "advantages/mean"),
        Name("ppo/returns/mean", "returns/mean"),
        Name("ppo/returns/var", "returns/var"),
        Name("ppo/val/vpred", "value/mean"),
        Name("ppo/val/mean", "value/mean", fit=Fit.CLOSE, note="old values"),
        Name("ppo/val/var", "value/var"),
        Name("ppo/val/error", "value/error"),
        Name("ppo/val/clipfrac", "val/clipfrac_avg"),
        Name(
            "ppo/val/var_explained",
            "explained_variance",
            fit=Fit.CLOSE,
            note="1 - MSE/Var(return): lower than the variance form when biased",
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
    never=("grad_norm", "truncation", "mean ratio (histogram only)"),
    note="Non-finite values: none replaced; warns when objective/kl < -1; array values are histograms.",
)
