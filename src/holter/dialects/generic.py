"""Hand-written logs and pasted tables, in English and Chinese: the usual names for the usual quantities.

Nothing here is exact: which estimator, which reduction and, for KL, whether per token or per sequence, the log alone
cannot say. Names are matched in snake case.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name

GENERIC = Dialect(
    name="generic",
    title="hand-written or unknown log",
    spoken_by="names seen in about 60 public hand-written logs",
    step=("step", "global_step", "iteration", "iter", "update", "步骤"),
    axis="step",
    prefixes=("train_", "training_", "metrics_", "stats_", "rl_", "grpo_", "ppo_", "avg_", "average_", "mean_"),
    eval_prefixes=("eval_", "val_", "valid_", "validation_", "test_"),
    snake=True,
    priority=1000,
    row=("step", "loss", "reward_mean", "reward_std", "kl", "clip_frac", "adv_std", "grad_norm", "lr"),
    names=(
        Name(
            "(global_|training_|train_)?steps?|iter(ation)?s?|updates?|步骤|步数", "step", pattern=True, fit=Fit.CLOSE
        ),
        Name("epochs?", "epoch", pattern=True, fit=Fit.CLOSE),
        Name("episodes?|n_episodes", "episode", pattern=True, fit=Fit.CLOSE),
        Name(
            "(total_|final_|episode_|raw_|task_)?(rewards?|scores?)(_mean|_avg|_total)?|平均奖励|奖励",
            "reward",
            pattern=True,
            fit=Fit.CLOSE,
        ),
        Name("(rewards?|scores?)_std|std_rewards?", "reward_std", pattern=True, fit=Fit.CLOSE),
        Name("(within_)?group_rewards?_std", "reward_group_std", pattern=True, fit=Fit.CLOSE),
        Name("rewards?_max|max_rewards?", "reward/max", pattern=True, fit=Fit.CLOSE),
        Name("rewards?_min|min_rewards?", "reward/min", pattern=True, fit=Fit.CLOSE),
        Name(
            "kl(_div(ergence)?)?(_mean|_avg|_ref|_to_ref)?|ref_kl|kl散度",
            "kl",
            pattern=True,
            fit=Fit.PROXY,
            note="Per token or per sequence is unknown; inferred from its size and its neighbours.",
        ),
        Name("(approx_?kl|old_?kl|ppo_kl|policy_kl)(_avg|_mean)?", "policy/approxkl_avg", pattern=True, fit=Fit.PROXY),
        Name("log_ratio_abs_mean", "sampling/sampling_logp_difference/mean", fit=Fit.PROXY),
        Name(
            "(kl_)?(coefficient|coeff?|beta)|kl_(penalty_)?(coeff?|beta|weight)",
            "objective/kl_coef",
            pattern=True,
            fit=Fit.CLOSE,
        ),
        Name(
            "(policy|actor|pg|surrogate)_loss(_mean|_avg)?|loss_(policy|pg|actor)|策略损失",
            "loss/policy_avg",
            pattern=True,
            fit=Fit.CLOSE,
        ),
        Name(
            "(value|critic|vf|v)_loss(_mean|_avg)?|loss_(value|critic|vf)|价值损失",
            "loss/value_avg",
            pattern=True,
            fit=Fit.PROXY,
            note="The factor 0.5 and vf_coef are unknown.",
        ),
        Name("(total_)?loss(_total|_mean|_avg|_at_step)?|损失", "loss", pattern=True, fit=Fit.CLOSE),
        Name("kl_loss|loss_kl", "loss/kl_avg", pattern=True, fit=Fit.PROXY),
        Name(
            "(policy_|token_)?entropy(_mean|_avg)?|熵",
            "entropy",
            pattern=True,
            fit=Fit.PROXY,
            note="Entropy or surprisal is unknown.",
        ),
        Name("(total_)?grad(ient)?_?norm", "grad_norm", pattern=True, fit=Fit.CLOSE),
        Name("lr|learning_rate|学习率", "lr", pattern=True, fit=Fit.CLOSE),
        Name(
            "(pg_)?clip_?frac(tion)?(_mean|_avg)?|clip_ratio|clipped_fraction",
            "policy/clipfrac_avg",
            pattern=True,
            fit=Fit.CLOSE,
        ),
        Name("(importance_)?ratio(_mean|_avg)?", "val/ratio", pattern=True, fit=Fit.CLOSE),
        Name("explained_var(iance)?|ev", "explained_variance", pattern=True, fit=Fit.CLOSE),
        Name("adv(antages?)?(_mean)?", "advantages/mean", pattern=True, fit=Fit.CLOSE),
        Name("adv(antages?)?_std", "advantages/std", pattern=True, fit=Fit.CLOSE),
        Name("adv(antages?)?_abs(_mean)?|adv(antages?)?_mean_abs", "advantages/abs_mean", pattern=True, fit=Fit.CLOSE),
        Name("values?(_mean|_avg)?", "value/mean", pattern=True, fit=Fit.CLOSE),
        Name(
            "returns?(_mean|_avg)?",
            "returns/mean",
            pattern=True,
            fit=Fit.PROXY,
            note="Episode return or critic target.",
        ),
        Name(
            "(response|completion|gen(eration|erated)?|output)s?_?(len(gth)?s?|tokens)(_mean|_avg)?",
            "completions/mean_length",
            pattern=True,
            fit=Fit.CLOSE,
        ),
        Name(
            "(max_(response|completion|gen|output)_?(len(gth)?|tokens)|(response|completion|gen|output)_?(len(gth)?|tokens)_max)",
            "completions/max_length",
            pattern=True,
            fit=Fit.CLOSE,
        ),
        Name(
            "seq(uence)?_?len(gth)?(_mean|_avg)?",
            "sequence/mean_length",
            pattern=True,
            fit=Fit.PROXY,
            note="Whether the prompt counts is unknown.",
        ),
        Name(
            "(truncat(ed|ion)|overlong|cap_hit|clipped)_?(rate|ratio|frac(tion)?)",
            "completions/clipped_ratio",
            pattern=True,
            fit=Fit.CLOSE,
        ),
        Name(
            "(frac_(rewards?_)?zero_(std|variance)|zero_(std|variance)_(group_)?(frac(tion)?|ratio|rate))",
            "frac_reward_zero_std",
            pattern=True,
            fit=Fit.CLOSE,
        ),
        Name("accuracy|acc|(success|solve|correct|pass|win)_?rate", "accuracy", pattern=True, fit=Fit.CLOSE),
        Name(
            "(?P<name>format|correctness|accuracy|length|style|safety)_(rewards?|rate|score)(_mean)?",
            "rewards/{name}/mean",
            pattern=True,
            fit=Fit.CLOSE,
        ),
        Name("ppl|perplexity", "perplexity", pattern=True, fit=Fit.CLOSE),
        Name("(t_|time_)?(rollout|gen(eration)?)(_time|_s|_seconds)?", "time/rollout", pattern=True, fit=Fit.CLOSE),
        Name("t_train|(update|train)_time", "time/train", pattern=True, fit=Fit.CLOSE),
        Name("(step_time|time_per_step|t_step)(_s)?", "step_time", pattern=True, fit=Fit.CLOSE),
        Name("elapsed(_s|_time)?|wall_?time", "time/total", pattern=True, fit=Fit.CLOSE),
        Name("(tokens|toks?)_per_s(ec(ond)?)?|tps", "throughput/tokens_per_s", pattern=True, fit=Fit.CLOSE),
        Name("num_tokens|total_tokens", "num_tokens", pattern=True, fit=Fit.PROXY),
        Name("评估分数|评测分数|eval_score", "eval/reward", pattern=True, fit=Fit.CLOSE),
    ),
    ignored=("entropy_loss",),
    note=(
        "Estimators and reductions are unknown, so no absolute limit can be trusted. entropy_loss is left aside, "
        "because its sign differs between frameworks."
    ),
    sources=("public run logs of about 60 repositories",),
)
