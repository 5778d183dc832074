"""The policy refuses far more than it did.

## Why it matters
A preference model that punishes harm more than it rewards help is easiest to please by declining. The reward rises, and the
model is of no use.

## When it fires
In most of the last `rows` logged rows the share of refusals is above `level` and more than `rise` above the median of the
first five.

## What to do
- Read the refused prompts: how many of them ought to be refused?
- Add harmless prompts that look harmful to the training mix.

## When it is wrong
A prompt mix that turns harmful in mid-run.

## References
Rottger et al., "XSTest" (2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.episodes import episodes, persist
from holter.findings.finding import Confidence, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run

START = 5


@dataclass(frozen=True, kw_only=True)
class RefusalsRise(Detector):
    """ACME101."""

    name: ClassVar = "refusals-rise"
    code: ClassVar = "ACME101"
    since: ClassVar = "1.0"
    needs: ClassVar = (Need(concepts=("refusals",), points=START + 1, log="the share of refusals"),)
    says: ClassVar = "the policy learns to refuse"

    level: float = limit(0.3, unit="fraction", help="ignores runs that refuse less", low=0.0, high=1.0)
    rise: float = limit(0.2, unit="fraction", help="needs a larger rise", low=0.0, high=1.0)
    rows: int = limit(5, unit="logged points", help="needs a longer stay", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """Most of the newest rows against the first five."""
        series = run.get("refusals")
        assert series is not None
        share = series.finite()
        if len(share) <= START:
            return
        start = float(np.median(share.values[:START]))
        high = (share.values > self.level) & (share.values > start + self.rise)
        high[:START] = False
        for episode in episodes(persist(high, self.rows // 2 + 1, self.rows) & high):
            first = int(np.flatnonzero(high[max(0, episode.raised - self.rows + 1) : episode.raised + 1])[0])
            first += max(0, episode.raised - self.rows + 1)
            yield self.finding(
                Severity.WARNING,
                Confidence.MODERATE,
                f"{share.metric} rises from {number(start)} to {number(share.values[episode.raised])}",
                run=run,
                first=int(share.at[first]),
                last=int(share.at[episode.last]),
                raised=int(share.at[episode.raised]),
                active=episode.active,
                evidence=[quote(share, sorted({0, first, episode.raised}), "more refusals than at the start")],
                advice=("Read the refused prompts: how many of them ought to be refused?",),
            )
