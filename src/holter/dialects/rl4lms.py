"""RL4LMs by AI2: PPO and NLPO on small tasks.

Its worst trap: ``entropy_loss`` is the negative entropy. The files carry no step at all.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

RL4LMS = Dialect(
    name="rl4lms",
    title="RL4LMs",
    spoken_by="RL4LMs main, 2026-08 (no longer developed)",
    step=(),
    axis="row number (rows carry no step)",
    prefixes=("rollout_info/", "ppo/", "nlpo/", "a2c/", "trpo/"),
    priority=310,
    signatures=(Signature(any=("rollout_info/.*",)), Signature(all=("(ppo|nlpo)/policy_gradient_loss",))),
    row=(
        "rollout_info/ep_rew",
        "rollout_info/kl_div_mean",
        "rollout_info/kl_coeff",
        "ppo/entropy_loss",
        "ppo/value_loss",
    ),
    names=(
        Name("ep_rew", "reward", note="Task reward."),
        Name("ep_rew_std", "reward_std"),
        Name("ep_kl_rew", "objective/non_score_reward"),
        Name("kl_div_mean", "kl", estimator=Estimator.K1, reduction=Reduction.TOKEN),
        Name("kl_coeff", "objective/kl_coef"),
        Name("ep_lens", "completions/mean_length"),
        Name("ep_lens_std", "completions/std_length"),
        Name("values", "value/mean"),
        Name("entropy_loss", "entropy", scale=-1.0, note="The negative entropy in the log."),
        Name("policy_gradient_loss", "loss/policy_avg"),
        Name("value_loss", "loss/value_avg", scale=0.5, note="Plain squared error in the log."),
        Name("approx_kl", "policy/approxkl_avg", estimator=Estimator.K3, reduction=Reduction.LAST, fit=Fit.CLOSE),
        Name("explained_variance", "explained_variance"),
        Name("(val|test)/(?P<name>.+)", "eval/{name}", pattern=True),
    ),
    ignored=("log_prob", "ref_log_prob", ".*_std", "kl_div_std", "fluency_metrics/perplexity"),
    never=("clip_fraction", "grad_norm", "lr"),
    note="Nothing is filtered. The value loss is a plain squared error without the factor 0.5.",
    sources=("allenai/RL4LMs",),
)
