"""How the completions of one prompt compare, which is all that GRPO learns from.

Guards against judging a batch by its overall spread: a group whose rewards are all equal has advantage 0 for each member
and gives no gradient, whether it is solved or hopeless.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, PUBLIC_LOGS, TRL_GRPO

FRAC_REWARD_ZERO_STD = Signal(
    key="frac_reward_zero_std",
    concept="zero_std_groups",
    title="Fraction of groups without reward spread",
    unit=Unit.FRACTION,
    reduction=Reduction.GROUP,
    sign="Lower is better; 1 means no learning signal at all.",
    low=0.0,
    high=1.0,
    what="Share of prompt groups whose completions all have the same reward, so that they give no gradient.",
    formula="mean_g [std_(i in g) R_i < 1e-8]",
    healthy=(
        "0 in our runs with graded rewards (single rows 0.25); 0.1-0.6 with rewards of 0 and 1, and 0.7-0.9 as the "
        "task is solved (healthy public runs: median 0.34 at the start, 0.77 at the end). Each useful completion "
        "costs 1 / (1 - f). Above 0.75 with a reward that is neither rising nor at its ceiling is a fault; 1 from "
        "the first row on means prompts too hard or too easy, or a broken reward."
    ),
    differs=(
        "Logged from TRL 0.18 on and missing from the documented list. With scale_rewards='batch' the test is made "
        "on the global std, so that the value is 0 or 1 only. A group with fewer than two valid rewards has a NaN "
        "std and counts as not zero. In evaluation with one completion a prompt it is always 1. RLOO computes it on "
        "rewards with the KL penalty, where it is practically 0."
    ),
    moves_with=("reward_std", "grad_norm", "reward", "completions/clipped_ratio"),
    sources=(TRL_GRPO, "Yu et al., DAPO (2025)", OUR_RUNS, PUBLIC_LOGS),
)
GROUPS_ALL_SOLVED = Signal(
    key="groups/all_solved",
    concept="groups_solved",
    title="Fraction of groups all solved",
    unit=Unit.FRACTION,
    reduction=Reduction.GROUP,
    sign="Neither good nor bad: progress, and no gradient.",
    low=0.0,
    high=1.0,
    what="Share of prompt groups in which every completion is correct.",
    formula="mean_g [all correct in g]",
    healthy="Rises as the task is learnt. Above one half most of the sampling is wasted; harder prompts are due.",
    moves_with=("groups/none_solved", "groups/mixed", "frac_reward_zero_std"),
    sources=("prime-rl, rLLM, ROLL and Tinker Cookbook (source)", "Yu et al., DAPO (2025)"),
)
GROUPS_NONE_SOLVED = Signal(
    key="groups/none_solved",
    concept="groups_failed",
    title="Fraction of groups none solved",
    unit=Unit.FRACTION,
    reduction=Reduction.GROUP,
    sign="Lower is better.",
    low=0.0,
    high=1.0,
    what="Share of prompt groups in which no completion is correct.",
    formula="mean_g [none correct in g]",
    healthy=(
        "Falls as the task is learnt. 1 from the first row on means prompts too hard, answers cut at the length "
        "limit, or a verifier that rejects everything."
    ),
    moves_with=("groups/all_solved", "groups/mixed", "completions/clipped_ratio"),
    sources=("prime-rl, rLLM, ROLL and Tinker Cookbook (source)", "Yu et al., DAPO (2025)"),
)
GROUPS_MIXED = Signal(
    key="groups/mixed",
    concept="groups_mixed",
    title="Fraction of groups partly solved",
    unit=Unit.FRACTION,
    reduction=Reduction.GROUP,
    sign="Higher is better for learning.",
    low=0.0,
    high=1.0,
    what="Share of prompt groups with right and wrong completions, the ones that carry a gradient.",
    formula="1 - groups/all_solved - groups/none_solved",
    healthy=(
        "Greatest in mid-run, when prompts are neither hopeless nor solved: with success rate p and G completions "
        "it is 1 - p^G - (1 - p)^G. Far below that, completions of one group are copies of each other."
    ),
    moves_with=("groups/all_solved", "groups/none_solved", "grad_norm"),
    sources=("prime-rl, rLLM, ROLL and Tinker Cookbook (source)", "Yu et al., DAPO (2025)"),
)
GROUPS_ALL_SOLVED_COUNT = Signal(
    key="groups/all_solved_count",
    concept="groups_solved_count",
    title="Number of groups all solved",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    sign="A count: divide by the number of groups before comparing runs.",
    low=0.0,
    what="Number of prompt groups of this step in which every completion is correct.",
    formula="sum_g [all correct in g]",
    healthy="Rises as the task is learnt; at the number of prompts there is nothing left to learn.",
    moves_with=("groups/all_solved", "batch/num_samples"),
    sources=("rLLM and ART (source)",),
)
GROUPS_NONE_SOLVED_COUNT = Signal(
    key="groups/none_solved_count",
    concept="groups_failed_count",
    title="Number of groups none solved",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    sign="A count: divide by the number of groups before comparing runs.",
    low=0.0,
    what="Number of prompt groups of this step in which no completion is correct.",
    formula="sum_g [none correct in g]",
    healthy=(
        "Falls as the task is learnt. All groups of the batch from the first row on (128 of 128 in one report) is a "
        "verifier or parsing fault."
    ),
    moves_with=("groups/none_solved", "batch/num_samples"),
    sources=("rLLM (source)",),
)
GROUPS_MIXED_COUNT = Signal(
    key="groups/mixed_count",
    concept="groups_mixed_count",
    title="Number of groups partly solved",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    sign="A count: divide by the number of groups before comparing runs.",
    low=0.0,
    what="Number of prompt groups of this step in which some completions are correct and some wrong.",
    formula="sum_g [some correct, some not in g]",
    healthy="Well above 0; 0 for several rows means that nothing is trained on.",
    moves_with=("groups/mixed", "batch/num_samples"),
    sources=("rLLM and ART (source)",),
)
GROUPS_ZERO_STD_COUNT = Signal(
    key="groups/zero_std_count",
    concept="zero_std_groups_count",
    title="Number of groups without reward spread",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    sign="A count: divide by the number of groups before comparing runs.",
    low=0.0,
    what="Number of prompt groups of this step whose completions all have the same reward.",
    formula="sum_g [std_(i in g) R_i = 0]",
    healthy="As `frac_reward_zero_std` times the number of groups.",
    differs="slime logs one count for each reward value that such groups share.",
    moves_with=("frac_reward_zero_std", "filter/dropped"),
    sources=("slime and RAGEN (source)",),
)
