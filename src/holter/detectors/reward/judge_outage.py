"""A reward that varied from row to row becomes one exact number, from one row to the next.

## Why it matters
A judge that times out, a verifier that crashes or a server that restarted answers with a fallback value. The policy then trains
on the KL penalty and on noise; PPO drifts back to the reference, GRPO stands still.

## When it fires
A reward, or one of its components, is exactly the same number on `rows` rows, after it had changed at nearly every row before,
and that number lies more than `z` standard deviations of its noise away from the level before; or, wherever it lies, on more rows
than chance could repeat it, from how often values repeated before. A number at the top of the reward's range is left to
`reward-saturated`: a policy can reach the ceiling, and then every answer is worth the same.

## What to do
- Call the reward function by hand with a completion from before the outage.
- Look for timeouts, fallback values and swallowed exceptions in its log.
- Resume from the last checkpoint before the onset; what came after was trained on nothing.

## When it is wrong
A policy that was destroyed by one update and now gives one answer only: then completions, KL and entropy moved at the same row.

## References
TRL leaves out rewards that are None or NaN, so a failing function shows as a constant or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.constancy import goes_constant
from holter.detectors.statistics.corroboration import corroboration
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.component_weights import held_out_components

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.detectors.statistics.constancy import Stretch
    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

ADVICE = (
    "Call the reward function by hand with a completion from before {onset}.",
    "Look for timeouts, fallback values and swallowed exceptions in its log.",
    "Resume from the last checkpoint at or before {before}.",
)


@dataclass(frozen=True, kw_only=True)
class JudgeOutage(Detector):
    """HLT303."""

    name: ClassVar = "judge-outage"
    code: ClassVar = "HLT303"
    since: ClassVar = "0.1"
    says: ClassVar = "the reward function returns one constant number"
    explains: ClassVar = (
        "reward-collapse",
        "zero-variance-groups",
        "gradient-zero",
        "zero-reward",
        "reward-frozen",
        "no-learning",
        "reward-scale-shift",
        "dead-component",
    )
    needs: ClassVar = (
        Need(concepts=("reward", "reward_component"), points=12, log="the mean of every reward function"),
    )

    rows: int = limit(4, unit="rows", help="waits longer", low=3)
    z: float = limit(4.0, unit="standard deviations", help="needs a larger jump", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """The reward first, then its components; one finding for all that stop at the same row."""
        total = run.get("reward")
        unpaid = {s.metric for s in held_out_components(run)}
        parts = [s for s in run.all("reward_component") if s.metric not in unpaid]
        found: list[tuple[int, Series, Stretch]] = []
        for series in [*([total] if total is not None else []), *parts]:
            x = series.finite()
            for stretch in goes_constant(x.values, self.rows):
                raised = self._raised(x.values, stretch)
                if raised is not None:
                    found.append((int(x.at[stretch.first]), x, replace(stretch, raised=raised)))
        found.sort(key=lambda item: (item[0], item[1].concept != "reward"))
        until = -1
        for first, x, stretch in found:
            if first <= until:
                continue
            last = int(x.at[stretch.last])
            active = stretch.last == len(x) - 1
            until = len(run) if active else last + self.rows
            whole = x.concept == "reward"
            raised = int(x.at[stretch.raised])
            yield self.finding(
                Severity.INFO if not active else Severity.CRITICAL if whole else Severity.WARNING,
                Confidence.CERTAIN if whole else Confidence.STRONG,
                said(
                    "{metric} is exactly {value} on every row since, it varied before"
                    if active
                    else "{metric} is exactly {value} on every row for a while, it varied before and after",
                    metric=x.metric,
                    value=number(float(x.values[stretch.first])),
                ),
                run=run,
                first=first,
                last=last,
                raised=raised,
                onset=(int(x.at[stretch.first - 1]), first),
                active=active,
                evidence=[
                    quote(
                        x,
                        range(max(0, stretch.first - 3), stretch.raised + 1),
                        said(
                            "{jump} standard deviations of its noise away from the level before",
                            jump=number(abs(stretch.jump)),
                        ),
                    ),
                    *(
                        quote(s, [t.first, t.raised], "constant as well")
                        for at, s, t in found
                        if at == first and s is not x
                    ),
                ],
                advice=ADVICE,
                alternatives=[
                    Alternative(
                        says="one update destroyed the policy, and every completion is the same",
                        check="read completions from the onset; KL, entropy or length moved there too"
                        if corroboration(run, first - 1, raised)
                        else "read completions from the onset; nothing else moved there, which speaks against it",
                    )
                ],
            )

    def _raised(self, x: NDArray[np.float64], stretch: Stretch) -> int | None:
        """Where an outage can be said; None where the constant may be an honest reward.

        A constant far from the level before needs `rows` rows, one within its noise as many as chance would need. At the top of
        the range the task may be solved, and nothing at all is what a hard task pays.
        """
        past, now = x[: stretch.first], float(x[stretch.first])
        if bool((past >= 0).all()) and (now == 1.0 or (now == 0.0 and abs(stretch.jump) <= self.z)):
            return None
        if 0 <= now - float(past.max()) < 0.1 * float(np.ptp(past)):
            return None
        return stretch.raised if abs(stretch.jump) > self.z else stretch.proven
