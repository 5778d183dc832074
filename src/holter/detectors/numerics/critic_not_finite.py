"""The critic's metrics turn NaN or infinite while the policy's stay finite.

## Why it matters
The policy still looks healthy, but its advantages come from a broken value network: with the next updates they are
NaN, or meaningless. It is a fault of the critic, its targets or its learning rate, and not a collapse of the policy.

## When it fires
On the first row in which value loss, value predictions, value targets' error or the critic's gradient norm is not
finite and no metric of the policy breaks in that row (then not-finite says it). It is critical when the values stay
that way for `values` values, when two of the critic's metrics agree, or when they never were finite.

## What to do
- Look at the returns and rewards of that step: an infinite target makes an infinite loss.
- Lower the critic's learning rate, clip its gradient, normalise the returns.
- Check that the critic loads its own head: a head of random weights in fp16 overflows.

## When it is wrong
A critic that is not used (GRPO) and whose columns are filled with NaN; then no value of them is ever finite.

## References
[volcengine/verl issues 498](https://github.com/verl-project/verl/issues/498) and
[870](https://github.com/verl-project/verl/issues/870).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, quote
from holter.detectors.numerics.bad_values import CRITIC, LOSS, Bad, bad_series, flags, names, value_count, word
from holter.detectors.statistics.episodes import episodes
from holter.findings.finding import Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run

ACTOR = (*LOSS, "grad_norm", "entropy", "policy_kl", "ratio")
ORDER = ("value_loss", "critic_grad_norm", "value_mean")


@dataclass(frozen=True, kw_only=True)
class CriticNotFinite(Detector):
    """HLT104."""

    name: ClassVar = "critic-not-finite"
    code: ClassVar = "HLT104"
    since: ClassVar = "0.1"
    says: ClassVar = "the critic's numbers stop being finite"
    explains: ClassVar = ("critic-useless", "value-loss-diverges")
    needs: ClassVar = (
        Need(concepts=("value_loss", "critic_grad_norm", "value_mean", "value_error"), log="the value loss"),
    )
    uses: ClassVar = ACTOR

    values: int = limit(3, unit="values", help="lets the critic be not finite for longer before it is critical", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """Rows in which the critic breaks and the policy does not."""
        bads = sorted(bad_series(run, lambda c: c in CRITIC), key=lambda b: b.rank_in(ORDER))
        actor = bad_series(run, lambda c: c in ACTOR)
        leading = [b for b in bads if b.lead]
        if leading and not any(b.lead for b in actor):
            yield self._said(run, leading, [np.arange(b.lead) for b in leading])
        ill = flags(actor, len(run))
        for episode in episodes(flags(bads, len(run))):
            if ill[episode.raised]:
                continue
            mine = [b for b in bads if len(b.rows(episode.raised, episode.last))]
            yield self._said(run, mine, [b.rows(episode.raised, episode.last) for b in mine])

    def _said(self, run: Run, mine: list[Bad], where: list[np.ndarray[tuple[int], np.dtype[np.int64]]]) -> Finding:
        first = min(int(b.series.at[i[0]]) for b, i in zip(mine, where, strict=True))
        last = max(int(b.series.at[i[-1]]) for b, i in zip(mine, where, strict=True))
        healed = all(b.heals(last) for b in mine)
        most = max(map(len, where))
        critical = not healed and (most >= self.values or len(mine) > 1)
        value = word(np.concatenate([b.series.values[i] for b, i in zip(mine, where, strict=True)]))
        return self.finding(
            Severity.CRITICAL if critical else Severity.WARNING,
            Confidence.CERTAIN,
            said(
                "{metrics} are {value} while the policy's metrics are finite: {values}"
                if len(mine) > 1
                else "{metrics} is {value} while the policy's metrics are finite: {values}",
                metrics=names(mine),
                value=value,
                values=said("{values}, then finite again", values=value_count(most)) if healed else value_count(most),
            ),
            run=run,
            first=first,
            last=last,
            active=not healed,
            evidence=[
                quote(
                    b.series,
                    [max(0, int(i[0]) - 1), *i[:2]] if i[0] else i[:3],
                    "is not finite",
                )
                for b, i in zip(mine[:4], where, strict=False)
            ],
            advice=(
                "Look at returns and rewards of this step: an infinite target makes an infinite value loss.",
                "Lower the critic's learning rate, clip its gradient, normalise the returns.",
                "Check that the value head was loaded, and compute it in fp32.",
            ),
        )
