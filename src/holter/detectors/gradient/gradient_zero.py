"""The gradient norm is exactly zero: these steps taught nothing.

## Why it matters
A norm of exactly 0 is arithmetic, not bad luck. Either every group's rewards are tied, so that every advantage is 0,
or nothing that is trained is connected to the loss. Generation is paid for, nothing is learnt.

## When it fires
When more than `share` of the last 20 gradient norms are exactly 0, from the tenth value on. In a shorter log: when
all of them are. It is critical when all of the last `dead` values are, or all of a log of three values or more.

## What to do
- Look at frac_reward_zero_std, or at reward_std: 1, or 0, means tied groups. Then prompts, group size or the reward
  are to be changed, and not the optimiser.
- If rewards differ: check requires_grad, adapters, the optimiser's parameters, masks that cover every token.

## When it is wrong
A console that prints few decimals writes small norms as 0. A solved task ties its groups for the best of reasons.

## References
[huggingface/trl issues 3857](https://github.com/huggingface/trl/issues/3857) and
[5697](https://github.com/huggingface/trl/issues/5697), [modelscope/ms-swift issue
5571](https://github.com/modelscope/ms-swift/issues/5571).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.ceiling import one_from_the_start, solved_from_the_start
from holter.detectors.statistics.episodes import episodes
from holter.detectors.statistics.rolling import trailing_mean
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.structure import print_resolution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run

WHY = {
    "zero_std_groups": "share of tied groups in that row: {value}",
    "reward_spread": "spread of the rewards in that row: {value}",
}
"""What tells of tied groups, the surer concept first."""


@dataclass(frozen=True, kw_only=True)
class GradientZero(Detector):
    """HLT703."""

    name: ClassVar = "gradient-zero"
    code: ClassVar = "HLT703"
    since: ClassVar = "0.1"
    says: ClassVar = "there is no gradient"
    explains: ClassVar = ("no-learning", "policy-not-updating")
    needs: ClassVar = (Need(concepts=("grad_norm",), log="the gradient norm"),)
    uses: ClassVar = ("zero_std_groups", "reward_spread", "truncation")

    share: float = limit(0.3, unit="fraction", help="lets more steps have no gradient", low=0.0, high=1.0)
    dead: int = limit(10, unit="values", help="needs more zeros running to be critical", low=3)

    def check(self, run: Run) -> Iterator[Finding]:
        """Share of exact zeros among the newest values."""
        series = run.get("grad_norm")
        assert series is not None
        norm = series.finite()
        n = len(norm)
        if not n:
            return
        zero = norm.values == 0.0
        flags = trailing_mean(zero.astype(np.float64), 20, least=10) > self.share
        head = np.cumsum(zero) == np.arange(1, n + 1)
        flags[:9] = head[:9]
        rounded = print_resolution(run) > 0
        for episode in episodes(flags, quiet=20):
            i = episode.raised
            zeros = np.flatnonzero(zero[max(0, i - 19) : i + 1]) + max(0, i - 19)
            first = int(zeros[0])
            inside = zero[first : episode.last + 1]
            newest = zero[max(0, episode.last - self.dead + 1) : episode.last + 1]
            short = i < 9
            whole = bool(inside.all()) and len(inside) >= 3 and episode.last == n - 1
            active = episode.last == n - 1 if short else episode.active
            grave = active and not rounded and (whole if short else bool(newest.all()))
            healed = short and not active
            last = norm.at[[episode.last]]
            spent = bool(solved_from_the_start(run, last)[0])
            grave &= not one_from_the_start(run.get("reward"), last)[0]
            title = said(
                "{metric} is exactly 0 in {zeros} of {n} values"
                if not inside.all()
                else "{metric} is exactly 0 in {n} values running"
                if len(inside) > 1
                else "{metric} is exactly 0 in one value",
                metric=norm.metric,
                zeros=int(inside.sum()),
                n=len(inside),
            )
            if rounded:
                title = said("{title}, as far as the log's decimals show", title=title)
            if spent:
                title = said("{title}: the task was solved from the first row on", title=title)
            yield self.finding(
                Severity.INFO if healed or spent else Severity.CRITICAL if grave else Severity.WARNING,
                Confidence.MODERATE if rounded else Confidence.CERTAIN,
                title,
                run=run,
                first=int(norm.at[first]),
                last=int(norm.at[episode.last]),
                raised=int(norm.at[i]),
                active=active,
                evidence=[
                    quote(norm, zeros[:3], "a norm of 0 is no gradient at all"),
                    *self._why(run, int(norm.at[first])),
                ],
                advice=(
                    "Look at frac_reward_zero_std and reward_std: tied groups need other prompts, a larger group or another "
                    "reward.",
                    "If rewards differ: check requires_grad, adapters, the optimiser's parameters, and the loss mask.",
                ),
                alternatives=(
                    Alternative(says="every group is tied", check="frac_reward_zero_std, reward_std"),
                    Alternative(
                        says="nothing that is trained reaches the loss", check="requires_grad, masks, adapters"
                    ),
                ),
            )

    def _why(self, run: Run, row: int) -> Iterator[Evidence]:
        """What the same rows say about the cause."""
        for concept in WHY:
            series = run.get(concept)
            if series is None:
                continue
            i = int(np.searchsorted(series.at, row))
            if i < len(series) and series.at[i] == row:
                yield quote(series, [i], said(WHY[concept], value=number(float(series.values[i]))))
                return
