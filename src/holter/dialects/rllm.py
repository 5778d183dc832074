"""rLLM (verl backend, unified trainer, tinker backend): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature
from holter.signals.base import Estimator, Reduction

RLLM = Dialect(
    name="rllm",
    title="rLLM (verl backend, unified trainer, tinker backend)",
    step=("step", "training/global_step"),
    axis="one rollout batch",
    inherits="verl",
    null=Null.NAN,
    priority=30,
    signatures=(
        Signature(
            any=(
                "batch/solve_partial",
                "groups/num_trajs.*",
                "batch/[^/]+/fractions/effective",
                "advantage/[^/]+/fraction_zero",
                "episode/.*",
            )
        ),
        Signature(any=("batch/solve_none", "batch/solve_all")),
    ),
    row=(
        "batch/solve_none",
        "batch/solve_all",
        "batch/solve_partial",
        "critic/score/mean",
        "actor/kl_loss",
        "actor/ppo_kl",
        "actor/entropy_loss",
        "response_length/mean",
    ),
    names=(
        Name("batch/solve_none", "groups/none_solved_count"),
        Name("batch/solve_all", "groups/all_solved_count"),
        Name("batch/solve_partial", "groups/mixed_count"),
        Name("reward/(?P<name>[^/]+)/mean", "reward", pattern=True, note="label = role"),
        Name("reward/(?P<name>[^/]+)/std", "reward_std", pattern=True),
        Name("reward/(?P<name>[^/]+)/max", "reward/max", pattern=True),
        Name("reward/(?P<name>[^/]+)/min", "reward/min", pattern=True),
        Name("advantage/(?P<name>[^/]+)/mean", "advantages/mean", pattern=True),
        Name("advantage/(?P<name>[^/]+)/std", "advantages/std", pattern=True),
        Name("advantage/(?P<name>[^/]+)/max", "advantages/max", pattern=True),
        Name("advantage/(?P<name>[^/]+)/min", "advantages/min", pattern=True),
        Name("advantage/(?P<name>[^/]+)/fraction_zero", "advantages/frac_zero", pattern=True),
        Name("batch/(?P<name>[^/]+)/fractions/effective", "groups/mixed", pattern=True),
        Name("batch/(?P<name>[^/]+)/fractions/too_easy", "groups/all_solved", pattern=True),
        Name("batch/(?P<name>[^/]+)/fractions/too_hard", "groups/none_solved", pattern=True),
        Name("groups/dropped_zero_adv", "filter/dropped"),
        Name("async/staleness_mean", "staleness/mean"),
        Name("async/staleness_max", "staleness/max"),
        Name("async/staleness_min", "staleness/min"),
        Name("async/trainer_idle_ratio", "time/wait_ratio"),
        Name("async/buffer_qsize", "staleness/queue_size"),
        Name("train/kl_sample_train_v1", "sampling/kl", estimator=Estimator.K1),
        Name("train/kl_sample_train_v2", "sampling/kl_k2", estimator=Estimator.K2),
        Name("train/entropy", "entropy", estimator=Estimator.MONTE_CARLO, reduction=Reduction.TOKEN, fit=Fit.CLOSE),
        Name("train/perplexity", "perplexity"),
        Name("val/(?P<name>.+)/pass@(?P<k>\\d+)", "eval/{name}/pass_at_{k}", pattern=True),
    ),
    ignored=(
        "episode/.*",
        "time/.*",
        "progress/.*",
        "groups/num_trajs.*",
        "batch/.*/group_reward_std/.*",
        "optim/.*",
        "rollout_correction/.*",
    ),
    note="batch/solve_* are counts of prompts: divide by the number of groups.",
)
