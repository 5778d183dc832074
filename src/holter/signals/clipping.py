"""Which share of the batch the clip range holds back.

Guards against taking a clip fraction of exactly 0 for a fault (it is so by construction with one update a batch) or for health
(it says nothing then), and against truncated completions, which TRL calls ``clipped`` too.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import CLIP_LOSSES, FULL_TABLE, OUR_RUNS, PUBLIC_LOGS, TRL_GRPO, TRL_PPO, WINDOW

CLIP_RATIO_REGION_MEAN = Signal(
    key="clip_ratio/region_mean",
    concept="clip_fraction",
    title="Clip fraction",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    sign="0 means that no token is held back.",
    low=0.0,
    high=1.0,
    what="Share of completion tokens whose gradient the clip range cuts on either side.",
    formula=(
        "sum_it m_it [(r < 1 - eps_low and A < 0) or (r > 1 + eps_high and A > 0)] / sum_it m_it = low_mean + high_mean"
    ),
    healthy=(
        "Exactly 0 with one update a batch, where the ratio is 1 by construction. With more it is 0.001-0.03: up to "
        "0.03 with two iterations in our runs, median 0 and at most 0.06 in healthy public TRL runs. The often "
        "quoted 0.05-0.3 is a figure of classic control. Above 0.3 for several rows the update wants to go further "
        "than the range lets it."
    ),
    differs=(
        "Documentation and code agree on the condition. Tokens whose ratio is out of range on the other side of the "
        "advantage are not counted. "
        f"{CLIP_LOSSES}"
    ),
    moves_with=("clip_ratio/low_mean", "clip_ratio/high_mean", "lr", "grad_norm", "kl"),
    sources=(TRL_GRPO, "Schulman et al., Proximal Policy Optimization Algorithms (2017)", OUR_RUNS, PUBLIC_LOGS),
)
POLICY_CLIPFRAC_AVG = Signal(
    key="policy/clipfrac_avg",
    concept="clip_fraction",
    title="Clip fraction of the PPO update",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    sign="0 means that no token is held back.",
    low=0.0,
    high=1.0,
    rank=1,
    what=(
        "Share of completion tokens whose clipped surrogate is the larger loss, so that their gradient is 0, "
        "averaged over the update."
    ),
    formula="masked mean of [-A clip(r, 1 - eps, 1 + eps) > -A r]",
    healthy=(
        "0.001-0.02 is typical of language models: 0-0.09 over the rows of our PPO runs, 0.013-0.09 in public TRL "
        "PPO runs, at most 0.004 with verl. Below 0.05 is normal here, unlike in classic control. Above 0.3 for "
        "several rows is an unstable update."
    ),
    differs=(
        "TRL's documentation and code agree. CleanRL, Stable-Baselines3 and ROLL count every ratio out of range "
        "whatever the advantage, which gives higher numbers. "
        f"{FULL_TABLE}"
    ),
    moves_with=("policy/approxkl_avg", "val/ratio", "lr", "objective/kl"),
    sources=(
        TRL_PPO,
        "Schulman et al., Proximal Policy Optimization Algorithms (2017)",
        "Huang et al., The N+ Implementation Details of RLHF with PPO (2024)",
        OUR_RUNS,
        PUBLIC_LOGS,
    ),
)
VAL_CLIPFRAC_AVG = Signal(
    key="val/clipfrac_avg",
    concept="value_clip_fraction",
    title="Clip fraction of the value function",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    sign="0 means that no value estimate is held back.",
    low=0.0,
    high=1.0,
    what=(
        "Share of completion tokens whose clipped value loss is the larger one, so that the value may not move "
        "further in this update."
    ),
    formula="masked mean of [(clip(v, v_old - c, v_old + c) - ret)^2 > (v - ret)^2]",
    healthy=(
        "Mostly 0 in our PPO runs (median 0.001), 0.03 in a tenth of the rows and 0.19 at most, when scores rise "
        "fast. Above 0.2 for many rows the returns are large against the clip range: 0.22-0.25 with rewards of "
        "1,000, 0.54 after a value model was re-initialised."
    ),
    differs=(
        "Documentation and code agree. The range is absolute (cliprange_value, 0.2 by default), so it means "
        "something else at every reward scale. ROLL without value clipping writes the squared error under its name "
        "for this, which may exceed 1. "
        f"{FULL_TABLE}"
    ),
    moves_with=("loss/value_avg", "returns/mean", "value/mean"),
    sources=(TRL_PPO, OUR_RUNS, "ROLL (source)"),
)
CLIP_RATIO = Signal(
    key="clip_ratio",
    concept="clip_fraction",
    title="Clip fraction of the Liger loss",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    sign="0 means that no token is held back.",
    low=0.0,
    high=1.0,
    rank=2,
    what="Share of completion tokens with a clipped ratio, as the fused Liger loss counts them.",
    formula="sum_it m_it [clip active on token it] / sum_it m_it",
    healthy="As `clip_ratio/region_mean`: 0 with one update a batch, 0.001-0.03 with more.",
    differs=(
        "TRL 0.16 logs it as its only clip metric; up to 1.13 it appears with use_liger_loss only; the Liger path "
        "and the key are gone from 1.14 on, while the documentation still lists it."
    ),
    moves_with=("clip_ratio/region_mean", "kl", "lr"),
    sources=(TRL_GRPO,),
)
CLIP_RATIO_LOW_MEAN = Signal(
    key="clip_ratio/low_mean",
    concept="clip_fraction_low",
    title="Clip fraction at the lower bound",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    sign="0 means that no token is held back on this side.",
    low=0.0,
    high=1.0,
    what="Share of completion tokens that the update pushes down and whose ratio is already below the range.",
    formula="sum_it m_it [r < 1 - eps_low and A < 0] / sum_it m_it",
    healthy=(
        "Exactly 0 with one update a batch; up to 0.006 with two iterations in our runs. Far above the upper side "
        "it means that wrong completions are pushed away harder than right ones are pulled in."
    ),
    differs=f"Documentation and code agree on the condition. {CLIP_LOSSES}",
    moves_with=("clip_ratio/region_mean", "clip_ratio/high_mean", "entropy"),
    sources=(TRL_GRPO, OUR_RUNS),
)
CLIP_RATIO_LOW_MIN = Signal(
    key="clip_ratio/low_min",
    concept="clip_fraction_low_min",
    title="Least clip fraction at the lower bound",
    unit=Unit.FRACTION,
    reduction=Reduction.MIN,
    sign="0 means that at least one sequence is not clipped at this bound.",
    low=0.0,
    high=1.0,
    what="The smallest share of tokens clipped at the lower bound that any sequence of the batch has.",
    formula="min_i sum_t m_it [r_it < 1 - eps_low and A_i < 0] / sum_t m_it",
    healthy="0 nearly always: one sequence with a positive advantage is enough.",
    differs=(
        "The documentation says minimum over processes. That was so up to 1.8, where on one GPU it equals low_mean; "
        "from 1.9 it is the minimum over sequences. "
        f"{WINDOW}"
    ),
    moves_with=("clip_ratio/low_mean",),
    sources=(TRL_GRPO,),
)
CLIP_RATIO_HIGH_MEAN = Signal(
    key="clip_ratio/high_mean",
    concept="clip_fraction_high",
    title="Clip fraction at the upper bound",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    sign="0 means that no token is held back on this side.",
    low=0.0,
    high=1.0,
    what="Share of completion tokens that the update pushes up and whose ratio is already above the range.",
    formula="sum_it m_it [r > 1 + eps_high and A > 0] / sum_it m_it",
    healthy=(
        "Exactly 0 with one update a batch; up to 0.014 with two iterations in our runs. Rare tokens meet this "
        "bound first, so a tight range lets entropy fall; a wider upper range (0.28) counters it."
    ),
    differs=(
        "Documentation and code agree on the condition. With `delta` set the ratio is capped before the test, so a "
        "delta below 1 + eps_high makes it 0 for ever. "
        f"{CLIP_LOSSES}"
    ),
    moves_with=("clip_ratio/region_mean", "clip_ratio/low_mean", "entropy"),
    sources=(TRL_GRPO, "Yu et al., DAPO (2025)", OUR_RUNS),
)
CLIP_RATIO_HIGH_MAX = Signal(
    key="clip_ratio/high_max",
    concept="clip_fraction_high_max",
    title="Greatest clip fraction at the upper bound",
    unit=Unit.FRACTION,
    reduction=Reduction.MAX,
    sign="0 means that no sequence is clipped at this bound.",
    low=0.0,
    high=1.0,
    what="The largest share of tokens clipped at the upper bound that any sequence of the batch has.",
    formula="max_i sum_t m_it [r_it > 1 + eps_high and A_i > 0] / sum_t m_it",
    healthy=(
        "0 with one update a batch; otherwise several times high_mean, because one odd sequence decides it: up to "
        "0.10 in our runs, where the mean stays below 0.014. No fault while the mean stays low."
    ),
    differs=(
        "The documentation says maximum over processes. That was so up to 1.8, where on one GPU it equals "
        "high_mean; from 1.9 it is the maximum over sequences. "
        f"{WINDOW}"
    ),
    moves_with=("clip_ratio/high_mean",),
    sources=(TRL_GRPO,),
)
CISPO_CLIP_RATIO = Signal(
    key="cispo_clip_ratio",
    concept="clip_fraction_cispo",
    title="Fraction of capped importance weights",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    sign="0 means that no weight is capped.",
    low=0.0,
    high=1.0,
    what=(
        "Share of completion tokens whose importance weight the CISPO loss caps. Their gradient is scaled down, not "
        "cut."
    ),
    formula="sum_it m_it [r > eps_high and A > 0] / sum_it m_it",
    healthy=(
        "0 with one update a batch, where every weight is 1 and eps_high lies well above it. With more updates a "
        "small share; no measured band is known."
    ),
    differs=(
        "From TRL 0.26 on, with loss_type='cispo' only; the documented list of metrics does not have it. The bound "
        "is eps_high itself, not 1 + eps_high."
    ),
    moves_with=("clip_ratio/high_mean", "kl"),
    sources=(TRL_GRPO, "MiniMax, MiniMax-M1 (2025)"),
)
POLICY_DUAL_CLIPFRAC = Signal(
    key="policy/dual_clipfrac",
    concept="clip_fraction_dual",
    title="Dual-clip fraction",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    sign="0 means that no token is so far off.",
    low=0.0,
    high=1.0,
    what=(
        "Share of completion tokens with a negative advantage whose loss reached the second bound of dual clipping, "
        "which limits very large ratios."
    ),
    formula="masked mean of [A < 0 and r > c], c > 1 (verl: clip_ratio_c = 3)",
    healthy="0 or close to it. A lasting share means that completions are stale or come from another policy.",
    moves_with=("policy/clipfrac_avg", "val/ratio_max", "staleness/mean"),
    sources=(
        "Ye et al., Mastering Complex Control in MOBA Games with Deep Reinforcement Learning (2020)",
        "verl, EasyR1 and AReaL (source)",
    ),
)
POLICY_MASKED_FRAC = Signal(
    key="policy/masked_frac",
    concept="masked_fraction",
    title="Fraction of tokens masked by the trust region",
    unit=Unit.FRACTION,
    reduction=Reduction.TOKEN,
    sign="0 means that no token is taken out.",
    low=0.0,
    high=1.0,
    what=(
        "Share of completion tokens that are taken out of the loss because their ratio left the trust region, where "
        "a framework masks instead of clipping."
    ),
    formula="sum_it m_it [r_it outside the region] / sum_it m_it",
    healthy=(
        "Plays the part of a clip fraction: small, and rising with staleness; no measured band is known. Near 1 "
        "nothing is trained on."
    ),
    moves_with=("staleness/mean", "sampling/kl", "policy/clipfrac_avg"),
    sources=("prime-rl and slime (source)",),
)
