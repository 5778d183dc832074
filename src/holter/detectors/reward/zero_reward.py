"""Every completion gets a reward of exactly zero, from the first row on.

## Why it matters
With no reward there is no difference between completions and nothing to learn from. The usual cause is not a weak policy but
an answer that the verifier cannot parse, a format that the prompt never asked for, or completions cut off before the answer.

## When it fires
All values so far are exactly 0, on at least `rows` rows; on `sure` rows already when the log itself says that no completion was
rewarded (largest and smallest reward are 0, the spread is 0, or every group failed). When rewards appear later, the finding
is over and becomes information: a sparse reward may need a while.

## What to do
- Run the reward function on a right answer written by hand. If it is 0, the verifier or the prompt's format is at fault.
- Look at truncation: an answer that is cut off earns nothing.
- Begin with easier prompts, partial credit, or some supervised steps.

## When it is wrong
A reward that is centred on purpose, so that its mean is 0 but its spread is not: the spread then says so, and it stays silent.

## References
Reports of GRPO runs whose accuracy reward was 0 because the answer's format was never produced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, quote
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run

SPREADS = ("reward_max", "reward_min", "reward_spread", "groups_solved_count", "groups_solved")
"""Concepts that are 0 when no completion was rewarded."""


@dataclass(frozen=True, kw_only=True)
class ZeroReward(Detector):
    """HLT306."""

    name: ClassVar = "zero-reward"
    code: ClassVar = "HLT306"
    since: ClassVar = "0.1"
    says: ClassVar = "nothing earns a reward"
    explains: ClassVar = ("zero-variance-groups", "gradient-zero", "no-learning", "reward-frozen")
    needs: ClassVar = (Need(concepts=("reward",), log="the mean reward of every step"),)
    uses: ClassVar = (*SPREADS, "grad_norm")

    rows: int = limit(10, unit="rows", help="waits longer", low=2)
    sure: int = limit(3, unit="rows", help="waits longer where the log says that no completion was rewarded", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """The zeros before the first reward."""
        reward = run.get("reward")
        assert reward is not None
        reward = reward.finite()
        other = np.flatnonzero(reward.values != 0.0)
        zeros = int(other[0]) if len(other) else len(reward)
        last = int(reward.at[zeros - 1]) if zeros else 0
        proof = self._proof(run, last) if zeros else []
        extremes = {e.key for e in proof} >= {"reward/max", "reward/min"} or any("groups" in e.key for e in proof)
        needed = 1 if extremes else self.sure if proof else self.rows
        if zeros < needed or self._spread_elsewhere(run, last):
            return
        active = zeros == len(reward)
        yield self.finding(
            Severity.CRITICAL if active and proof else Severity.WARNING if active else Severity.INFO,
            Confidence.CERTAIN if proof else Confidence.STRONG,
            said(
                "{metric} was exactly 0 on the first {n} rows"
                if not active
                else "{metric} is exactly 0 on all {n} rows"
                if zeros > 1
                else "{metric} is exactly 0 on the only row",
                metric=reward.metric,
                n=zeros,
            ),
            run=run,
            first=int(reward.at[0]),
            last=last,
            raised=int(reward.at[needed - 1]),
            active=active,
            evidence=[quote(reward, sorted({0, zeros - 1}), "no completion earned anything"), *proof],
            advice=(
                "Run the reward function on a right answer written by hand.",
                "Look at truncation: an answer that is cut off earns nothing.",
                "Begin with easier prompts, partial credit, or some supervised steps.",
            ),
            alternatives=(
                Alternative(
                    says="the task is too hard for the policy as it is",
                    check="sample each prompt many times and count how often any completion is right",
                ),
            ),
        )

    def _proof(self, run: Run, last: int) -> list[Evidence]:
        out = []
        for concept in (*SPREADS, "grad_norm"):
            series = run.get(concept)
            if series is None:
                continue
            series = series.finite()
            upto = series.where(series.at <= last)
            if len(upto) and not upto.values.any():
                out.append(quote(upto, [len(upto) - 1], "is 0 as well"))
        return out

    def _spread_elsewhere(self, run: Run, last: int) -> bool:
        """Whether rewards differ although their mean is zero."""
        for concept in ("reward_spread", "reward_max"):
            series = run.get(concept)
            if series is not None:
                upto = series.where(series.at <= last).finite()
                if (upto.values > 1e-9).any():
                    return True
        return False
