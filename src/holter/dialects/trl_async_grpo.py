"""TRL's experimental asynchronous GRPO trainer, with staleness and queue metrics.

Its worst trap: ``kl`` compares the new policy with the one that sampled, not with a reference model. There is none.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature
from holter.signals.base import Estimator, Reduction

TRL_ASYNC_GRPO = Dialect(
    name="trl-async-grpo",
    title="TRL AsyncGRPOTrainer (experimental)",
    spoken_by="trl 1.16 (trl.experimental.async_grpo)",
    step=("global_step", "step"),
    axis="optimizer step (state.global_step)",
    inherits="hf-trainer",
    null=Null.NAN,
    priority=350,
    signatures=(Signature(any=("sample/staleness_mean", "perf/mfu_wall_clock", "sample/rollout_queue_size")),),
    row=(
        "loss",
        "reward",
        "kl",
        "ratio",
        "entropy",
        "sample/staleness_mean",
        "sample/rollout_queue_size",
        "perf/step_s",
        "clip_ratio/low_mean",
    ),
    names=(
        Name(
            "kl",
            "policy/approxkl_avg",
            estimator=Estimator.K3,
            reduction=Reduction.TOKEN,
            fit=Fit.CLOSE,
            note="KL between the new policy and the one that sampled; no reference model is involved.",
        ),
        Name("ratio", "val/ratio", reduction=Reduction.TOKEN),
        Name("entropy", "entropy", estimator=Estimator.EXACT, reduction=Reduction.TOKEN),
        Name("clip_ratio/low_mean", "clip_ratio/low_mean"),
        Name("clip_ratio/high_mean", "clip_ratio/high_mean"),
        Name("clip_ratio/region_mean", "clip_ratio/region_mean"),
        Name("reward", "reward"),
        Name("reward_std", "reward_std"),
        Name("rewards/(?P<name>[^/]+)", "rewards/{name}/mean", pattern=True),
        Name("rewards/(?P<name>.+)/mean", "rewards/{name}/mean", pattern=True),
        Name("rewards/(?P<name>.+)/std", "rewards/{name}/std", pattern=True),
        Name("completions/mean_length", "completions/mean_length"),
        Name("completions/clipped_ratio", "completions/clipped_ratio"),
        Name("tools/call_frequency", "tools/call_frequency"),
        Name("tools/failure_frequency", "tools/failure_frequency"),
        Name("sample/staleness_mean", "staleness/mean"),
        Name("sample/staleness_max", "staleness/max"),
        Name("sample/dropped_stale_total", "staleness/dropped", note="Cumulative."),
        Name("sample/rollout_queue_size", "staleness/queue_size"),
        Name("perf/step_s", "step_time"),
        Name("perf/fwd_bwd_s", "time/train"),
        Name("perf/rollout_wait_s", "time/wait"),
        Name("perf/weight_sync_s", "time/weight_sync"),
        Name("perf/mfu_wall_clock", "perf/mfu"),
        Name("perf/trained_tok_s_wall_clock", "throughput/tokens_per_s"),
        Name("rollout/generated_tok_s", "throughput/gen_tokens_per_s"),
        Name("rollout/duration_s", "time/rollout", fit=Fit.CLOSE),
    ),
    ignored=("batch/.*", "perf/.*", "rollout/.*", "sample/.*"),
    never=(
        "ref_kl",
        "value_loss",
        "value_mean",
        "value_clip_fraction",
        "value_error",
        "explained_variance",
        "return_mean",
        "critic_lr",
        "critic_grad_norm",
    ),
    note=(
        "kl is the divergence between the policy and the one that sampled the rollouts, so it measures the size of "
        "an update and its staleness. The drift from a reference model is not logged."
    ),
    sources=("trl 1.16.0, trl.experimental.async_grpo",),
)
