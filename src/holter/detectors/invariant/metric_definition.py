"""A metric contradicts its own definition, or the other metrics of its row.

## Why it matters
Some numbers are bound to each other by arithmetic. Where they are not, one of them is not what its name says: it is
averaged over other samples, has the other sign, or is filled in only partly. That must be known before anything is
concluded from it.

## When it fires
On three rows in a row, beyond rounding (`tolerance`): the penalised reward is neither the sum nor the difference of
score and KL part; the reward is not the weighted sum of its components, the weights being known; the clipped share is
not low + high; the mean length is outside the shortest and the longest; the ratio sits at exactly 1/n with the variance
of a table that is filled to 1/n; the entropy is exactly that of a uniform or of a Gaussian policy.

## What to do
Each finding says what the numbers show and which code to look at. Where it is a known artefact, it says how to read the
metric.

## When it is wrong
Logs whose metrics were smoothed each with its own window. A KL part logged as a cost is an info only: both signs are in
use.

## References
TRL's PPO trainer logs rlhf_reward = scores + non_score_reward with a negative non_score_reward; its documentation
prints a minus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, limit, quote
from holter.detectors.invariant.identities import CHECKS
from holter.findings.finding import Confidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.detectors.invariant.identities import Broken
    from holter.findings.finding import Finding
    from holter.runs.run import Run

QUIET = 10
"""Values that keep to the definition after which a breach counts as over."""


@dataclass(frozen=True, kw_only=True)
class MetricDefinition(Detector):
    """HLT922."""

    name: ClassVar = "metric-definition"
    code: ClassVar = "HLT922"
    since: ClassVar = "0.1"
    says: ClassVar = "a metric is not what its name says"

    tolerance: float = limit(0.01, unit="fraction", help="tolerates larger differences", low=0.0, high=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Every identity in turn."""
        for identity in CHECKS:
            for broken in identity(run, self.tolerance):
                yield self._say(run, broken)

    def _say(self, run: Run, broken: Broken) -> Finding:
        series = broken.series
        evidence = [quote(series, sorted({broken.first, broken.raised, broken.last}), "where the definition is broken")]
        for other in broken.beside:
            i = np.searchsorted(other.at, series.at[broken.first])
            if i < len(other) and other.at[i] == series.at[broken.first]:
                evidence.append(quote(other, [int(i)], "beside it, in the first of these rows"))
        return self.finding(
            broken.severity,
            Confidence.CERTAIN,
            broken.title,
            run=run,
            first=int(series.at[broken.first]),
            last=int(series.at[broken.last]),
            raised=int(series.at[broken.raised]),
            active=len(series) - 1 - broken.last < QUIET,
            evidence=evidence,
            advice=broken.advice,
            alternatives=broken.alternatives,
        )
