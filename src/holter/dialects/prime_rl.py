"""prime-rl by Prime Intellect: a trainer and an orchestrator, two processes that log under one step number.

Its worst trap: ``mismatch_kl`` compares trainer and sampler; there is no reference model by default.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

PRIME_RL = Dialect(
    name="prime-rl",
    title="prime-rl",
    spoken_by="0.3 - 0.5 (main, 2026-08)",
    step=("step",),
    axis="step, shared by trainer and orchestrator",
    priority=40,
    signatures=(
        Signature(
            any=(
                "mismatch_kl/(all/)?mean",
                "train/agg/(all|effective)/.*",
                "batch/off_policy_level/mean",
                "off_policy/in_flight/mean",
            )
        ),
    ),
    row=(
        "loss/mean",
        "entropy/all/mean",
        "mismatch_kl/all/mean",
        "is_masked/mean",
        "optim/lr",
        "optim/grad_norm",
        "perf/throughput",
        "time/step",
    ),
    names=(
        Name("loss/mean", "loss"),
        Name("entropy/all/mean", "entropy", estimator=Estimator.EXACT, reduction=Reduction.TOKEN),
        Name("entropy/mean", "entropy", until="0.5"),
        Name(
            "mismatch_kl/all/mean",
            "sampling/kl_k3",
            estimator=Estimator.K3,
            reduction=Reduction.TOKEN,
            note="Trainer against sampler: staleness and numerics together, no reference.",
        ),
        Name("mismatch_kl/mean", "sampling/kl_k3", until="0.5"),
        Name("is_masked/mean", "policy/masked_frac", note="Plays the part of a clip fraction."),
        Name(
            "ref_kl/mean",
            "kl",
            scale=-1.0,
            estimator=Estimator.K1,
            fit=Fit.CLOSE,
            note="For distillation only: reference minus trainer.",
        ),
        Name("optim/grad_norm", "grad_norm"),
        Name("optim/lr", "lr"),
        Name("perf/throughput", "throughput/tokens_per_s"),
        Name("perf/throughput_per_gpu", "throughput/tokens_per_s_per_gpu"),
        Name("perf/mfu", "perf/mfu", scale=0.01, note="A percentage in the log."),
        Name("perf/peak_memory", "memory/peak_gb", scale=1.073741824, note="GiB in the log."),
        Name("time/step", "step_time"),
        Name("time/forward_backward", "time/train"),
        Name("time/broadcast_weights", "time/weight_sync"),
        Name("time/wait_for_batch", "time/wait"),
        Name("reward/mean", "reward", until="0.4"),
        Name("reward/all/mean", "reward", until="0.5"),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?reward/mean",
            "reward",
            pattern=True,
            note="effective is after the filters, agg pools the environments.",
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?reward/max", "reward/max", pattern=True
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?reward/min", "reward/min", pattern=True
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?is_truncated/mean",
            "completions/clipped_ratio",
            pattern=True,
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?num_output_tokens/mean",
            "completions/mean_length",
            pattern=True,
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?num_output_tokens/max",
            "completions/max_length",
            pattern=True,
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?num_total_tokens/mean",
            "sequence/mean_length",
            pattern=True,
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?num_turns/mean",
            "turns/mean",
            pattern=True,
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?has_error/mean",
            "rollout/error_ratio",
            pattern=True,
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?is_trainable/mean",
            "filter/kept_ratio",
            pattern=True,
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?solved_none",
            "groups/none_solved",
            pattern=True,
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?solved_all",
            "groups/all_solved",
            pattern=True,
        ),
        Name(
            "train/(?P<name>[^/]+)/(?P<subset>all|effective)/((?P<agent>[^/]+)/)?solved_some",
            "groups/mixed",
            pattern=True,
        ),
        Name("seq_len/mean", "sequence/mean_length", until="0.4"),
        Name("seq_len/all/mean", "sequence/mean_length", until="0.5"),
        Name("is_truncated/mean", "completions/clipped_ratio", until="0.4"),
        Name("is_truncated/all/mean", "completions/clipped_ratio", until="0.5"),
        Name("batch/solve_none", "groups/none_solved", until="0.5"),
        Name("batch/solve_all", "groups/all_solved", until="0.5"),
        Name("batch/off_policy_level/mean", "staleness/mean", until="0.5"),
        Name("batch/off_policy_level/max", "staleness/max", until="0.5"),
        Name("off_policy/mean", "staleness/mean"),
        Name("off_policy/max", "staleness/max"),
        Name("off_policy/dropped", "staleness/dropped"),
        Name("progress/total_tokens", "num_tokens"),
        Name("progress/total_samples", "episode"),
        Name(r"eval/(?P<name>.+)/avg@(?P<k>\d+)", "eval/{name}/avg_at_{k}", pattern=True),
        Name(r"eval/(?P<name>.+)/pass@(?P<k>\d+)", "eval/{name}/pass_at_{k}", pattern=True),
    ),
    ignored=(
        "masked_.*",
        "unmasked_.*",
        "is_masked_(low|high)/.*",
        "kl_ent_ratio/mean",
        "event_loop_lag/.*",
        "dispatcher/.*",
        "inference/.*",
        "pool/.*",
        "time/.*",
        ".*/(std|median|p10|p90)",
        "error/.*",
        "stop_condition/.*",
        "batch/(?!solve|off).*",
        "progress/.*",
        "time",
    ),
    never=("value_loss", "reward_spread", "clip_fraction"),
    note=(
        "Non-finite values are dropped from the file, so a gap may be a NaN. is_masked plays the part of a clip "
        "fraction. ref_kl exists for distillation only, and its sign is turned on reading. perf/mfu is a "
        "percentage."
    ),
    sources=("PrimeIntellect-ai/prime-rl v0.3.0, v0.5.0, main",),
)
