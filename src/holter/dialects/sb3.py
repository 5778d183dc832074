"""PPO of Stable-Baselines3, for classic control and games.

Its worst traps: ``entropy_loss`` is the negative entropy, and the value loss has no factor 0.5.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

SB3 = Dialect(
    name="sb3",
    title="Stable-Baselines3 PPO",
    spoken_by="stable-baselines3 main, 2026-08",
    step=("time/total_timesteps", "step"),
    axis="environment step (time/total_timesteps)",
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
        Name("rollout/ep_rew_mean", "reward", note="Over the last 100 episodes."),
        Name("ep_rew_mean", "reward", note="Of the printed table."),
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
            note="Mean over the last epoch.",
        ),
        Name(
            "(train/)?clip_fraction",
            "policy/clipfrac_avg",
            pattern=True,
            fit=Fit.CLOSE,
            note="Share with |ratio - 1| above the range, whatever the sign of the advantage.",
        ),
        Name("(train/)?entropy_loss", "entropy", pattern=True, scale=-1.0, note="The negative entropy in the log."),
        Name("(train/)?explained_variance", "explained_variance", pattern=True),
        Name("(train/)?learning_rate", "lr", pattern=True),
        Name("(train/)?loss", "loss", pattern=True, reduction=Reduction.LAST),
        Name("(train/)?policy_gradient_loss", "loss/policy_avg", pattern=True),
        Name(
            "(train/)?value_loss",
            "loss/value_avg",
            pattern=True,
            scale=0.5,
            note="Plain squared error in the log, without 0.5.",
        ),
        Name("eval/mean_reward", "eval/reward"),
        Name("eval/mean_ep_length", "eval/completions/mean_length", fit=Fit.PROXY),
    ),
    ignored=("(train/)?(clip_range|clip_range_vf|n_updates|std)", "(time/)?iterations", "rollout/exploration_rate"),
    never=("grad_norm", "ratio", "ref_kl"),
    note=(
        "explained_variance is NaN when the returns are constant, and an empty cell in progress.csv. ep_rew_mean is "
        "a mean over the last 100 episodes, so it lags."
    ),
    sources=("DLR-RM/stable-baselines3",),
)
