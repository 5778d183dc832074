"""The first KL to the reference is not zero: the policy did not start from the reference.

## Why it matters
Before the first update the policy is the reference, and every estimate of their KL is zero up to rounding. A larger
value in the row of step 1 means that something makes the two differ: dropout, another checkpoint or adapter,
quantisation, another chat template. Every later KL then carries this offset, and the penalty pulls towards the wrong
model.

## When it fires
Only on the row of step 0 or 1. Warning above `warn_token` nats a token or `warn_sequence` nats a sequence, which is
more than an optimiser's first step moves; critical above `grave` times that. Info between `info_token` or
`info_sequence` (above what bf16 rounding makes) and the warning: where a framework averages over several updates per
row, the first updates are in it. PPO measures its KL before the row's updates; where the log also states how far sampler
and trainer lie apart on a token, that is the rounding, and `noise` times as much over a whole completion is a warning.
Where no token of the first row is clipped, the row's one update came after its KL, and `exact_token` is a warning. A KL
below zero is never critical: it says that its estimate is wrong, which is `kl-negative`'s. Where neither the framework nor
the name says whether the KL is a mean per token or a sum over the completion, one that has grown threefold within four rows
is held against `warn_sequence`: an offset stays, the beginning of a sum does not.

## What to do
- Check that policy and reference load the same checkpoint, the same adapter and the same precision.
- Switch dropout off in the policy.
- Compare the log-probabilities of both models on one batch before the first update; they must be equal.

## When it is wrong
On-policy distillation measures the KL to a teacher, which is large on purpose: an info where the configuration or a
metric speaks of distillation or a teacher, a false alarm where nothing does. A resumed run starts where it was left.

## References
[huggingface/trl issue 3500](https://github.com/huggingface/trl/issues/3500) (dropout, KL above 1000 at step 1),
[modelscope/ms-swift issue 6910](https://github.com/modelscope/ms-swift/issues/6910) (another reference).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.hyperparameters import flatten
from holter.runs.kl_unit import is_open
from holter.runs.structure import begins_at_first_step, print_resolution
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding, Unchecked
    from holter.runs.run import Run, Series

BEFORE_UPDATES = frozenset({"objective/kl"})
"""KLs measured on fresh completions: no update of their row is in them."""
LEAST = 1e-3
"""Nats below which no difference between two models matters, however exactly they are computed."""
SOON, GROWN = 4, 3.0
"""Rows within which, and times the first value to which, a KL of unknown unit grows that began as the reference."""
DISTILLED = re.compile(r"distil|teacher|(?<![a-z])opd(?![a-z])", re.I)
"""What settings, run names and metrics of a distillation say; OPD is on-policy distillation."""


@dataclass(frozen=True, kw_only=True)
class KLNonzeroAtStart(Detector):
    """HLT204."""

    name: ClassVar = "kl-nonzero-at-start"
    code: ClassVar = "HLT204"
    since: ClassVar = "0.1"
    says: ClassVar = "the policy does not start as the reference"
    explains: ClassVar = ("kl-above-budget", "ratio-off-one-at-first-step")
    needs: ClassVar = (Need(concepts=("ref_kl",), log="the KL to the reference (beta or kl_coef above 0)"),)
    uses: ClassVar = ("mismatch", "length", "clip_fraction")

    info_token: float = limit(1e-3, unit="nats/token", help="mentions larger values only", low=0.0)
    info_sequence: float = limit(0.05, unit="nats/sequence", help="mentions larger values only", low=0.0)
    warn_token: float = limit(0.02, unit="nats/token", help="warns of larger values only", low=0.0)
    warn_sequence: float = limit(2.0, unit="nats/sequence", help="warns of larger values only", low=0.0)
    exact_token: float = limit(
        2e-3, unit="nats/token", help="KL of the first row holds no update: warns of larger values only", low=0.0
    )
    noise: float = limit(100.0, unit="x", help="needs a larger multiple of the stated rounding", low=1.0)
    grave: float = limit(50.0, unit="x", help="needs a larger multiple of the warning to be critical", low=1.0)

    def check(self, run: Run) -> Iterator[Finding | Unchecked]:
        """The value in the row of step 0 or 1, where the log has that row."""
        series = run.get("ref_kl")
        assert series is not None
        if not begins_at_first_step(run):
            yield self.unchecked("The log does not begin at step 1; log the first step (logging_first_step).")
            return
        kl = series.finite()
        if not len(kl) or kl.steps[0] > 1:
            return
        per_sequence = kl.unit == Unit.NATS_PER_SEQUENCE
        info = self.info_sequence if per_sequence else self.info_token
        may_be_sum = is_open(run, kl) and _grows(kl)
        warn = self.warn_sequence if per_sequence or may_be_sum else self.warn_token
        if not per_sequence and _holds_no_update(run):
            warn = min(warn, self.exact_token)
        rounding = _rounding(run) if per_sequence and kl.key in BEFORE_UPDATES else None
        if rounding is not None:
            info = warn = min(warn, max(LEAST, self.noise * rounding))
        value = abs(float(kl.values[0]))
        if value <= info:
            return
        # A KL below zero says that its estimate is wrong, not how far the models lie apart.
        grave = float(kl.values[0]) > self.grave * (self.warn_sequence if per_sequence else self.warn_token)
        teacher = _teacher(run)
        severity = Severity.CRITICAL if grave else Severity.WARNING if value > warn else Severity.INFO
        yield self.finding(
            Severity.INFO if teacher else severity,
            Confidence.CERTAIN if grave and not teacher else Confidence.MODERATE,
            said(
                "{metric} is {value} {unit} in the first row, where policy and reference should be the same model, unless the "
                "reference is a teacher, as {teacher} suggests"
                if teacher
                else "{metric} is {value} in the first row: far for a mean per token, near for a sum over the completion"
                if may_be_sum and severity is Severity.INFO
                else "{metric} is {value} {unit} in the first row, where policy and reference should be the same model",
                metric=kl.metric,
                value=number(float(kl.values[0])),
                unit=kl.unit,
                teacher=teacher,
            ),
            run=run,
            first=int(kl.at[0]),
            last=int(kl.at[0]),
            evidence=[
                quote(
                    kl,
                    range(min(3, len(kl))),
                    said("limits: {info} to mention, {warn} to warn", info=number(info), warn=number(warn)),
                )
            ],
            advice=(
                "Check that policy and reference load the same checkpoint, adapter, precision and chat template.",
                "Switch dropout off.",
                "Compare both models' log-probabilities on one batch before the first update; they must be equal.",
            ),
            alternatives=(
                Alternative(
                    says="the row averages several updates", check="updates per logged row in the configuration"
                ),
                Alternative(says="the reference is a teacher (distillation)", check="what the KL is measured against"),
            ),
        )


def _grows(kl: Series) -> bool:
    """Whether the rows after the first lie far above it: then it was the small beginning of a sum, and no offset that stays."""
    return bool((kl.values[1 : 1 + SOON] > GROWN * abs(kl.values[0])).any())


def _holds_no_update(run: Run) -> bool:
    """Whether the first row's updates came after its KL: the ratio was 1, and exactly nothing was clipped."""
    clipped = run.get("clip_fraction")
    first = clipped is not None and len(clipped) > 0 and clipped.steps[0] <= 1 and clipped.values[0] == 0.0
    return first and print_resolution(run) == 0.0


def _rounding(run: Run) -> float | None:
    """How far two computations of a completion's log-probability lie apart, nats; None where the first row does not say it."""
    gap, length = run.get("mismatch"), run.get("length")
    if gap is None or length is None or gap.unit != Unit.NATS_PER_TOKEN or gap.steps[0] > 1 or length.steps[0] > 1:
        return None
    stated = float(gap.values[0]) * float(length.values[0])
    return stated if stated >= 0 else None


def _teacher(run: Run) -> str:
    """The setting or metric that speaks of a teacher; empty when none does, or the setting is switched off."""
    for path, value in flatten(run.config):
        off = value in (None, False, "", 0)
        if not off and (DISTILLED.search(path) or (isinstance(value, str) and DISTILLED.search(value))):
            return path
    return next((m for m in (*(s.metric for s in run.series.values()), *run.unknown) if DISTILLED.search(m)), "")
