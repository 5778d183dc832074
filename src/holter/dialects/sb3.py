"""Stable-Baselines3 PPO: its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

SB3 = Dialect(
    name="sb3",
    title="Stable-Baselines3 PPO",
    step=("time/total_timesteps", "step"),
    axis="time/total_timesteps (environment steps)",
    priority=330,
    signatures=(Signature(any=("rollout/ep_rew_mean", "time/total_timesteps", "ep_rew_mean", "clip_fraction")),),
    row=(
        "rollout/ep_rew_mean",
        "rollout/ep_len_mean",
        "time/fps",
        "train/approx_kl",
        "train/clip_fraction",
        "train/entropy_loss",
        "train/explained_variance",
        "train/value_loss",
    ),
    names=(
        Name("rollout/ep_rew_mean", "reward", note="last 100 episodes"),
        Name("ep_rew_mean", "reward", note="table row"),
        Name("rollout/ep_len_mean", "completions/mean_length", fit=Fit.PROXY),
        Name("ep_len_mean", "completions/mean_length", fit=Fit.PROXY),
        Name("rollout/success_rate", "accuracy"),
        Name("success_rate", "accuracy"),
        Name("time/fps", "throughput/samples_per_s"),
        Name("fps", "throughput/samples_per_s"),
        Name("time/time_elapsed", "time/total"),
        Name("time_elapsed", "time/total"),
        Name("time/total_timesteps", "step"),
        Name("total_timesteps", "step"),
        Name(
            "(train/)?approx_kl",
            "policy/approxkl_avg",
            pattern=True,
            estimator=Estimator.K3,
            fit=Fit.CLOSE,
            note="mean over the last epoch",
        ),
        Name(
            "(train/)?clip_fraction",
            "policy/clipfrac_avg",
            pattern=True,
            fit=Fit.CLOSE,
            note="|ratio - 1| > eps, advantage sign ignored",
        ),
        Name("(train/)?entropy_loss", "entropy", pattern=True, scale=-1.0, note="negative entropy"),
        Name("(train/)?explained_variance", "explained_variance", pattern=True),
        Name("(train/)?learning_rate", "lr", pattern=True),
        Name("(train/)?loss", "loss", pattern=True, reduction=Reduction.LAST),
        Name("(train/)?policy_gradient_loss", "loss/policy_avg", pattern=True),
        Name("(train/)?value_loss", "loss/value_avg", pattern=True, scale=0.5, note="plain MSE without 0.5"),
        Name("eval/mean_reward", "eval/reward"),
        Name("eval/mean_ep_length", "eval/completions/mean_length", fit=Fit.PROXY),
    ),
    ignored=("(train/)?(clip_range|clip_range_vf|n_updates|std)", "(time/)?iterations", "rollout/exploration_rate"),
    never=("grad_norm", "ratio", "reference KL"),
    note="Non-finite values: explained_variance NaN when the returns are constant; CSV empty cell.",
)
