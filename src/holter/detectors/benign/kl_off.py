"""There is no KL in this log because its coefficient is 0.

## Why it matters
With beta = 0 (TRL's default since 0.19) no reference model is loaded and no KL is computed. A missing KL is not a fault
of the log then, and the run has no leash: reward and length can go anywhere, and only a held-out score tells.

## When it fires
The configuration says that the KL coefficient is 0, or a TRL GRPO log has no KL at all; or the logged KL is 0 on every
one of at least `rows` rows and the configuration says 0.

## What to do
- Fine for verifiable rewards. With a learned reward model prefer a small KL penalty, and in any case log a held-out score.

## When it is wrong
A log of which the KL column was dropped when it was exported.

## References
TRL's GRPOConfig: `beta`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, quote
from holter.findings.finding import Alternative, Confidence, Severity
from holter.runs.hyperparameters import hyperparameter
from holter.runs.structure import beta_is_zero

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class KLOff(Detector):
    """HLT957."""

    name: ClassVar = "kl-off"
    code: ClassVar = "HLT957"
    since: ClassVar = "0.1"
    says: ClassVar = "there is no KL penalty"
    needs: ClassVar = (Need(concepts=("reward", "total_loss"), log="a reward or a loss"),)
    uses: ClassVar = ("ref_kl", "kl_loss", "kl_penalty")

    rows: int = limit(3, unit="rows", help="needs more rows of a KL that is exactly 0", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """No KL, and a reason for it."""
        if not beta_is_zero(run):
            return
        kl = next((s for c in ("ref_kl", "kl_loss", "kl_penalty") if (s := run.get(c)) is not None), None)
        if kl is not None and (len(kl) < self.rows or bool(np.nan_to_num(kl.values, nan=1.0).any())):
            return
        series = kl or run.get("reward") or run.get("total_loss")
        assert series is not None
        stated = hyperparameter(run, "kl_coefficient") == 0
        yield self.finding(
            Severity.INFO,
            Confidence.CERTAIN if stated else Confidence.MODERATE,
            "no KL to the reference: the configuration sets its coefficient to 0"
            if stated
            else "no KL to the reference: its coefficient is 0, TRL's default",
            run=run,
            first=0,
            last=len(run) - 1,
            evidence=[
                quote(series, sorted({0, len(series) - 1}), "what the log has instead" if kl is None else "exactly 0")
            ],
            advice=("With a learned reward model prefer a small KL penalty; in any case log a held-out score.",),
            alternatives=(
                Alternative(says="the KL column was dropped in an export", check="look at the trainer's own log"),
            ),
        )
