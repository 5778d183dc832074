"""A reward function gives the same value to everything, from the first row on.

## Why it matters
A component that never varies teaches nothing, though it may shift the total so that the run looks alive. Zero usually means a
pattern that never matches; a value in between is often what a parser falls back to when it fails; the highest value may mean
that an unreadable reference answer counts as right.

## When it fires
The mean of a component is exactly the same on every row, for `rows` rows, or for `sure` rows when its logged spread is zero
as well, or when evaluation rows agree. It is a warning when the component carries the task (accuracy, correctness, answer), or
when the value lies between 0 and the largest that a component has, as fallback values do. It is information for a format or a
penalty that stays at 0 while the rest is learnt, and when the component came alive later.

## What to do
- Call the function on a right and on a wrong answer written by hand.
- Print some completions and what the function extracts from them.
- Look at truncation: a format whose end is cut off never matches.

## When it is wrong
A guard that is meant to be silent, such as a penalty for something the policy never does.

## References
[open-r1 issues 235](https://github.com/huggingface/open-r1/issues/235) and
[256](https://github.com/huggingface/open-r1/issues/256) (format that never matches).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.reward.task_reward import TASK
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series


@dataclass(frozen=True, kw_only=True)
class DeadComponent(Detector):
    """HLT310."""

    name: ClassVar = "dead-component"
    code: ClassVar = "HLT310"
    since: ClassVar = "0.1"
    says: ClassVar = "one part of the reward never answers"
    explains: ClassVar = ("no-learning",)
    needs: ClassVar = (Need(concepts=("reward_component",), points=3, log="the mean of every reward function"),)
    uses: ClassVar = ("reward_component_spread", "reward")

    rows: int = limit(20, unit="rows", help="waits longer", low=3)
    sure: int = limit(5, unit="rows", help="waits longer where the spread is zero too", low=2)

    def check(self, run: Run) -> Iterator[Finding]:
        """Every component by itself."""
        parts = [s.finite() for s in run.all("reward_component")]
        parts = [s for s in parts if len(s)]
        for part in parts:
            changed = np.flatnonzero(part.values != part.values[0])
            same = int(changed[0]) if len(changed) else len(part)
            level = float(part.values[0])
            last = int(part.at[same - 1])
            alone = len(parts) == 1
            silent = self._no_spread(run, part, last)
            needed = self.sure if silent else self.rows
            seen = self._evaluated(run, part, last, level)
            if seen is not None and not silent:
                needed = 3
            if same < needed or alone:
                continue
            raised = int(part.at[needed - 1])
            others = [s for s in parts if s is not part and len(np.unique(s.values[s.at <= raised])) > 1]
            if not others:
                continue
            active = same == len(part)
            between = level != 0.0 and any(abs(float(s.values[0])) > abs(level) for s in others)
            suspicious = between or bool(TASK.search(part.metric))
            yield self.finding(
                Severity.WARNING if active and suspicious else Severity.INFO,
                Confidence.CERTAIN if silent else Confidence.STRONG if same >= self.rows else Confidence.PATTERN,
                said(
                    "{metric} is exactly {level} on every row"
                    if active
                    else "{metric} was exactly {level} on the first {n} rows",
                    metric=part.metric,
                    level=number(level),
                    n=same,
                ),
                run=run,
                first=int(part.at[0]),
                last=last,
                raised=raised,
                active=active,
                evidence=[
                    quote(part, sorted({0, same - 1}), said("the same value on {n} rows", n=same)),
                    *([quote(silent, [0], "its spread is zero on every row")] if silent else []),
                    *([quote(seen, [0], "the same value in evaluation")] if seen is not None else []),
                ],
                advice=(
                    "Call the reward function on a right and on a wrong answer written by hand.",
                    "Print some completions and what the function extracts from them.",
                    "Look at truncation: a format whose end is cut off never matches.",
                ),
                alternatives=(
                    Alternative(
                        says="a penalty for something the policy never does",
                        check="read what the function is meant to do",
                    ),
                ),
            )

    def _no_spread(self, run: Run, part: Series, last: int) -> Series | None:
        for spread in run.all("reward_component_spread"):
            if spread.labels == part.labels:
                upto = spread.where(spread.at <= last).finite()
                if len(upto) and not upto.values.any():
                    return upto
        return None

    def _evaluated(self, run: Run, part: Series, last: int, level: float) -> Series | None:
        for same in run.all("reward_component", Split.EVAL):
            if same.labels == part.labels:
                upto = same.where(same.at <= last).finite()
                if len(upto) and (upto.values == level).all():
                    return upto
        return None
