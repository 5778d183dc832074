"""The KL coefficient keeps growing and KL does not come back.

## Why it matters
An adaptive controller raises the coefficient while KL is above its target. When the coefficient has grown several
times and KL is still above, the penalty no longer governs the policy: the update is too large, the reward too strong,
or the estimate of KL is not what the policy is penalised for.

## When it fires
When the KL coefficient is more than `growth` times its least value so far, and KL's median of ten values lies above
`over` times the target (as configured); without a known target, when KL is no lower than when the coefficient had
begun to climb. Both for ten values running.

## What to do
- Lower the learning rate or the number of epochs: the controller acts on the reward, not on the size of the update.
- Shorten the controller's horizon, or start from a larger coefficient.
- Check that KL is measured on the same samples as the penalty.

## When it is wrong
The controller of Ziegler et al. moves by at most 2 % an update at batch 512 and a horizon of 10000: 70 updates to
double are its normal pace, so look at where KL is heading.

## References
[Ziegler et al. (2019)](https://arxiv.org/abs/1909.08593), section 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.episodes import episodes, persist
from holter.detectors.statistics.rolling import running_min, trailing_median
from holter.findings.finding import Confidence, Severity
from holter.language import said
from holter.runs.hyperparameters import kl_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class KLControllerSaturated(Detector):
    """HLT207."""

    name: ClassVar = "kl-controller-saturated"
    code: ClassVar = "HLT207"
    since: ClassVar = "0.1"
    says: ClassVar = "the KL controller cannot hold the KL"
    explains: ClassVar = ("kl-above-budget",)
    needs: ClassVar = (
        Need(concepts=("kl_coef",), points=20, log="the KL coefficient"),
        Need(concepts=("ref_kl",), points=20, log="the KL to the reference"),
    )

    growth: float = limit(4.0, unit="x", help="lets the coefficient grow further", low=1.1)
    over: float = limit(1.5, unit="x", help="lets KL stay further above its target", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Rows that hold both, the coefficient against its least value and KL against target or past."""
        kl, coef = run.get("ref_kl"), run.get("kl_coef")
        assert kl is not None
        assert coef is not None
        kl, coef = kl.finite(), coef.finite()
        kl, coef = kl.where(np.isin(kl.at, coef.at)), coef.where(np.isin(coef.at, kl.at))
        if len(kl) < 20:
            return
        least = running_min(coef.values)
        paid = trailing_median(kl.values, 10, least=10)
        target = kl_target(run)
        with np.errstate(invalid="ignore"):
            climbed = (coef.values > self.growth * least) & (least > 0)
            if target is not None:
                high = paid > self.over * target
            else:
                newest_low = np.maximum.accumulate(np.where(coef.values <= least, np.arange(len(coef)), 0))
                high = (paid >= paid[np.maximum(newest_low, 9)]) & (paid > 0)
        for episode in episodes(persist(climbed & high, 10, 10)):
            i = episode.raised
            low = int(np.argmin(coef.values[: i + 1]))
            yield self.finding(
                Severity.WARNING if episode.active else Severity.INFO,
                Confidence.STRONG if target is not None else Confidence.MODERATE,
                said(
                    "{coefficient} grows {times} times and {kl} stays above its target {target}"
                    if target is not None
                    else "{coefficient} grows {times} times and {kl} stays above where it was before",
                    coefficient=coef.metric,
                    times=number(float(coef.values[i] / coef.values[low])),
                    kl=kl.metric,
                    target=None if target is None else number(target),
                ),
                run=run,
                first=int(coef.at[max(0, i - 9)]),
                last=int(coef.at[episode.last]),
                raised=int(coef.at[i]),
                active=episode.active,
                evidence=[
                    quote(coef, [low, i], "the coefficient at its least and at the alarm"),
                    quote(kl, [low, i], "in the same rows"),
                ],
                advice=(
                    "Lower the learning rate or the number of epochs.",
                    "Shorten the controller's horizon, or start from a larger coefficient.",
                ),
            )
