"""What else an update says of itself: how much of it was done, how far it went, what values cost."""

from __future__ import annotations

from holter.signals.base import Estimator, Reduction, Signal, Unit

_OURS = ("holter.trainers",)

POLICY_KL_K3_AVG = Signal(
    key="policy/kl_k3_avg",
    concept="policy_kl",
    title="KL of one update, unbiased",
    unit=Unit.NATS_PER_TOKEN,
    reduction=Reduction.TOKEN,
    estimator=Estimator.K3,
    sign="0 means that the update did not move the policy. Never negative.",
    low=0.0,
    rank=2,
    what=(
        "KL of the updated from the sampling policy by the estimator k3, averaged over the tokens of all passes of an "
        "update. What target_kl is compared with, mini-batch by mini-batch."
    ),
    formula="sum_it m_it (r_it - 1 - log r_it) / sum_it m_it, with r = exp(lp - lp_old)",
    healthy="Within some per cent of policy/approxkl_avg while ratios are near 1; above it when single tokens gain much.",
    differs="TRL logs the estimator k2 only, under policy/approxkl_avg.",
    moves_with=("policy/approxkl_avg", "policy/kl_k1_avg", "val/ratio_max"),
    sources=("Schulman, Approximating KL Divergence (2020)", *_OURS),
)
POLICY_UPDATE_FRACTION = Signal(
    key="policy/update_fraction",
    concept="update_fraction",
    title="Fraction of an update that was done",
    unit=Unit.FRACTION,
    sign="1 means that no update was cut short.",
    low=0.0,
    high=1.0,
    what="Optimizer steps of an update out of those planned; fewer where target_kl ended it.",
    formula="mini-batches applied / (num_ppo_epochs * num_mini_batches)",
    healthy="Exactly 1 without target_kl. With it, lastingly at one step an update the learning rate is too high.",
    differs="TRL has no early stop since 0.12.",
    moves_with=("policy/approxkl_avg", "lr", "policy/clipfrac_avg"),
    sources=_OURS,
)
TIME_VALUE = Signal(
    key="time/value",
    concept="time_value",
    title="Time of the value function",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    sign="Lower is faster.",
    low=0.0,
    what="Wall time spent on the values of sampled completions, before the update.",
    formula="sum over the step, in seconds of wall time",
    healthy="About that of the reference policy, where the value model is of its size.",
    differs="TRL has no such metric.",
    moves_with=("time/reference", "time/forward", "step_time"),
    sources=_OURS,
)
