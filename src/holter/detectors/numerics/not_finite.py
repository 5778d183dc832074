"""A metric of the policy or its update turns NaN or infinite.

## Why it matters
A NaN loss makes every weight NaN in one step. Whatever is logged afterwards describes a dead model, and a checkpoint
that is saved afterwards is worthless. The first metric that broke, and the step at which it did, are what leads to
the cause.

## When it fires
On the first value that is NaN or infinite after finite ones, in any metric except rewards and the critic, which have
their own detectors. It is critical when a loss, two metrics, or `values` values in a row are not finite up to the end
of the log. It is a warning when the values become finite again, or when the loss stays finite, so that only a metric
is affected: means over an empty mask (KL and clip ratios together, now and then) are of that kind. A metric that was
never finite is not computed in this run and only an info, unless it is the loss or the gradient norm.

## What to do
- Go back to the last checkpoint before the first flagged step; rows after it describe a broken model.
- Look at the batch of that step: empty completions, all tokens masked, rewards that are not numbers.
- NaN gradient under a finite loss: a product 0 x inf at masked positions, or exp of a log-ratio that is too large.
- Train in bf16 instead of fp16, keep the output head and the loss in fp32.

## When it is wrong
Metrics that are NaN by construction are left out: a variance over a single slot, lengths of completions that ended
when none did. A loss scaler of fp16 training skips steps with infinite gradients on purpose, most of all in the first
rows.

## References
TRL leaves non-finite values out of its means (`nanmean`, `nansum`), and Transformers hides a NaN loss behind
`logging_nan_inf_filter`: see masked-nan and reward-not-finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, limit, quote
from holter.detectors.numerics.bad_values import (
    CRITIC,
    LOSS,
    REWARD,
    STRUCTURAL,
    Bad,
    bad_series,
    flags,
    names,
    row_count,
    value_count,
    word,
)
from holter.detectors.numerics.masked_nan import masked_rows
from holter.detectors.statistics.episodes import Episode, episodes
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run

ORDER = ("total_loss", "policy_loss", "ref_kl", "kl_loss", "policy_kl", "ratio", "entropy", "grad_norm")
VITAL = (*LOSS, "grad_norm")
ON_EVAL = ("total_loss", "ref_kl", "entropy")
MASKED_MEAN = ("ref_kl", "policy_kl", "ratio", "clip_fraction", "entropy", "mismatch", "sampler_ratio")


def _of_actor(concept: str) -> bool:
    timing = concept.startswith(("time", "throughput", "step_time"))
    return not timing and concept not in REWARD and concept not in CRITIC and concept not in STRUCTURAL


def _is_masked_mean(concept: str) -> bool:
    return concept.startswith(MASKED_MEAN)


@dataclass(frozen=True, kw_only=True)
class NotFinite(Detector):
    """HLT101."""

    name: ClassVar = "not-finite"
    code: ClassVar = "HLT101"
    since: ClassVar = "0.1"
    says: ClassVar = "numbers stop being finite"
    explains: ClassVar = (
        "reward-collapse",
        "no-learning",
        "policy-divergence",
        "zero-reward",
        "reward-frozen",
        "entropy-collapse",
        "gradient-zero",
        "policy-not-updating",
        "critic-not-finite",
        "kl-runaway",
    )
    uses: ClassVar = ("total_loss", "policy_loss", "grad_norm", "ref_kl", "entropy", "policy_kl", "ratio")

    values: int = limit(3, unit="values", help="lets one metric be not finite for longer before it is critical", low=1)

    def check(self, run: Run) -> Iterator[Finding]:
        """Values that were finite once, then values that never were."""
        hidden = masked_rows(run)
        bads = bad_series(run, _of_actor, without=hidden)
        bads += bad_series(run, lambda c: c in ON_EVAL, Split.EVAL)
        for episode in episodes(flags(bads, len(run))):
            mine = [b for b in bads if len(b.rows(episode.raised, episode.last))]
            mine.sort(key=lambda b: (int(b.series.at[b.rows(episode.raised, episode.last)[0]]), b.rank_in(ORDER)))
            yield self._broke(run, episode, mine)
        yield from self._from_the_start(run, bads)

    def _broke(self, run: Run, episode: Episode, mine: list[Bad]) -> Finding:
        head = mine[0]
        at = head.rows(episode.raised, episode.last)
        healed = all(b.heals(episode.last) for b in mine)
        metric_only = self._loss_is_finite(run, mine, episode)
        lost = any(b.series.concept in LOSS and b.series.split is Split.TRAIN for b in mine)
        many = len([b for b in mine if b.series.split is Split.TRAIN]) > 1
        critical = not healed and not metric_only and (lost or many or len(at) >= self.values)
        value = word(head.series.values[at])
        if metric_only and all(_is_masked_mean(b.series.concept) for b in mine):
            title = said(_NO_TOKENS if len(mine) > 1 else _NO_TOKENS_ONE, metrics=names(mine), value=value)
        else:
            title = said(
                "{metric} becomes {value}, with {others}: {values}, {end}"
                if len(mine) > 1
                else "{metric} becomes {value}: {values}, {end}",
                metric=head.series.metric,
                value=value,
                others=names(mine[1:]),
                values=value_count(len(at)),
                end=said("then finite again" if healed else "to the end of the log"),
            )
        evidence = [
            quote(
                head.series,
                [*range(max(0, int(at[0]) - 2), int(at[0]) + 1)],
                said("was finite, then {value}", value=value),
            )
        ]
        for other in mine[1:4]:
            i = int(other.rows(episode.raised, episode.last)[0])
            says = "is not finite either"
            evidence.append(quote(other.series, [max(0, i - 1), i], says))
        return self.finding(
            Severity.CRITICAL if critical else Severity.WARNING,
            Confidence.CERTAIN,
            title,
            run=run,
            first=episode.raised,
            last=episode.last,
            active=not healed,
            evidence=evidence,
            advice=_METRIC_ADVICE if metric_only else _ADVICE,
            alternatives=_alternatives(mine, at),
        )

    def _loss_is_finite(self, run: Run, mine: list[Bad], episode: Episode) -> bool:
        """Whether a loss was logged at the rows in question, finite every time, and the gradient is not affected either."""
        if any(b.series.concept in VITAL and b.series.split is Split.TRAIN for b in mine):
            return False
        rows = np.concatenate([b.series.at[b.rows(episode.raised, episode.last)] for b in mine])
        losses = [s for c in LOSS for s in run.all(c)]
        return any(
            np.isin(rows, s.at).all() and np.isfinite(s.values[np.isin(s.at, rows)]).all() and len(s) for s in losses
        )

    def _from_the_start(self, run: Run, bads: list[Bad]) -> Iterator[Finding]:
        leading = [b for b in bads if b.lead and b.series.split is Split.TRAIN]
        for vital in (True, False):
            mine = sorted((b for b in leading if (b.series.concept in VITAL) is vital), key=lambda b: b.rank_in(ORDER))
            if not mine:
                continue
            first = min(int(b.series.at[0]) for b in mine)
            last = max(int(b.series.at[b.lead - 1]) for b in mine)
            never = any(b.never for b in mine)
            value = word(np.concatenate([b.series.values[: b.lead] for b in mine]))
            many, severity = len(mine) > 1, Severity.INFO
            if vital:
                lost = any(b.series.concept in LOSS for b in mine) or not self._has_finite_loss(run)
                severity = Severity.CRITICAL if never and lost else Severity.WARNING
                title = said(_FROM_THE_START if many else _FROM_THE_START_ONE, metrics=names(mine), value=value)
            elif self._empty_mask(mine):
                severity = Severity.WARNING
                title = said(_NO_TOKENS if many else _NO_TOKENS_ONE, metrics=names(mine), value=value)
            elif never:
                title = said(
                    "{metrics} are {value} from the first row on: not computed in this run"
                    if many
                    else "{metrics} is {value} from the first row on: not computed in this run",
                    metrics=names(mine),
                    value=value,
                )
            else:
                title = said(
                    "{metrics} are {value} in the first {rows}, then finite"
                    if many
                    else "{metrics} is {value} in the first {rows}, then finite",
                    metrics=names(mine),
                    value=value,
                    rows=row_count(max(b.lead for b in mine)),
                )
            yield self.finding(
                severity,
                Confidence.CERTAIN,
                title,
                run=run,
                first=first,
                last=last,
                active=never,
                evidence=[
                    quote(
                        b.series,
                        range(min(b.lead, 3)),
                        "is not finite from its first value on",
                    )
                    for b in mine[:4]
                ],
                advice=_ADVICE if vital else _METRIC_ADVICE,
            )

    def _has_finite_loss(self, run: Run) -> bool:
        return any(np.isfinite(s.values).any() for c in LOSS for s in run.all(c))

    def _empty_mask(self, mine: list[Bad]) -> bool:
        """KL and clip ratios together, in a log too short to say that they never are finite."""
        concepts = {b.series.concept for b in mine}
        together = "ref_kl" in concepts and any(c.startswith("clip_fraction") for c in concepts)
        return together and all(b.lead < self.values for b in mine)


def _alternatives(mine: list[Bad], at: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Alternative]:
    head = mine[0].series
    before = head.values[: int(at[0])]
    before = np.abs(before[np.isfinite(before)])
    if np.isinf(head.values[at]).any() and len(before) >= 1 and before[-1] > 10:
        return [
            Alternative(
                says="the run had diverged before, and the overflow was only its last act",
                check=said("the values of {metric} just before", metric=head.metric),
            )
        ]
    if [b.series.concept for b in mine] == ["grad_norm"]:
        return [Alternative(says="an fp16 loss scaler skipped the step", check="the loss scale, and the next rows")]
    return []


_NO_TOKENS = "{metrics} are {value} while the loss is finite: a mean over no tokens"
_NO_TOKENS_ONE = "{metrics} is {value} while the loss is finite: a mean over no tokens"
_FROM_THE_START = "{metrics} are {value} from the first row on"
_FROM_THE_START_ONE = "{metrics} is {value} from the first row on"
_ADVICE = (
    "Go back to the last checkpoint at or before {before}; rows after it describe a broken model.",
    "Look at the batch of this step: empty completions, every token masked, rewards that are not numbers.",
    "Use bf16 instead of fp16, and compute the loss and the output head in fp32.",
)
_METRIC_ADVICE = (
    "Nothing in the loss is affected; look at how the metric is averaged when a mask is empty.",
    "Leave these rows out when you read the curve.",
)
