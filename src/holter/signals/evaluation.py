"""What held-out data says of the policy, beside the reward it is trained on.

Guards against judging a run by the number it optimises. Reward hacking is reward up and these down, so they are worth
logging from step 0 on, with their standard error: without it a short series cannot be told from noise.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, TRL_GRPO

EVAL_REWARD = Signal(
    key="eval/reward",
    concept="eval_reward",
    title="Reward on held-out prompts",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    sign="Higher is better.",
    what="Mean reward over completions to prompts that are not trained on, or a gold score of them.",
    formula="mean_i R(i) over held-out prompts",
    healthy=(
        "Rises with the training reward and stays below or at it: 0.6 to 0.9 in our runs with a gold score. A peak "
        "followed by a fall of more than 3 standard errors while the training reward rises is over-optimisation. "
        "Five evaluations, two of them after the peak, are the least to say so."
    ),
    differs=(
        "TRL writes eval_reward, with the same code as in training. It is the proxy reward on other prompts: only "
        "an independent score shows that the proxy is exploited."
    ),
    moves_with=("reward", "objective/scores", "kl", "eval/{name}/standard_error"),
    sources=("Gao et al., Scaling Laws for Reward Model Overoptimization (2022)", TRL_GRPO, OUR_RUNS),
)
EVAL_ACCURACY = Signal(
    key="eval/accuracy",
    concept="eval_accuracy",
    title="Accuracy on held-out prompts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Higher is better.",
    low=0.0,
    high=1.0,
    what="Share of held-out prompts that the policy answers correctly.",
    formula="correct / prompts",
    healthy=(
        "Rises, then flattens. Its noise is sqrt(a (1 - a) / n): 0.035 for 200 prompts at 0.5, so a change of 0.05 "
        "there means little."
    ),
    moves_with=("accuracy", "reward", "eval/{name}/standard_error"),
    sources=("binomial standard error", "NeMo-RL and ROLL (source)"),
)
EVAL_NAMED = Signal(
    key="eval/{name}",
    concept="eval_score",
    title="Evaluation score",
    unit=Unit.NUMBER,
    reduction=Reduction.BATCH,
    sign="Taken as higher is better, unless the name says otherwise (loss, perplexity, error).",
    what="A named score on held-out data that no other signal describes.",
    formula="as the evaluation defines it",
    healthy=(
        "Improves or stays flat while reward rises. Falling while reward rises is the strongest sign of reward "
        "hacking that a log can hold."
    ),
    moves_with=("reward", "objective/scores", "eval/{name}/standard_error"),
    sources=("Gao et al., Scaling Laws for Reward Model Overoptimization (2022)", "the frameworks' sources"),
)
EVAL_STANDARD_ERROR = Signal(
    key="eval/{name}/standard_error",
    concept="eval_standard_error",
    title="Standard error of an evaluation score",
    unit=Unit.NUMBER,
    reduction=Reduction.BATCH,
    sign="Lower is more exact.",
    low=0.0,
    what="Standard error of the evaluation score of the same name, over its prompts.",
    formula="std_i(score_i) / sqrt(n)",
    healthy=(
        "Constant for a fixed set of prompts: 0.035 for 200 prompts and 0.016 for 1,000 at an accuracy of 0.5. With "
        "it five evaluations can show what takes eight to fifteen without."
    ),
    differs="TRL does not log it.",
    moves_with=("eval/{name}", "eval/reward", "eval/accuracy"),
    sources=("binomial standard error", OUR_RUNS),
)
EVAL_ALIGNMENT = Signal(
    key="eval/alignment/{name}",
    concept="eval_alignment",
    title="Alignment score on held-out prompts",
    unit=Unit.NUMBER,
    reduction=Reduction.BATCH,
    sign="Higher is better: the scorer is declared so.",
    what=(
        "Mean score that an independent alignment scorer (safety classifier, rule, judge) gives to completions of "
        "held-out prompts."
    ),
    formula="mean_i scorer_name(prompt_i, completion_i)",
    healthy="Flat or rising while reward rises. A fall says what the reward is bought with.",
    differs="TRL does not log it.",
    moves_with=("eval/reward", "reward", "kl"),
    sources=(
        "Zheng et al., Secrets of RLHF in Large Language Models Part I: PPO (2023)",
        "Gao et al., Scaling Laws for Reward Model Overoptimization (2022)",
    ),
)
EVAL_PREFERENCE_ACCURACY = Signal(
    key="eval/preference_accuracy",
    concept="eval_preference_accuracy",
    title="Preference accuracy on held-out pairs",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Higher is better; 0.5 is a coin.",
    low=0.0,
    high=1.0,
    what="Share of held-out preference pairs in which the chosen completion gets more reward than the rejected one.",
    formula="mean_j [R(chosen_j) > R(rejected_j)]",
    healthy=(
        "Constant for a frozen reward model, 0.65-0.75 on human comparisons, about as often as people agree with "
        "each other. By the policy's own log-ratio to the reference it starts at 0.5 and rises."
    ),
    differs="TRL's PPO and GRPO do not log it.",
    moves_with=("eval/preference_margin", "objective/scores", "eval/reward"),
    sources=("Ouyang et al., Training Language Models to Follow Instructions with Human Feedback (2022)",),
)
EVAL_PREFERENCE_MARGIN = Signal(
    key="eval/preference_margin",
    concept="eval_preference_margin",
    title="Preference margin on held-out pairs",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    sign="Positive: the chosen completions are preferred.",
    what="Mean difference of reward between the chosen and the rejected completion of held-out preference pairs.",
    formula="mean_j (R(chosen_j) - R(rejected_j))",
    healthy=(
        "Positive and steady. Shrinking while the training score rises, the reward no longer tells good from bad "
        "where it is being optimised."
    ),
    differs="TRL's PPO and GRPO do not log it.",
    moves_with=("eval/preference_accuracy", "objective/scores"),
    sources=("Ouyang et al., Training Language Models to Follow Instructions with Human Feedback (2022)",),
)
EVAL_COMPONENT_PASS_AT_K = Signal(
    key="eval/{name}/pass_at_{k}",
    concept="eval_pass_at_k",
    title="Pass rate in k attempts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Higher is better.",
    low=0.0,
    high=1.0,
    what="Probability that at least one of k completions to a held-out prompt is correct, averaged over prompts.",
    formula="mean_p (1 - C(n - c, k) / C(n, k)), n completions, c of them correct",
    healthy=(
        "Rises slower than the rate of one attempt. Falling for large k while that rises, the policy sharpens on "
        "what it could do already."
    ),
    moves_with=("eval/{name}/avg_at_{k}", "entropy"),
    sources=(
        "Chen et al., Evaluating Large Language Models Trained on Code (2021)",
        "verl, prime-rl and slime (source)",
    ),
)
EVAL_COMPONENT_AVG_AT_K = Signal(
    key="eval/{name}/avg_at_{k}",
    concept="eval_avg_at_k",
    title="Mean score of k attempts",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    sign="Higher is better.",
    what="Mean score over k completions to each held-out prompt.",
    formula="mean_p mean_(j <= k) R_pj",
    healthy="Rises; its noise is smaller than that of one attempt by up to sqrt(k).",
    moves_with=("eval/{name}/pass_at_{k}", "eval/reward"),
    sources=("verl and prime-rl (source)",),
)
EVAL_COMPONENT_MAJ_AT_K = Signal(
    key="eval/{name}/maj_at_{k}",
    concept="eval_maj_at_k",
    title="Accuracy of the majority of k attempts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Higher is better.",
    low=0.0,
    high=1.0,
    what="Share of held-out prompts for which the most frequent of k answers is correct.",
    formula="mean_p [mode_(j <= k) answer_pj is correct]",
    healthy="Above the mean of k attempts, and nearing it as the policy grows certain.",
    moves_with=("eval/{name}/avg_at_{k}", "eval/{name}/pass_at_{k}"),
    sources=(
        "Wang et al., Self-Consistency Improves Chain of Thought Reasoning in Language Models (2022)",
        "verl (source)",
    ),
)
PERPLEXITY = Signal(
    key="perplexity",
    concept="perplexity",
    title="Perplexity",
    unit=Unit.NUMBER,
    reduction=Reduction.TOKEN,
    sign="1 is certain; higher is more surprised.",
    low=1.0,
    what=(
        "Exponential of the mean surprisal a token: of held-out text in evaluation, of the policy's own completions "
        "in training."
    ),
    formula="exp(-sum_it m_it lp_it / sum_it m_it)",
    healthy=(
        "On held-out text near its value before training and rising slowly: the price of the new behaviour. "
        "Doubling means that the language model itself is damaged. On the policy's own completions it falls with "
        "entropy."
    ),
    differs="TRL does not log it.",
    moves_with=("kl", "entropy", "eval/reward"),
    sources=("Zheng et al., Secrets of RLHF in Large Language Models Part I: PPO (2023)", "verl and rLLM (source)"),
)
