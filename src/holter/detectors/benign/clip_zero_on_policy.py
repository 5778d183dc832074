"""No token is ever clipped: with one update per batch that is structure, not a fault.

## Why it matters
A clip fraction of exactly 0 looks like a metric that is broken or a policy that does not move. With one optimizer step
per batch of completions the ratio of new to old probabilities is exactly 1 when the loss is computed, and nothing can
be clipped.

## When it fires
The clip fraction is 0 on all of at least `rows` rows, in a GRPO log, while the policy moves: the gradient norm is above
0, and the KL to the reference, where it is logged, does not stay at 0.

## What to do
- Nothing. For off-policy updates (`num_iterations` above 1, several mini-batches) a clip fraction above 0 is expected.

## When it is wrong
Where completions come from an older policy (asynchronous training) a clip fraction of 0 means that the trust region
does not act.

## References
[huggingface/trl issue 3120](https://github.com/huggingface/trl/issues/3120).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, quote
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.hyperparameters import hyperparameter
from holter.runs.structure import algorithm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class ClipZeroOnPolicy(Detector):
    """HLT952."""

    name: ClassVar = "clip-zero-on-policy"
    code: ClassVar = "HLT952"
    since: ClassVar = "0.1"
    says: ClassVar = "nothing is clipped because each batch is used once"
    needs: ClassVar = (
        Need(concepts=("clip_fraction",), log="the clip fraction"),
        Need(concepts=("grad_norm",), log="the gradient norm"),
    )
    uses: ClassVar = ("ref_kl",)

    rows: int = limit(5, unit="rows", help="needs more rows", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """Clip fraction 0, gradient not."""
        series, gradient, kl = run.get("clip_fraction"), run.get("grad_norm"), run.get("ref_kl")
        assert series is not None
        assert gradient is not None
        clip, norm = series.finite(), gradient.finite()
        if algorithm(run) != "grpo" or len(clip) < self.rows or clip.values.any() or not len(norm):
            return
        if (hyperparameter(run, "updates_per_batch") or 1) > 1:
            return
        still = kl is not None and len(kl) > 1 and not np.nan_to_num(kl.values).any()
        if still or not (norm.values > 0).mean() > 0.5:
            return
        moving = [int(np.flatnonzero(norm.values > 0)[-1])]
        yield self.finding(
            Severity.INFO,
            Confidence.STRONG,
            said(
                "{metric} is 0 throughout: each batch is used for one update, so the ratio is 1 and nothing can be clipped",
                metric=clip.metric,
            ),
            run=run,
            first=int(clip.at[0]),
            last=int(clip.at[-1]),
            evidence=[
                quote(clip, sorted({0, len(clip) - 1}), "exactly 0"),
                quote(norm, moving, "the policy is being updated all the same"),
            ],
            alternatives=(
                Alternative(
                    says="completions of an older policy", check="are rollouts asynchronous? Then clipping is off"
                ),
            ),
        )
