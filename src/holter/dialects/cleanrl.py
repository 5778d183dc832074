"""CleanRL's PPO scripts, for classic control and games.

Its worst trap: losses and entropy are those of the last mini-batch only.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

CLEANRL = Dialect(
    name="cleanrl",
    title="CleanRL PPO",
    spoken_by="CleanRL main, 2026-08",
    step=("global_step", "step"),
    axis="environment step (global_step)",
    priority=340,
    signatures=(Signature(any=("losses/old_approx_kl", "charts/SPS", "charts/episodic_return")),),
    row=(
        "charts/episodic_return",
        "charts/SPS",
        "losses/value_loss",
        "losses/policy_loss",
        "losses/entropy",
        "losses/approx_kl",
        "losses/old_approx_kl",
        "losses/clipfrac",
        "losses/explained_variance",
    ),
    names=(
        Name("charts/episodic_return", "reward", note="One point for every episode that ended."),
        Name("charts/episodic_length", "completions/mean_length", fit=Fit.PROXY, note="In environment steps."),
        Name("charts/learning_rate", "lr"),
        Name("charts/SPS", "throughput/samples_per_s"),
        Name("losses/policy_loss", "loss/policy_avg", reduction=Reduction.LAST),
        Name("losses/value_loss", "loss/value_avg", reduction=Reduction.LAST),
        Name("losses/entropy", "entropy", reduction=Reduction.LAST),
        Name(
            "losses/approx_kl", "policy/approxkl_avg", estimator=Estimator.K3, reduction=Reduction.LAST, fit=Fit.CLOSE
        ),
        Name("losses/old_approx_kl", "policy/kl_k1_avg", reduction=Reduction.LAST),
        Name(
            "losses/clipfrac",
            "policy/clipfrac_avg",
            fit=Fit.CLOSE,
            note="Share with |ratio - 1| above the range whatever the sign of the advantage; mean over the update.",
        ),
        Name("losses/explained_variance", "explained_variance"),
        Name("global_step", "step"),
        Name("episodic_return", "reward", note="Console only."),
        Name("SPS", "throughput/samples_per_s", note="Console only."),
    ),
    never=("grad_norm", "ref_kl"),
    note=(
        "explained_variance is NaN when the returns are constant. The clip fraction ignores the sign of the advantage."
    ),
    sources=("vwxyzjn/cleanrl",),
)
