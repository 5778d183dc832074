"""rLLM, agents on verl or on Tinker, with rewards and advantages by agent role.

Its worst trap: ``batch/solve_none``, ``solve_all`` and ``solve_partial`` are counts of prompts, not shares.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Null, Signature
from holter.signals.base import Estimator, Reduction

RLLM = Dialect(
    name="rllm",
    title="rLLM (verl, unified and tinker backends)",
    spoken_by="rLLM main, 2026-08",
    step=("step", "training/global_step"),
    axis="rollout batch",
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
        Name("reward/(?P<name>[^/]+)/mean", "reward", pattern=True, note="One for each agent role."),
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
        Name(r"val/(?P<name>.+)/pass@(?P<k>\d+)", "eval/{name}/pass_at_{k}", pattern=True),
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
    note=(
        "batch/solve_* count prompts: divide them by their sum to get shares. Rewards and advantages are logged "
        "once a role; the first role of the log is used and the others stay visible beside it."
    ),
    sources=("rllm-org/rllm",),
)
