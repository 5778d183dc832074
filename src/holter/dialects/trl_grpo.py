"""TRL's ``GRPOTrainer``, whose names most GRPO logs in the wild carry.

Its worst trap: ``reward_std`` was the mean spread within groups up to 0.26 and is the spread of the whole batch since,
so that upgrading TRL moves the curve while the training stays the same.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature
from holter.signals.base import Estimator, Reduction

TRL_GRPO = Dialect(
    name="trl-grpo",
    title="TRL GRPOTrainer",
    spoken_by="trl 0.14 - 1.16",
    step=("global_step", "step"),
    axis="optimizer step (state.global_step)",
    inherits="hf-trainer",
    null=Null.NAN,
    priority=420,
    signatures=(
        Signature(
            all=("reward", "reward_std"),
            any=("completions/.*", "completion_length", "rewards/.*", "frac_reward_zero_std"),
        ),
        Signature(
            any=(
                "completions/(mean|min|max)_(terminated_)?length",
                "completions/clipped_ratio",
                "frac_reward_zero_std",
                "clip_ratio/(low|high|region)_mean",
            )
        ),
    ),
    row=(
        "loss",
        "grad_norm",
        "learning_rate",
        "num_tokens",
        "completions/mean_length",
        "completions/clipped_ratio",
        "rewards/f/mean",
        "rewards/f/std",
        "reward",
        "reward_std",
        "frac_reward_zero_std",
        "kl",
        "entropy",
        "clip_ratio/region_mean",
        "epoch",
    ),
    names=(
        Name("num_tokens", "num_tokens", note="The transformers 5 console rounds it to four digits."),
        Name(
            "policy_loss",
            "loss/policy_avg",
            since="1.9",
            note="Logged only with an entropy bonus; otherwise loss is the policy loss.",
        ),
        Name("entropy_coef", "entropy_coef", since="1.9", note="Logged only with an entropy bonus."),
        Name("aux_loss", "loss/aux", since="1.9"),
        Name(
            "reward",
            "reward",
            reduction=Reduction.BATCH,
            note="Weighted sum of the reward functions before group normalisation; 0.14 summed without weights.",
        ),
        Name(
            "reward_std",
            "reward_std",
            note=(
                "Up to 0.26 the mean standard deviation within groups (of the batch with scale_rewards=batch), from "
                "0.27 that of the whole generation batch."
            ),
        ),
        Name("frac_reward_zero_std", "frac_reward_zero_std", since="0.18"),
        Name(
            "rewards/(?P<name>.+)/mean",
            "rewards/{name}/mean",
            pattern=True,
            since="0.17",
            note="NaN rewards are left out of the mean.",
        ),
        Name("rewards/(?P<name>.+)/std", "rewards/{name}/std", pattern=True, since="0.17"),
        Name("rewards/(?P<name>(?:(?!/mean$|/std$).)+)", "rewards/{name}/mean", pattern=True, until="0.16"),
        Name(
            "kl",
            "kl",
            estimator=Estimator.K3,
            reduction=Reduction.TOKEN,
            note=(
                "Absent when beta is 0. 0.14 took the mean of sequence means, versions before 1.9 the mean of "
                "per-process means; since 1.9 every token weighs the same. Multiplied by the ratio with "
                "use_bias_correction_kl."
            ),
        ),
        Name(
            "entropy",
            "entropy",
            estimator=Estimator.EXACT,
            reduction=Reduction.TOKEN,
            since="0.20",
            note="Softmax entropy at the sampling temperature; before 1.9 the mean of per-process means.",
        ),
        Name("completions/mean_length", "completions/mean_length"),
        Name("completions/min_length", "completions/min_length"),
        Name("completions/max_length", "completions/max_length"),
        Name("completion_length", "completions/mean_length", until="0.16"),
        Name(
            "completions/clipped_ratio",
            "completions/clipped_ratio",
            note="Share of completions whose last token is neither EOS nor padding.",
        ),
        Name(
            "completions/mean_terminated_length",
            "completions/mean_terminated_length",
            note="0 when no completion ended.",
        ),
        Name("completions/min_terminated_length", "completions/min_terminated_length"),
        Name("completions/max_terminated_length", "completions/max_terminated_length"),
        Name("clip_ratio", "clip_ratio", note="Written by 0.16 and by the Liger loss."),
        Name("clip_ratio/low_mean", "clip_ratio/low_mean", reduction=Reduction.TOKEN),
        Name(
            "clip_ratio/low_min",
            "clip_ratio/low_min",
            note="Before 1.9 the minimum over processes, since then over sequences.",
        ),
        Name("clip_ratio/high_mean", "clip_ratio/high_mean", reduction=Reduction.TOKEN),
        Name(
            "clip_ratio/high_max",
            "clip_ratio/high_max",
            note="Before 1.9 the maximum over processes, since then over sequences.",
        ),
        Name("clip_ratio/region_mean", "clip_ratio/region_mean", reduction=Reduction.TOKEN),
        Name("cispo_clip_ratio", "cispo_clip_ratio", since="0.26"),
        Name("sampling/sampling_logp_difference/mean", "sampling/sampling_logp_difference/mean", since="0.23"),
        Name("sampling/sampling_logp_difference/max", "sampling/sampling_logp_difference/max"),
        Name(
            "sampling/importance_sampling_ratio/mean",
            "sampling/importance_sampling_ratio/mean",
            note="After truncation and masking; per token or per sequence by configuration.",
        ),
        Name("sampling/importance_sampling_ratio/min", "sampling/importance_sampling_ratio/min"),
        Name("sampling/importance_sampling_ratio/max", "sampling/importance_sampling_ratio/max"),
        Name("tools/call_frequency", "tools/call_frequency", since="0.26"),
        Name("tools/failure_frequency", "tools/failure_frequency"),
        Name("step_time", "step_time", since="0.26"),
        Name(
            r"profiling/Time taken: \w+\.(_generate(_single_turn|_and_score_completions)?|(vLLM|transformers)\.generate)",
            "time/rollout",
            pattern=True,
            fit=Fit.PROXY,
            note="Seconds a call, sent straight to the trackers; outer calls contain inner ones.",
        ),
    ),
    ignored=("vespo/phi_seq_mean", "profiling/.*"),
    never=(
        "value_loss",
        "value_mean",
        "value_clip_fraction",
        "value_error",
        "explained_variance",
        "return_mean",
        "critic_lr",
        "critic_grad_norm",
        "ratio",
        "ratio_variance",
        "policy_kl",
        "advantage_mean",
        "advantage_std",
        "throughput",
        "reward_penalised",
        "kl_penalty",
    ),
    note=(
        "The trainer leaves NaN out of the mean over a logging window; a window of nothing but NaN is written as "
        "null, so null is a value here. With num_iterations or steps_per_generation above 1 several optimizer steps "
        "share one generation batch, and the rows in between carry no reward and no completion metrics. kl is "
        "absent when beta is 0."
    ),
    sources=("huggingface/trl v0.14.0, v0.18.0, v0.26.0, v1.9.0, 1.16.0",),
)
