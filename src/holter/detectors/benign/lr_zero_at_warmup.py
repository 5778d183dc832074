"""The learning rate is 0 on the first row: warm-up starts there.

## Why it matters
A first row with a learning rate of 0 looks as if nothing would be trained. Schedules with warm-up begin at 0 and rise.

## When it fires
The learning rate is 0 on the first `rows` rows at most and above 0 afterwards.

## What to do
- Nothing; the first update simply does not move the policy.

## When it is wrong
Never, once the rate has risen. A rate that stays 0 is a finding of its own.

## References
transformers' `get_scheduler`, schedules with warm-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, quote
from holter.findings.finding import Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class LrZeroAtWarmup(Detector):
    """HLT954."""

    name: ClassVar = "lr-zero-at-warmup"
    code: ClassVar = "HLT954"
    since: ClassVar = "0.1"
    says: ClassVar = "the learning rate starts at 0 because it warms up"
    needs: ClassVar = (Need(concepts=("lr",), points=2, log="the learning rate"),)

    rows: int = limit(2, unit="rows", help="excuses a longer stretch", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """0 first, above 0 then."""
        series = run.get("lr")
        assert series is not None
        rate = series.finite()
        above = np.flatnonzero(rate.values > 0)
        if not len(above) or not 0 < above[0] <= self.rows or rate.values[: above[0]].any():
            return
        rises = int(above[0])
        yield self.finding(
            Severity.INFO,
            Confidence.CERTAIN,
            said("{metric} is 0 at the start because it warms up", metric=rate.metric),
            run=run,
            first=int(rate.at[0]),
            last=int(rate.at[rises - 1]),
            raised=int(rate.at[rises]),
            active=False,
            evidence=[quote(rate, [0, rises], "0 first, above 0 then")],
        )
