"""slime by THUDM, on Megatron and SGLang.

Its worst traps: ``rollout/rewards`` is normalised within groups and so about 0 (``rollout/raw_reward`` is the reward), and
training, rollout and evaluation each count steps of their own.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

SLIME = Dialect(
    name="slime",
    title="slime",
    spoken_by="slime main, 2026-08",
    step=("step", "rollout/step", "eval/step"),
    axis="train/step (optimizer step)",
    prefixes=("train/",),
    priority=150,
    signatures=(
        Signature(
            any=(
                "pg_clipfrac",
                "rollout/raw_reward",
                "rollout/response_len/mean",
                r"lr-pg_\d+",
                "rollout/zero_std/count_.*",
            )
        ),
    ),
    row=(
        "train/loss",
        "train/pg_loss",
        "train/entropy_loss",
        "train/pg_clipfrac",
        "train/ppo_kl",
        "train/kl_loss",
        "train/grad_norm",
        "train/lr-pg_0",
        "train/step",
        "rollout/raw_reward",
        "rollout/response_len/mean",
        "perf/rollout_time",
    ),
    names=(
        Name("step", "step"),
        Name("rollout/step", "step", fit=Fit.CLOSE),
        Name("loss", "loss"),
        Name("pg_loss", "loss/policy_avg"),
        Name("(critic-)?value_loss", "loss/value_avg", pattern=True, scale=0.5, note="Logged without the factor 0.5."),
        Name(
            "(critic-)?value_clipfrac",
            "val/clipfrac_avg",
            pattern=True,
            fit=Fit.CLOSE,
            note="Share of values that moved by more than the clip range, active or not.",
        ),
        Name("critic-grad_norm", "critic/grad_norm"),
        Name("critic-lr-pg_0", "critic/lr"),
        Name(
            "entropy_loss",
            "entropy",
            estimator=Estimator.EXACT,
            reduction=Reduction.SEQUENCE,
            note="The positive mean entropy; weighted by token with calculate_per_token_loss.",
        ),
        Name("pg_clipfrac", "policy/clipfrac_avg"),
        Name("ppo_kl", "policy/kl_k1_avg", estimator=Estimator.K1),
        Name(
            "kl_loss",
            "kl",
            estimator=Estimator.K3,
            fit=Fit.CLOSE,
            note="kl_loss_type chooses the estimator. Far from 0 at the first step tells of a wrong reference.",
        ),
        Name("grad_norm", "grad_norm"),
        Name("lr-pg_0", "lr"),
        Name("train_rollout_logprob_abs_diff", "sampling/sampling_logp_difference/mean"),
        Name("ois", "val/ratio", fit=Fit.CLOSE),
        Name("tis", "sampling/importance_sampling_ratio/mean"),
        Name("tis_clipfrac", "sampling/filtered_frac"),
        Name("opsm_clipfrac", "policy/masked_frac"),
        Name("rollout/raw_reward", "reward", note="Before normalisation."),
        Name("rollout/advantages", "advantages/mean"),
        Name("rollout/returns", "returns/mean"),
        Name("rollout/values", "value/mean"),
        Name(
            "rollout/kl",
            "kl",
            estimator=Estimator.K1,
            fit=Fit.CLOSE,
            note="0 when kl_coef is 0. Older versions put the shaped reward here for PPO.",
        ),
        Name("rollout/response_len/mean", "completions/mean_length"),
        Name("rollout/response_len/max", "completions/max_length"),
        Name("rollout/response_len/min", "completions/min_length"),
        Name("rollout/response_len/median", "completions/median_length"),
        Name("rollout/response_lengths", "completions/mean_length"),
        Name("rollout/total_lengths", "sequence/mean_length"),
        Name("rollout/truncated_ratio", "completions/clipped_ratio"),
        Name("rollout/truncated", "completions/clipped_ratio"),
        Name("rollout/repetition_frac", "completions/repetition_ratio"),
        Name(
            "rollout/zero_std/count_(?P<name>.+)",
            "groups/zero_std_count",
            pattern=True,
            note="One for each reward value that a group shares.",
        ),
        Name("rollout/dynamic_filter/drop_(?P<name>.+)", "filter/dropped", pattern=True),
        Name("perf/rollout_time", "time/rollout"),
        Name("perf/step_time", "step_time"),
        Name("perf/actor_train_time", "time/train"),
        Name("perf/wait_time_ratio", "time/wait_ratio"),
        Name("perf/tokens_per_gpu_per_sec", "throughput/tokens_per_s_per_gpu", fit=Fit.CLOSE, note="Of generation."),
        Name("perf/actor_train_tflops", "perf/tflops"),
        Name("perf/actor_train_tok_per_s", "throughput/tokens_per_s"),
        Name(r"eval/(?P<name>[^/]+)-pass@(?P<k>\d+)", "eval/{name}/pass_at_{k}", pattern=True),
        Name(
            r"passrate/pass@(?P<k>\d+)",
            "eval/train_rollouts/pass_at_{k}",
            pattern=True,
            fit=Fit.CLOSE,
            note="Measured on training rollouts.",
        ),
        Name("eval/(?P<name>.+)-truncated_ratio", "eval/completions/clipped_ratio", pattern=True),
        Name("eval/(?P<name>(?!step$)[^/@]+?)(?<!-truncated_ratio)", "eval/{name}", pattern=True),
    ),
    ignored=(
        "rollout/rewards",
        "rollout/log_probs",
        "rollout/ref_log_probs",
        "rollout/rollout_log_probs",
        "rollout/prefix_cache_hit_rate",
        "rollout/spec_accept_rate",
        "tis_abs",
        "global_batch_size",
        r"lr-pg_[1-9]\d*",
        "perf/.*",
        "eval/step",
        "rollout/response_len/.*",
        "critic-.*",
    ),
    never=("reward_spread", "explained_variance"),
    note=(
        "train/step counts optimizer steps, rollout/step rollout batches (perf/* too), eval/step evaluations; rows "
        "are placed by the step logged last. The value loss is logged without the factor 0.5. A role called critic "
        "repeats the training keys as train/critic-<key>."
    ),
    sources=("THUDM/slime",),
)
