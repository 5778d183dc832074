"""Hand-written logs and pasted tables, in English and Chinese: the usual names for the usual quantities.

Nothing here is exact: which estimator, which reduction and, for KL, whether per token or per sequence, the log alone
cannot say. Names are matched in snake case.
"""

from __future__ import annotations

from holter.dialects.base import Dialect, Fit, Name


def _close(raw: str, key: str, note: str = "") -> Name:
    return Name(raw, key, pattern=True, fit=Fit.CLOSE, note=note)


def _proxy(raw: str, key: str, note: str = "") -> Name:
    return Name(raw, key, pattern=True, fit=Fit.PROXY, note=note)


MEAN = "(_mean|_avg|_average)?"
WHAT = "(resp|response|completion|gen|generation|generated|output|answer|reply)s?"
LENGTH = "(len|lens|length|lengths|tokens|token_count)"
SHARE = "(rate|ratio|frac|fraction|share)"
ASPECT = "(soft_format|strict_format|format|correctness|accuracy|length|style|safety|helpfulness|harmlessness|gold|true|oracle)"

AXES = (
    _close(
        "(global_|training_|optimizer_|current_)?steps?|iter(ation)?s?|updates?|(训练)?步(骤|数)|迭代(次数)?", "step"
    ),
    _close("epochs?|轮次|训练轮数", "epoch"),
    _close("(n_|num_|total_)?episodes?|回合数?", "episode"),
    _proxy("(num|total)_tokens", "num_tokens"),
)

REWARD = (
    _close(
        f"(total_|final_|episode_|raw_|task_|proxy_|rm_|reward_model_|env_)?(rewards?|scores?)({MEAN}|_total)"
        "|奖励(值|分数|均值)?|得分|分数",
        "reward",
    ),
    _close("(rlhf|penali[sz]ed|kl_penali[sz]ed)_rewards?|rewards?_(with|after|minus)_kl", "objective/rlhf_reward"),
    _close("(rewards?|scores?)_(std|std_dev|stdev)|std_(rewards?|scores?)|奖励标准差", "reward_std"),
    _close("((within|in|intra)_)?(group|grp)_(rewards?_)?std|组内奖励标准差", "reward_group_std"),
    _close("(rewards?|scores?)_max|max_(rewards?|scores?)|最(大|高)奖励", "reward/max"),
    _close("(rewards?|scores?)_min|min_(rewards?|scores?)|最(小|低)奖励", "reward/min"),
    _close(f"(?P<name>{ASPECT})_(rewards?|rate|score)(_mean)?", "rewards/{name}/mean"),
    _close("rewards_(?P<name>.+)_std", "rewards/{name}/std"),
    _close(r"rewards_(?P<name>(?!(mean|std|min|max)$).+?)(_mean)?", "rewards/{name}/mean"),
    _close("accuracy|acc|(success|solve|correct|pass|win)_?rate|(准确|正确|成功|通过|胜)率", "accuracy"),
    _close("frac_(rewards?_)?zero_(std|variance)|zero_(std|variance)_(groups?_)?" + SHARE, "frac_reward_zero_std"),
    _close("(frac_)?homogeneous(_groups?)?(_" + SHARE + ")?(_measured)?", "frac_reward_zero_std"),
    _close("(dead|degenerate)_groups?_" + SHARE + "|零(方差|标准差)组?(比例|占比)", "frac_reward_zero_std"),
    _close(
        f"({SHARE}|percent)_(of_)?((zero|no)_(std|var|variance|spread)_groups?|groups?_(with_|of_)?(zero|no)_(rewards?_)?"
        "(std|var|variance|spread))|zero_(std|var|variance|spread)_(groups?_)?" + SHARE,
        "frac_reward_zero_std",
    ),
)

KL = (
    _close("kl(_div(ergence)?)?_(per_)?token|(per_)?token_kl", "kl"),
    _close(
        "kl(_div(ergence)?)?_((per_)?(seq|sequence|response|completion)|sum)|(seq|sequence|sum|objective)_kl",
        "objective/kl",
    ),
    _proxy(
        f"kl(_?div(ergence)?)?(_(to_|from_)?ref(erence)?)?{MEAN}|ref(erence)?_kl(_div(ergence)?)?{MEAN}|kl_?(散度|距离)",
        "kl",
        "Per token or per sequence is not said; inferred from its first values and its neighbours.",
    ),
    _proxy(f"(approx_?kl|kl_approx|old_?kl|kl_old|ppo_kl|policy_kl)(_div(ergence)?)?{MEAN}", "policy/approxkl_avg"),
    _close(
        "(kl_)?(coefficient|coeff?|beta|β)|(init_|adaptive_)?kl_(penalty_)?(coeff?|coefficient|beta|weight)|kl_?系数",
        "objective/kl_coef",
    ),
    _proxy("kl_loss|loss_kl|kl_?损失", "loss/kl_avg"),
    _proxy("log_ratio_abs_mean", "sampling/sampling_logp_difference/mean"),
    _proxy("(mismatch|sampler|sampling|train_(infer(ence)?|rollout)|rollout_train)_kl|kl_mismatch", "sampling/kl"),
)

UPDATE = (
    _close(
        f"(policy|actor|pg|surrogate|policy_gradient)_loss{MEAN}|loss_(policy|pg|actor)|(策略(梯度)?|actor)_?损失",
        "loss/policy_avg",
    ),
    _proxy(
        f"(value|critic|vf|v|value_function)_loss{MEAN}|loss_(value|critic|vf)|(价值(函数)?|值函数|评论家|critic)_?损失",
        "loss/value_avg",
        "The factor 0.5 and vf_coef are unknown.",
    ),
    _close(f"(total_|overall_)?loss(es)?(_total|_at_step|{MEAN})|总?损失(值)?", "loss"),
    _proxy(f"(policy_|token_|action_)?entropy{MEAN}|(策略)?熵值?", "entropy", "Entropy or surprisal is unknown."),
    _close("ent(ropy)?_(coeff?|coefficient|weight)|熵_?系数", "entropy_coef"),
    _close("(total_|global_|policy_|actor_)?grad(ient)?s?_?norm(_mean)?|梯度_?(范数|模长)", "grad_norm"),
    _close("(critic|value)_grad(ient)?_?norm", "critic/grad_norm"),
    _close("((policy|actor)_)?(lr|learning_?rate)|学习率", "lr"),
    _close("(critic|value)_(lr|learning_?rate)", "critic/lr"),
    _close(
        f"(pg_|policy_)?clip_?frac(tion)?{MEAN}|clip_(ratio|rate)|clipped_fraction|(裁剪|剪切)(率|比例)",
        "policy/clipfrac_avg",
    ),
    _close(f"(value|vf)_clip_?frac(tion)?{MEAN}", "val/clipfrac_avg"),
    _close(f"(importance_|policy_|probability_)?ratio{MEAN}|重要性采样?_?(比率?|权重)|概率比率?", "val/ratio"),
    _close("(importance_|policy_)?ratio_max|max_(importance_|policy_)?ratio", "val/ratio_max"),
    _close("(importance_|policy_)?ratio_min|min_(importance_|policy_)?ratio", "val/ratio_min"),
)

CRITIC = (
    _close("expl(ained)?_var(iance)?|ev|var_explained|可?解释方差", "explained_variance"),
    _close(f"adv(antages?)?{MEAN}|优势(值|均值)?", "advantages/mean"),
    _close("adv(antages?)?_std|优势标准差", "advantages/std"),
    _close("adv(antages?)?_abs(_mean)?|adv(antages?)?_mean_abs", "advantages/abs_mean"),
    _close(f"values?{MEAN}|value_(pred|prediction|estimate)s?|价值(估计|均值)", "value/mean"),
    _proxy(f"returns?{MEAN}|回报(均值)?", "returns/mean", "Episode return or critic target."),
)

COMPLETION = (
    _close(
        f"{WHAT}_?{LENGTH}({MEAN}|_tokens)|len(gth)?s?{MEAN}|(回复|响应|回答|生成|输出|补全)?_?长度",
        "completions/mean_length",
    ),
    _close(f"max_{WHAT}_?{LENGTH}|({WHAT}_?{LENGTH}|len(gth)?s?)_max", "completions/max_length"),
    _close(f"min_{WHAT}_?{LENGTH}|({WHAT}_?{LENGTH}|len(gth)?s?)_min", "completions/min_length"),
    _proxy(f"seq(uence)?_?{LENGTH}{MEAN}", "sequence/mean_length", "Whether the prompt counts is unknown."),
    _close(f"prompt_?{LENGTH}{MEAN}|提示_?长度", "prompt_length/mean"),
    _close(
        f"({WHAT}_)?(truncat(ed|ion)|overlong|(length_)?cap_hit|clipped)_?{SHARE}|{WHAT}_(length_)?clip_{SHARE}"
        f"|{SHARE}_truncated|截断(率|比例|占比)",
        "completions/clipped_ratio",
    ),
    _close(f"eos_{SHARE}|frac_eos", "completions/eos_ratio"),
    _close("ppl|perplexity|困惑度", "perplexity"),
)

HELD_OUT = (
    _close("(held_?out|holdout)_(rewards?|scores?)|保留(偏好)?集(上的)?奖励", "eval/reward"),
    _close("(?P<name>alignment|quality|toxicity)_scores?", "eval/{name}"),
    _close(
        "(?P<name>rouge_?(1|2|l|lsum|n)?|s?acre_?bleu|bleu(_?[1-4])?|meteor|chrf|bert_?score|exact_match)(_score)?",
        "eval/{name}",
    ),
    _close(
        "(?P<name>gsm8k|math_?500|aime_?(20)?2[0-9]|mmlu|human_?eval|mbpp|hellaswag|ifeval|gpqa)(_acc(uracy)?|_score)?",
        "eval/{name}",
    ),
    _close("(自动化)?对齐_?(分数|得分)", "eval/alignment"),
    _close("(?P<name>.+)_(test|val|valid|validation|eval|dev|held_?out)_(acc(uracy)?|scores?|rewards?)", "eval/{name}"),
)

COST = (
    _close("(t_|time_)?(rollout|gen(eration)?)(_time|_s|_seconds)?", "time/rollout"),
    _close("t_train|(update|train)_time", "time/train"),
    _close("(step_time|time_per_step|t_step)(_s)?", "step_time"),
    _close("elapsed(_s|_time)?|wall_?time", "time/total"),
    _close("(tokens|toks?)_per_s(ec(ond)?)?|tps", "throughput/tokens_per_s"),
)

GENERIC = Dialect(
    name="generic",
    title="hand-written or unknown log",
    spoken_by="names seen in about 60 public hand-written logs",
    step=("global_step", "step", "iteration", "iter", "update", "步骤", "步数"),
    axis="step",
    prefixes=(
        *(
            "train_",
            "training_",
            "metrics_",
            "stats_",
            "rl_",
            "rlhf_",
            "grpo_",
            "ppo_",
            "optim_",
            "objective_",
            "rollout_",
        ),
        *("avg_", "average_", "mean_", "平均_", "平均"),
    ),
    eval_prefixes=("eval_", "evaluation_", "val_", "valid_", "validation_", "test_", "评估", "评测", "验证", "测试"),
    snake=True,
    priority=1000,
    row=("step", "loss", "reward_mean", "reward_std", "kl", "clip_frac", "adv_std", "grad_norm", "lr"),
    names=(*AXES, *REWARD, *KL, *UPDATE, *CRITIC, *COMPLETION, *HELD_OUT, *COST),
    ignored=("entropy_loss",),
    note=(
        "Estimators and reductions are unknown, so no absolute limit can be trusted. entropy_loss is left aside, because "
        "its sign differs between frameworks."
    ),
    sources=("public run logs of about 60 repositories",),
)
