"""OpenAI's lm-human-preferences, where the names of today's PPO logs come from, and its reproductions in PyTorch.

Its worst trap: the step is an update in one reproduction and an episode in the other.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

LM_HUMAN_PREFERENCES = Dialect(
    name="lm-human-preferences",
    title="OpenAI lm-human-preferences and its reproductions",
    spoken_by="lm-human-preferences main; its reproductions, 2026-08",
    step=("step",),
    axis="PPO update",
    prefixes=("ppo/ppo/", "ppo/"),
    priority=370,
    signatures=(Signature(any=("(ppo/)?ppo/(loss|policy|val)/.*", "ppo/(eps|lr|episode)")),),
    row=(
        "objective/kl",
        "objective/entropy",
        "objective/scores",
        "ppo/policy/approxkl_avg",
        "ppo/loss/policy_avg",
        "ppo/val/ratio",
        "ppo/lr",
        "ppo/episode",
    ),
    names=(
        Name("objective/kl", "objective/kl", estimator=Estimator.K1, reduction=Reduction.SEQUENCE_SUM),
        Name("objective/kl_coef", "objective/kl_coef"),
        Name(
            "objective/entropy", "objective/entropy", estimator=Estimator.MONTE_CARLO, reduction=Reduction.SEQUENCE_SUM
        ),
        Name("objective/score", "objective/scores"),
        Name("objective/scores", "objective/scores"),
        Name("objective/score_total", "objective/rlhf_reward"),
        Name("objective/validation_score", "eval/reward"),
        Name("objective/non_score_reward", "objective/non_score_reward", reduction=Reduction.SEQUENCE_SUM),
        Name("loss/policy", "loss/policy_avg"),
        Name("loss/policy_avg", "loss/policy_avg"),
        Name("loss/value", "loss/value_avg"),
        Name("loss/value_avg", "loss/value_avg"),
        Name("loss/total", "loss"),
        Name("policy/entropy", "policy/entropy_avg", estimator=Estimator.EXACT),
        Name("policy/entropy_avg", "policy/entropy_avg", estimator=Estimator.EXACT),
        Name("policy/approxkl", "policy/approxkl_avg", estimator=Estimator.K2),
        Name("policy/approxkl_avg", "policy/approxkl_avg", estimator=Estimator.K2),
        Name("policy/clipfrac", "policy/clipfrac_avg"),
        Name("policy/clipfrac_avg", "policy/clipfrac_avg"),
        Name("returns/mean", "returns/mean"),
        Name("returns/var", "returns/var"),
        Name("val/vpred", "value/mean"),
        Name("val/mean", "value/mean", fit=Fit.CLOSE),
        Name("val/var", "value/var"),
        Name("val/error", "value/error"),
        Name("val/clipfrac", "val/clipfrac_avg"),
        Name("val/clipfrac_avg", "val/clipfrac_avg"),
        Name("val/var_explained", "explained_variance", fit=Fit.CLOSE),
        Name("val/advantage", "advantages/mean"),
        Name("val/ratio", "val/ratio"),
        Name("val/ratio_avg", "val/ratio"),
        Name("val/ratio_var", "val/ratio_var"),
        Name("val/num_eos_tokens", "val/num_eos_tokens"),
        Name("lr", "lr"),
        Name("episode", "episode"),
        Name("eps", "eps"),
        Name("elapsed/episodes", "episode"),
        Name("elapsed/time", "time/total"),
        Name("step_time", "step_time", note="Console only."),
    ),
    ignored=("elapsed/.*", "val/advantage_var"),
    never=("grad_norm", "critic_grad_norm", "length", "truncation", "critic_lr"),
    note=(
        "Nothing is filtered. OpenAI's summarize-from-feedback has no RL loop to log; the keys of its reproduction "
        "are meant here."
    ),
    sources=(
        "openai/lm-human-preferences",
        "vwxyzjn/lm-human-preference-details",
        "vwxyzjn/summarize_from_feedback_details",
    ),
)
