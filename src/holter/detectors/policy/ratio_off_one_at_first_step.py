"""The very first update already sees a policy that is not the one that sampled.

## Why it matters
In the row of step 1 the policy that samples and the policy that is updated hold the same weights: the ratio is 1 and
the approximate KL is 0, but for the updates inside that row. A difference there is not learning; it is a mismatch of
implementation (precision, temperature, masks, another engine) that stays for the whole run.

## When it fires
Only on the row of step 0 or 1: the mean ratio differs from 1 by more than `ratio`, or the approximate KL between old
and new policy exceeds `kl` nats a token, either sign.

## What to do
- Compare the sampler's log-probabilities with the trainer's on the same tokens.
- Check temperature, top_p and top_k, the chat template, and that weights were synchronised before the first rollout.
- Recompute old log-probabilities in the trainer.

## When it is wrong
A first row that averages over many epochs at a learning rate that is far too high.

## References
[NovaSky-AI/SkyRL issue 1864](https://github.com/NovaSky-AI/SkyRL/issues/1864): ppo_kl -0.20 and kl_loss 0.63 at step
1. [huggingface/trl issue 454](https://github.com/huggingface/trl/issues/454): 1.000 to 1.035 is fine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import listed, said
from holter.runs.structure import begins_at_first_step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Evidence, Finding, Unchecked
    from holter.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class RatioOffOneAtFirstStep(Detector):
    """HLT502."""

    name: ClassVar = "ratio-off-one-at-first-step"
    code: ClassVar = "HLT502"
    since: ClassVar = "0.1"
    says: ClassVar = "sampler and trainer disagree before the first update"
    explains: ClassVar = ("clip-fraction-high", "policy-update-too-large")
    needs: ClassVar = (Need(concepts=("ratio", "policy_kl"), log="the mean ratio or the approximate KL of an update"),)
    uses: ClassVar = ("ratio_variance",)

    ratio: float = limit(0.1, unit="ratio", help="lets the first ratio differ more from 1", low=0.0)
    kl: float = limit(0.1, unit="nats/token", help="lets the first approximate KL be larger", low=0.0)

    def check(self, run: Run) -> Iterator[Finding | Unchecked]:
        """The first row, where the log has it."""
        if not begins_at_first_step(run):
            yield self.unchecked("The log does not begin at step 1; log the first step (logging_first_step).")
            return
        evidence = list(self._evidence(run))
        if not evidence:
            return
        yield self.finding(
            Severity.WARNING,
            Confidence.STRONG if len(evidence) > 1 else Confidence.MODERATE,
            said(
                "{facts}: the sampling policy is not the one that is updated",
                facts=listed((e.says for e in evidence), "; "),
            ),
            run=run,
            first=0,
            last=0,
            evidence=evidence,
            advice=(
                "Compare the sampler's log-probabilities with the trainer's on the same tokens.",
                "Check temperature, top_p, top_k, template, and that weights were synchronised before the first rollout.",
                "Recompute old log-probabilities in the trainer.",
            ),
            alternatives=(
                Alternative(
                    says="the row averages many updates at too high a learning rate",
                    check="epochs and mini-batches per row, and the same metric of the very first update",
                ),
            ),
        )

    def _evidence(self, run: Run) -> Iterator[Evidence]:
        for concept, centre, limit_ in (("ratio", 1.0, self.ratio), ("policy_kl", 0.0, self.kl)):
            series = run.get(concept)
            s = series.finite() if series is not None else None
            if s is None or not len(s) or s.at[0] != 0:
                continue
            value = float(s.values[0])
            if abs(value - centre) > limit_ and not (concept == "ratio" and self._quarter(value)):
                yield quote(s, [0], said("{metric} is {value} in the first row", metric=s.metric, value=number(value)))

    def _quarter(self, value: float) -> bool:
        """A table of statistics that stays partly zero, which is no statement about the policy."""
        return any(abs(value - share) < 0.02 * share for share in (0.25, 0.5, 0.75))
