"""How far one update moves the policy away from the policy that sampled the batch.

Guards against reading these as drift since the start (that is ``kl``), and against a mean ratio of 1 taken for a small update:
the mean hides the spread.
"""

from __future__ import annotations

from holter.signals.base import Estimator, Reduction, Signal, Unit
from holter.signals.sources import FULL_TABLE, OUR_RUNS, PUBLIC_LOGS, TRL_PPO

POLICY_APPROXKL_AVG = Signal(
    key="policy/approxkl_avg",
    concept="policy_kl",
    title="KL of one update",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.PADDED,
    estimator=Estimator.K2,
    sign="0 means that the update did not move the policy. k2 is never negative.",
    low=0.0,
    what=(
        "Approximate KL between the sampling policy and the policy during the update, averaged over epochs, "
        "mini-batches and tokens."
    ),
    formula="mean over the B x T rectangle of 0.5 * (lp - lp_old)^2",
    healthy=(
        "Median 0.0015 nats/token in our PPO runs, rising 10- to 100-fold to 0.01-0.12 in mid-run and falling back; "
        "single rows reach 0.74, because one token with a large log-ratio carries the square. Public PPO runs: "
        "0.015-0.165. Around 0.02 is the usual comfort zone; runs that are off-policy by design sit at 0.5 and are "
        "sound."
    ),
    differs=(
        "Holter's trainers log this estimator in PPO and GRPO, averaged over tokens, and beside it k1 and k3 as "
        "policy/kl_k1_avg and policy/kl_k3_avg. "
        "TRL's documentation calls it the KL between consecutive policies. Its code averages over the padded "
        "rectangle, where padding counts as 0, so it is too small by the share of padding; and over all epochs, the "
        "first of which is about 0. "
        f"{FULL_TABLE}"
    ),
    moves_with=("policy/clipfrac_avg", "val/ratio", "lr", "grad_norm", "objective/kl"),
    sources=(
        TRL_PPO,
        "Schulman, Approximating KL Divergence (2020)",
        "Huang et al., The N+ Implementation Details of RLHF with PPO (2024)",
        OUR_RUNS,
        PUBLIC_LOGS,
    ),
)
POLICY_KL_K1_AVG = Signal(
    key="policy/kl_k1_avg",
    concept="policy_kl",
    title="Signed KL of one update",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K1,
    sign="May be slightly negative by sampling noise. AReaL and ROLL log new minus old; their dialects turn the sign.",
    rank=1,
    what=(
        "The same divergence by the signed estimator: mean log-probability under the sampling policy minus that "
        "under the updated policy."
    ),
    formula="sum_it m_it (lp_old_it - lp_it) / sum_it m_it",
    healthy=(
        "Within 1e-4 of 0 nats/token in verl runs with one update a batch (last tenth of healthy public runs: 0 to "
        "2e-4, single rows 0.01). Exactly 0.000 in old logs is a rounded print."
    ),
    moves_with=("policy/approxkl_avg", "policy/clipfrac_avg", "val/ratio"),
    sources=("verl, OpenRLHF and slime (source)", "Schulman, Approximating KL Divergence (2020)", PUBLIC_LOGS),
)
VAL_RATIO = Signal(
    key="val/ratio",
    concept="ratio",
    title="Importance ratio",
    unit=Unit.NUMBER,
    reduction=Reduction.PADDED,
    sign=(
        "1 means no change on average. It stays near 1 even when single tokens move far: read the clip fraction "
        "beside it."
    ),
    low=0.0,
    what="Mean probability ratio of the updated to the sampling policy on the sampled tokens.",
    formula="mean over the B x T rectangle of exp(lp - lp_old)",
    healthy=(
        "Within 1 % of 1: 0.962-1.09 over all rows of our PPO runs, 0.94-1.08 in public ones. Exactly 1 in every "
        "row means one update a batch, or a learning rate of 0. Exactly 0.5 or 0.25 is a table that is not full, no "
        "violent update."
    ),
    differs=(
        "TRL's documentation reads 2.0, 1000.0 or 0.1 as too drastic an update, which holds only for a full table. "
        "Its code averages over padding (exactly 1 there), so the number is pulled towards 1. "
        f"{FULL_TABLE}"
    ),
    moves_with=("val/ratio_var", "policy/clipfrac_avg", "policy/approxkl_avg"),
    sources=(
        TRL_PPO,
        "Schulman et al., Proximal Policy Optimization Algorithms (2017)",
        "Huang et al., The N+ Implementation Details of RLHF with PPO (2024)",
        OUR_RUNS,
        PUBLIC_LOGS,
    ),
)
VAL_RATIO_VAR = Signal(
    key="val/ratio_var",
    concept="ratio_variance",
    title="Variance of the importance ratio",
    unit=Unit.NUMBER,
    sign="0 means that all micro-batches have the same mean ratio.",
    low=0.0,
    what="Variance of the importance ratio; in TRL the variance of micro-batch means, not of tokens.",
    formula="var over the (epoch, mini-batch, micro-batch) table of mean(exp(lp - lp_old)), n - 1 in the denominator",
    healthy=(
        "1e-9 to 0.036 in our PPO runs, median about 1e-5. NaN in every row when the table has one entry: one "
        "epoch, one mini-batch, no accumulation. That is no fault."
    ),
    differs=(
        "TRL's documentation calls it the variance of val/ratio; its code takes it over a handful of means, so it "
        "says nothing about single tokens. open-instruct takes it over samples. With a table that is not full it "
        "measures the zeros."
    ),
    moves_with=("val/ratio", "policy/clipfrac_avg"),
    sources=(TRL_PPO, OUR_RUNS),
)
VAL_RATIO_MIN = Signal(
    key="val/ratio_min",
    concept="ratio_min",
    title="Smallest importance ratio",
    unit=Unit.NUMBER,
    reduction=Reduction.MIN,
    sign="At most 1 unless every token gained. Near 0: a sampled token has become almost impossible.",
    low=0.0,
    what="Smallest probability ratio of updated to sampling policy over the tokens of the batch.",
    formula="min_it exp(lp_it - lp_old_it) over m_it = 1",
    healthy="0.74 in the reference reproduction of PPO for language models, 0.40 with settings called aggressive.",
    differs="NeMo-RL writes -1 when no ratio is finite.",
    moves_with=("val/ratio", "val/ratio_max", "policy/clipfrac_avg"),
    sources=("Huang et al., The N+ Implementation Details of RLHF with PPO (2024)", "NeMo-RL, AReaL and ROLL (source)"),
)
VAL_RATIO_MAX = Signal(
    key="val/ratio_max",
    concept="ratio_max",
    title="Largest importance ratio",
    unit=Unit.NUMBER,
    reduction=Reduction.MAX,
    sign="At least 1 unless every token lost.",
    low=0.0,
    what="Largest probability ratio of updated to sampling policy over the tokens of the batch.",
    formula="max_it exp(lp_it - lp_old_it) over m_it = 1",
    healthy=(
        "1.23 in the reference reproduction of PPO for language models, 1.81 with settings called aggressive. Above "
        "10 a batch should be looked at before it is trained on."
    ),
    differs="NeMo-RL writes -1 when no ratio is finite.",
    moves_with=("val/ratio", "val/ratio_min", "policy/clipfrac_avg"),
    sources=("Huang et al., The N+ Implementation Details of RLHF with PPO (2024)", "NeMo-RL, AReaL and ROLL (source)"),
)
