"""The older PPO and GRPO scripts of AI2's open-instruct (``ppo_vllm_thread``, ``grpo_vllm_thread``).

Its worst trap: the trackers' step is the episode, not the training step.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

OPEN_INSTRUCT_PPO = Dialect(
    name="open-instruct-ppo",
    title="open-instruct PPO and GRPO scripts of 2024-25",
    spoken_by="open-instruct of 2024 and 2025",
    step=("training_step", "episode"),
    axis="training_step",
    priority=210,
    signatures=(
        Signature(
            any=(
                "val/stop_token_rate",
                "objective/kl2",
                "objective/kl3",
                "objective/verifiable_correct_rate",
                "val/num_stop_token_ids",
                "val/adv_abs_mean",
            )
        ),
    ),
    row=(
        "training_step",
        "episode",
        "objective/kl",
        "objective/kl2",
        "objective/scores",
        "policy/approxkl_avg",
        "policy/clipfrac_avg",
        "loss/policy_avg",
        "val/ratio",
        "val/stop_token_rate",
        "lr",
    ),
    names=(
        Name("training_step", "step"),
        Name("episode", "episode"),
        Name("epoch", "epoch"),
        Name("eps", "eps"),
        Name("lr", "lr"),
        Name("objective/kl", "objective/kl", estimator=Estimator.K1, reduction=Reduction.SEQUENCE_SUM),
        Name("objective/kl3", "objective/kl", estimator=Estimator.K3, reduction=Reduction.SEQUENCE_SUM, fit=Fit.CLOSE),
        Name("objective/kl2", "objective/kl", estimator=Estimator.K2, reduction=Reduction.SEQUENCE_SUM, fit=Fit.CLOSE),
        Name(
            "objective/entropy", "objective/entropy", estimator=Estimator.MONTE_CARLO, reduction=Reduction.SEQUENCE_SUM
        ),
        Name("objective/non_score_reward", "objective/non_score_reward"),
        Name("objective/rlhf_reward", "objective/rlhf_reward"),
        Name("objective/scores", "objective/scores"),
        Name("objective/scores_mean", "objective/scores"),
        Name("objective/reward_std", "reward_std"),
        Name("objective/verifiable_correct_rate", "accuracy"),
        Name("policy/approxkl_avg", "policy/approxkl_avg"),
        Name("policy/clipfrac_avg", "policy/clipfrac_avg"),
        Name("policy/entropy_avg", "policy/entropy_avg"),
        Name("loss/policy_avg", "loss/policy_avg"),
        Name("loss/value_avg", "loss/value_avg"),
        Name("loss/value", "loss/value_avg"),
        Name("lr_value", "critic/lr"),
        Name("val/clipfrac_avg", "val/clipfrac_avg"),
        Name("val/ratio", "val/ratio"),
        Name("val/ratio_var", "val/ratio_var"),
        Name("val/adv_mean", "advantages/mean"),
        Name("val/adv_abs_mean", "advantages/abs_mean"),
        Name("val/adv_std", "advantages/std"),
        Name("val/stop_token_rate", "completions/eos_ratio"),
        Name("val/sequence_lengths", "completions/mean_length"),
        Name("val/num_stop_token_ids", "val/num_eos_tokens"),
        Name("time/from_scratch", "time/total"),
        Name("time/training", "time/train"),
    ),
    never=("grad_norm", "critic_grad_norm", "explained_variance"),
    note="Nothing is filtered. objective/kl is k1, kl2 is k2 and kl3 is k3, all summed over the sequence.",
    sources=("allenai/open-instruct",),
)
