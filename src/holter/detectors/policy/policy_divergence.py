"""Several signs of the policy break in the same stretch of rows: the run diverges.

## Why it matters
One metric that jumps has many explanations. KL, update size, gradient, reward and text that break together have one:
the policy leaves the region in which the update rule holds. What comes after seldom recovers, and the first of them
to move points to the cause.

## When it fires
When `signs` of these families break within `near` rows, the reward or the text or the critic being one of them, and
KL or the update another, while the reward does not rise: KL (beyond its trend and above 0.2 nats/token or 10
nats/sequence), the update (clip fraction above 0.2, approximate KL above 0.3, ratio off 1 by 0.2), the gradient norm
(`factor` times its past), the reward (falls from its best), the text (entropy leaves its level, truncation rises by
0.3), the value loss (`factor` times its past). In the first 25 rows, where no past exists, each is compared with the
median of the first half of what is there, and has to exceed it far more.

## What to do
- Stop; go back to the last checkpoint before the first flagged step.
- Lower the learning rate 3 to 10 times, clip the gradient at 0.1 to 1.0, fewer epochs per batch.
- Raise the KL coefficient 2 to 5 times.
- If learning rate, data or the reward changed at that step, undo that first.

## When it is wrong
A switch of the data or of the reward moves reward, length and entropy together; KL and update size stay then.

## References
Zheng et al., ["Secrets of RLHF in Large Language Models, Part I"](https://arxiv.org/abs/2307.04964) (2023): rewards
and losses look healthy while the policy collapses; KL, length and perplexity tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, quote
from holter.detectors.policy.divergence_signs import Sign, signs
from holter.detectors.statistics.corroboration import reward_rises
from holter.detectors.statistics.episodes import episodes, persist
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import listed, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run

MOVES = ("kl", "update")
HARM = ("reward", "text", "critic")


@dataclass(frozen=True, kw_only=True)
class PolicyDivergence(Detector):
    """HLT505."""

    name: ClassVar = "policy-divergence"
    code: ClassVar = "HLT505"
    since: ClassVar = "0.1"
    says: ClassVar = "the policy comes apart"
    explains: ClassVar = (
        "kl-runaway",
        "kl-above-budget",
        "reward-collapse",
        "reward-decline",
        "entropy-collapse",
        "entropy-explosion",
        "truncation",
        "length-explosion",
        "length-collapse",
        "gradient-spikes",
        "gradient-growth",
        "policy-update-too-large",
        "clip-fraction-high",
        "ratio-off-one",
        "value-loss-diverges",
        "policy-loss-diverges",
        "eos-falling",
        "zero-reward",
        "no-learning",
        "eval-declines",
        "zero-variance-groups",
        "kl-bought-nothing",
        "kl-spike",
        "no-eos",
    )
    needs: ClassVar = (
        Need(concepts=("ref_kl", "policy_kl", "clip_fraction", "ratio"), points=3, log="KL or the size of the updates"),
    )
    uses: ClassVar = ("reward", "entropy", "truncation", "grad_norm", "value_loss")

    signs: int = limit(3, unit="families", help="needs more of them to agree", low=2, high=6)
    near: int = limit(20, unit="rows", help="lets them be further apart", low=1)
    factor: float = limit(3.0, unit="x", help="needs larger changes of gradient norm and value loss", low=1.5)

    def check(self, run: Run) -> Iterator[Finding]:
        """Counts the families that broke within the last rows."""
        found = signs(run, self.factor)
        shown: dict[str, NDArray[np.bool_]] = {}
        for s in found:
            shown[s.family] = shown.get(s.family, np.zeros(len(run), bool)) | s.rows(len(run))
        recent = {family: persist(rows, 1, self.near) for family, rows in shown.items()}
        if not any(f in recent for f in MOVES) or not any(f in recent for f in HARM):
            return
        total = np.sum([r.astype(np.int64) for r in recent.values()], axis=0)
        moved = np.any([recent[f] for f in MOVES if f in recent], axis=0)
        harmed = np.any([recent[f] for f in HARM if f in recent], axis=0)
        for episode in episodes((total >= self.signs) & moved & harmed, quiet=self.near):
            since = episode.raised - self.near + 1
            lately = [s for s in found if s.rows(len(run))[max(0, since) : episode.raised + 1].any()]
            lately.sort(key=lambda s: s.began(since))
            mine = list({s.family: s for s in reversed(lately)}.values())[::-1]
            head = mine[0]
            first = head.began(since)
            against = reward_rises(run, max(first - 1, 0), episode.last)
            yield self.finding(
                Severity.WARNING if against is not None else Severity.CRITICAL,
                Confidence.MODERATE if against is not None else Confidence.STRONG,
                said(
                    "{first} breaks first, then {others}: the policy diverges",
                    first=head.series.metric,
                    others=listed(s.series.metric for s in mine[1:]),
                ),
                run=run,
                first=first,
                last=episode.last,
                raised=episode.raised,
                active=len(run) - 1 - episode.last < self.near,
                evidence=[self._quote(s, since) for s in mine],
                advice=(
                    "Stop, and go back to the last checkpoint at or before {before}.",
                    "Lower the learning rate 3 to 10 times, clip the gradient at 0.1 to 1.0, fewer epochs per batch.",
                    "Raise the KL coefficient 2 to 5 times.",
                    "If the learning rate, the data or the reward changed at this step, undo that first.",
                ),
                alternatives=(
                    Alternative(
                        says="the data or the reward was switched",
                        check="whether KL and update size stay where they were",
                    ),
                ),
                against=[said("{metric} {says}", metric=against.metric, says=against.says)]
                if against is not None
                else (),
            )

    def _quote(self, sign: Sign, since: int) -> Evidence:
        """Values from before it began to where the sign is plain."""
        began = int(np.searchsorted(sign.series.at, sign.began(since)))
        plain = int(np.searchsorted(sign.series.at, sign.first(since)))
        return quote(sign.series, sorted({max(0, began - 3), max(0, began - 1), began, plain}), sign.says)
