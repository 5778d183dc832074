"""The recipes of Thinking Machines' tinker-cookbook.

Its worst traps: ``optim/entropy`` is the surprisal of the sampled tokens, and ``kl_sample_train`` compares sampler and
trainer, not policy and reference.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name, Signature
from holter.signals.base import Estimator, Reduction

TINKER_COOKBOOK = Dialect(
    name="tinker-cookbook",
    title="tinker-cookbook",
    spoken_by="tinker-cookbook main, 2026-08",
    step=("step", "progress/batch"),
    axis="training batch, counted from zero",
    priority=50,
    signatures=(Signature(any=("env/all/reward/total", "optim/kl_sample_train_v1", "progress/done_frac")),),
    row=(
        "progress/batch",
        "progress/done_frac",
        "optim/lr",
        "env/all/reward/total",
        "env/all/by_group/frac_mixed",
        "optim/kl_sample_train_v1",
        "optim/entropy",
        "time/total",
    ),
    names=(
        Name("step", "step"),
        Name("progress/batch", "step"),
        Name("progress/done_frac", "epoch", fit=Fit.CLOSE, note="Share of the planned run."),
        Name("env/all/reward/total", "reward", note="Mean reward of an episode."),
        Name("reward/mean", "reward", note="Of the minimal rl_loop recipe."),
        Name("reward/(?P<name>(?!mean$|std$|min$|max$)[^/]+)", "rewards/{name}/mean", pattern=True, fit=Fit.CLOSE),
        Name("policy/entropy", "entropy", fit=Fit.PROXY, note="Of hand-written loops; surprisal as a rule."),
        Name("optim/kl_sample_train_v1", "sampling/kl", estimator=Estimator.K1, reduction=Reduction.TOKEN),
        Name("optim/kl_sample_train_v2", "sampling/kl_k2", estimator=Estimator.K2, reduction=Reduction.TOKEN),
        Name(
            "optim/entropy",
            "entropy",
            estimator=Estimator.MONTE_CARLO,
            reduction=Reduction.TOKEN,
            fit=Fit.CLOSE,
            note="Surprisal of the sampled tokens when they were sampled.",
        ),
        Name("optim/lr", "lr"),
        Name(
            "kl_policy_base",
            "kl",
            estimator=Estimator.K1,
            reduction=Reduction.TOKEN,
            fit=Fit.CLOSE,
            note="Only with a KL penalty.",
        ),
        Name("kl_pre_post_v1", "policy/kl_k1_avg", fit=Fit.CLOSE),
        Name("kl_pre_post_v2", "policy/approxkl_avg", estimator=Estimator.K2, fit=Fit.CLOSE),
        Name("env/all/ac_tokens_per_turn", "completions/mean_length", fit=Fit.CLOSE, note="Per turn."),
        Name("env/all/ob_tokens_per_turn", "prompt_length/mean", fit=Fit.CLOSE, note="Per turn."),
        Name("env/all/turns_per_episode", "turns/mean"),
        Name("env/all/total_episodes", "batch/num_samples"),
        Name("env/all/total_ac_tokens", "batch/num_tokens"),
        Name("env/all/by_group/frac_mixed", "groups/mixed"),
        Name("env/all/by_group/frac_all_good", "groups/all_solved"),
        Name("env/all/by_group/frac_all_bad", "groups/none_solved"),
        Name(
            "sampling_client/step_mean",
            "staleness/mean",
            fit=Fit.PROXY,
            note="An absolute version number: subtract it from the step.",
        ),
        Name("time/total", "step_time"),
        Name("test/env/all/reward/total", "eval/reward"),
        Name("test/env/(?P<name>(?!all/).+)/reward/total", "eval/{name}", pattern=True),
        Name(
            "env/(?P<name>(?!all/)[^/]+)/reward/total",
            "rewards/{name}/mean",
            pattern=True,
            fit=Fit.CLOSE,
            note="One for each environment tag.",
        ),
    ),
    ignored=(
        "env/.*",
        "test/.*",
        "time/.*",
        "sampling_client/.*",
        "rollout_errors/.*",
        ".*:(total|count)",
        "progress/.*",
    ),
    never=("grad_norm", "clip_fraction", "truncation", "reward_spread", "value_loss"),
    note=(
        "Completion and prompt lengths are per turn. sampling_client/step_mean is an absolute version number: "
        "subtract it from the step. NaN is written as the bare word NaN."
    ),
    sources=("thinking-machines-lab/tinker-cookbook",),
)
