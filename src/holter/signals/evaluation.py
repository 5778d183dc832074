"""Signals of evaluation."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

EVAL_REWARD = Signal(
    key="eval/reward",
    concept="eval_reward",
    title="Reward on held-out prompts",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    what="Mean reward on held-out prompts.",
    healthy="",
)
EVAL_ACCURACY = Signal(
    key="eval/accuracy",
    concept="eval_accuracy",
    title="Accuracy on held-out prompts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Share correct on held-out prompts.",
    healthy="",
)
EVAL_NAMED = Signal(
    key="eval/{name}",
    concept="eval_score",
    title="Evaluation score",
    unit=Unit.NUMBER,
    reduction=Reduction.BATCH,
    what="Named evaluation score.",
    healthy="",
)
EVAL_COMPONENT_PASS_AT_K = Signal(
    key="eval/{name}/pass_at_{k}",
    concept="eval_pass_at_k",
    title="Pass rate in k attempts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Pass@k.",
    healthy="",
)
EVAL_COMPONENT_AVG_AT_K = Signal(
    key="eval/{name}/avg_at_{k}",
    concept="eval_avg_at_k",
    title="Mean score of k attempts",
    unit=Unit.REWARD,
    reduction=Reduction.BATCH,
    what="Mean over k samples.",
    healthy="",
)
EVAL_COMPONENT_MAJ_AT_K = Signal(
    key="eval/{name}/maj_at_{k}",
    concept="eval_maj_at_k",
    title="Accuracy of the majority of k attempts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    low=0.0,
    high=1.0,
    what="Majority vote over k samples.",
    healthy="",
)
PERPLEXITY = Signal(
    key="perplexity",
    concept="perplexity",
    title="Perplexity",
    unit=Unit.NUMBER,
    reduction=Reduction.TOKEN,
    low=1.0,
    what="Exp(mean -log p) on the responses.",
    healthy="",
)
