"""The loss reads exactly 0.0 where the gradient or the KL is NaN: a NaN loss that the logger hid.

## Why it matters
Transformers replaces a NaN loss by 0.0 in its log (`logging_nan_inf_filter`, on by default). The log then looks like
a GRPO run at work, whose loss is 0 by construction, and the model is dead: its weights are NaN.

## When it fires
On rows in which a loss is exactly 0.0 while the gradient norm is NaN or infinite, or while the KL is not finite
although it was before. Rows that follow belong to the same episode as long as the loss stays exactly 0.0: the
gradient norm is often NaN once only. A loss of exactly 0.0 from which KL or gradient norm, logged in every row
before, go missing counts when it happens in two rows running. It is a warning, no more, when the loss moves again.

## What to do
- Go back to the last checkpoint before the first flagged step.
- Set `logging_nan_inf_filter=False`, so that the log says so next time.
- Look for what not-finite lists: batch, reference model, precision.

## When it is wrong
A loss that a console rounds to 0.0, in a row in which an fp16 loss scaler skipped the step: the next row is normal
then.

## References
Transformers, `TrainingArguments.logging_nan_inf_filter`. [huggingface/trl issue
6702](https://github.com/huggingface/trl/issues/6702), [unslothai/unsloth issue
3006](https://github.com/unslothai/unsloth/issues/3006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, quote
from holter.detectors.numerics.bad_values import LOSS, row_count, word
from holter.detectors.statistics.episodes import Episode, episodes
from holter.findings.finding import Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run, Series

PROOF = ("grad_norm", "ref_kl")
_EXPECTED = 5
"""Rows in a row that must hold a metric before its absence says anything."""


def masked_rows(run: Run) -> NDArray[np.int64]:
    """Rows at which a loss of exactly 0.0 stands beside a gradient norm or a KL that is not finite."""
    rows = [loss.at[_hits(run, loss)] for concept in LOSS for loss in run.all(concept)]
    return np.unique(np.concatenate(rows)) if rows else np.empty(0, np.int64)


def _hits(run: Run, loss: Series) -> NDArray[np.bool_]:
    """Values of a loss that are exactly 0.0 beside a proof that it was not. Shape ``(n,)``."""
    zero = loss.values == 0.0
    out = np.zeros(len(loss), bool)
    if not zero.any():
        return out
    for concept in PROOF:
        for series in run.all(concept):
            bad = ~np.isfinite(series.values)
            if concept == "ref_kl":
                bad &= np.maximum.accumulate(~bad)
            out |= zero & np.isin(loss.at, series.at[bad])
    return out


def _absences(run: Run, loss: Series) -> NDArray[np.bool_]:
    """Values of a loss that are exactly 0.0 in the second or later row from which a proof is missing. Shape ``(n,)``."""
    zero = loss.values == 0.0
    out = np.zeros(len(loss), bool)
    if not zero.any():
        return out
    for concept in PROOF:
        for series in run.all(concept):
            there = np.isin(loss.at, series.at)
            expected = np.zeros(len(loss), bool)
            streak = 0
            for i, here in enumerate(there.tolist()):
                expected[i] = streak >= _EXPECTED
                streak = streak + 1 if here else (streak if expected[i] and zero[i] else 0)
            gone = zero & ~there & expected
            gone[1:] &= gone[:-1]
            gone[:1] = False
            out |= gone
    return out


@dataclass(frozen=True, kw_only=True)
class MaskedNaN(Detector):
    """HLT102."""

    name: ClassVar = "masked-nan"
    code: ClassVar = "HLT102"
    since: ClassVar = "0.1"
    says: ClassVar = "the loss hides a NaN"
    explains: ClassVar = ("reward-collapse", "no-learning", "reward-frozen", "policy-not-updating", "gradient-zero")
    needs: ClassVar = (
        Need(concepts=LOSS, log="the loss"),
        Need(concepts=PROOF, log="the gradient norm"),
    )

    rows: int = limit(2, unit="rows", help="lets a hidden NaN that heals last longer before it is critical", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """Rows in which a zero cannot be a zero."""
        for concept in LOSS:
            for loss in run.all(concept)[:1]:
                yield from self._one(run, loss)

    def _one(self, run: Run, loss: Series) -> Iterator[Finding]:
        hits = _hits(run, loss) | _absences(run, loss)
        zero = loss.values == 0.0
        for i in range(1, len(hits)):
            hits[i] = hits[i] or (hits[i - 1] and zero[i])
        for episode in episodes(hits, quiet=1):
            length = episode.last - episode.raised + 1
            healed = episode.last < len(loss) - 1
            critical = not healed or length >= self.rows
            evidence = [
                quote(
                    loss,
                    range(max(0, episode.raised - 1), min(episode.raised + 3, episode.last + 1)),
                    said("is exactly 0.0 from here on, {rows}", rows=row_count(length)),
                )
            ]
            proofs = list(self._proofs(run, loss, episode))
            yield self.finding(
                Severity.CRITICAL if critical else Severity.WARNING,
                Confidence.CERTAIN if proofs else Confidence.STRONG,
                said(
                    "{metric} reads 0.0 while {proof} and {other}: a hidden NaN"
                    if len(proofs) > 1
                    else "{metric} reads 0.0 while {proof}: a hidden NaN"
                    if proofs
                    else "{metric} reads 0.0 and KL or gradient norm are gone from the log: a hidden NaN",
                    metric=loss.metric,
                    proof=proofs[0].says if proofs else None,
                    other=proofs[-1].says if proofs else None,
                ),
                run=run,
                first=int(loss.at[episode.raised]),
                last=int(loss.at[episode.last]),
                active=not healed,
                evidence=[*evidence, *(proofs or self._gone(run, loss, episode))],
                advice=_ADVICE,
            )

    def _proofs(self, run: Run, loss: Series, episode: Episode) -> Iterator[Evidence]:
        """What is not finite in the rows of an episode."""
        for concept in PROOF:
            for series in run.all(concept):
                inside = (series.at >= loss.at[episode.raised]) & (series.at <= loss.at[episode.last])
                bad = np.flatnonzero(inside & ~np.isfinite(series.values))
                if len(bad):
                    is_bad = said("{metric} is {value}", metric=series.metric, value=word(series.values[bad]))
                    yield quote(series, bad[:3], is_bad)
                    break

    def _gone(self, run: Run, loss: Series, episode: Episode) -> Iterator[Evidence]:
        """The last values of what is no longer logged."""
        for concept in PROOF:
            for series in run.all(concept):
                i = int(np.searchsorted(series.at, loss.at[episode.raised])) - 1
                if i >= 0 and loss.at[episode.raised] not in series.at:
                    yield quote(series, [i], "was logged until here")
                    break


_ADVICE = (
    "Go back to the last checkpoint at or before {before}: the weights are NaN from here on.",
    "Set logging_nan_inf_filter=False, so that the log shows the NaN itself.",
    "Look at the batch of this step, at the reference model, and at fp16.",
)
