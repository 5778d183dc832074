"""A held-out score falls from its best, and the reward does not rise either.

## Why it matters
Training is doing harm and is not even paid for it. The policy has usually been damaged by an update, or forgets what the
reward does not ask for; every further step is worth less than the checkpoint at the peak.

## When it fires
On the same test of the evidence as `reward-hacking` (rise-then-fall fits better than never-falls, by a likelihood ratio above
`ratio` twice running, and `share` of the gain or `part` of the best level is lost; block means for dense evidence), when the
reward has not risen by `rise` standard errors since the peak. The trained reward on held-out prompts counts here as well.
With three to eight evaluations it reports a pattern when the score falls three times in a row and `agree` other signals moved.
With two to eight it also reports a fall that no plausible number of items explains: a score within 0 to 1 that loses half of its
best level or more, four standard errors of an evaluation on only `items` items, and is not back in the log's last evaluation.

## What to do
- Go back to the checkpoint at the peak.
- Look at what moved first: KL, entropy and completion length tell a damaged policy from a slowly forgetting one.
- Lower the learning rate, or raise the KL coefficient.

## When it is wrong
An evaluation on few items, an evaluation whose prompts or decoding settings were changed on the way, a curriculum that leaves
the evaluated task behind on purpose.

## References
Ouyang et al., ["Training language models to follow instructions with human
feedback"](https://arxiv.org/abs/2203.02155) (2022), on the alignment tax. Frisen, "Unimodal regression" (1986).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.evaluation.falls import Fall, fallen, falls, one_each
from holter.detectors.evaluation.held_out import SAME, SCORES, held_out, known_since, own_evaluations
from holter.detectors.statistics.corroboration import MOVES, corroboration
from holter.detectors.statistics.progress import Progress
from holter.findings.finding import Alternative, Confidence, Finding, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Unchecked
    from holter.runs.run import Run, Series

WINDOW = 20
"""Values of the reward averaged before it is compared."""

HALVED = 4.0
"""Standard errors of a fall between two evaluations of `items` items; with eight there are few pairs to be fooled by."""

ADVICE = (
    "Go back to the last checkpoint at or before {before}.",
    "See which signal moved first: KL, entropy and length tell a damaged policy from a slowly forgetting one.",
    "Lower the learning rate, or raise the KL coefficient.",
)

ALTERNATIVES = (
    Alternative(
        says="the evaluation is too noisy, or its prompts or decoding were changed",
        check="evaluate the checkpoint at the peak and the newest one again, on more items",
    ),
)


@dataclass(frozen=True, kw_only=True)
class EvalDeclines(Detector):
    """HLT342."""

    name: ClassVar = "eval-declines"
    code: ClassVar = "HLT342"
    since: ClassVar = "0.1"
    says: ClassVar = "the evaluation falls"
    needs: ClassVar = (Need(concepts=(*SCORES, *SAME), points=2, split="any", log="an evaluation, from step 0 on"),)
    uses: ClassVar = ("reward", *(m.concept for m in MOVES))

    ratio: float = limit(20.0, unit="likelihood ratio", help="needs a clearer fall", low=4.0)
    share: float = limit(0.4, unit="of the gain", help="needs a larger fall", low=0.0, high=1.0)
    part: float = limit(0.07, unit="of the best level", help="needs a larger fall", low=0.0, high=1.0)
    z: float = limit(6.0, unit="standard errors", help="dense evidence: needs a clearer fall", low=2.0)
    rise: float = limit(2.0, unit="standard errors", help="calls more runs unrewarded", low=0.0)
    agree: int = limit(2, unit="signals", help="short logs: more signals must agree", low=1)
    items: int = limit(50, unit="items", help="short logs: takes evaluations to be larger, and finds more", low=10)

    def check(self, run: Run) -> Iterator[Finding | Unchecked]:
        """Every held-out score; falls that overlap are one finding."""
        for found in self._found(run):
            if isinstance(found, Finding):
                since = float(run.steps[known_since(run, found.evidence[0].key)])
                yield replace(found, raised_step=max(found.raised_step, since))
            else:
                yield found

    def _found(self, run: Run) -> Iterator[Finding | Unchecked]:
        progress = Progress.of(run)
        scores = [s.finite() for s in [*held_out(run), *(own for own, _ in own_evaluations(run))]]
        scores = [s for s in scores if len(s) >= 2]
        if not scores:
            yield self.unchecked("no held-out score in this log; log an evaluation, from step 0 on.", ["eval_score"])
            return
        found: list[tuple[int, Series, Fall, bool]] = []
        for score in scores:
            judged = fallen(run, score, ratio=self.ratio, share=self.share, part=self.part, z=self.z)
            unpaid = self._not_paid(progress, score, judged.peak)
            later = np.flatnonzero(judged.flags & ~unpaid)
            for fall in falls(score, judged, unpaid):
                paid = bool(((later > fall.raised) & (later <= fall.last)).any())
                found.append((int(score.at[fall.raised]), score, fall, paid))
        found.sort(key=lambda item: (item[0], item[1].key))
        earliest = float(run.steps[found[0][0]]) if found else np.inf
        proven = []
        while found:
            _, score, fall, paid = found.pop(0)
            end = int(score.at[fall.told]) if fall.over else len(run)
            also = [(s, f) for at, s, f, _ in found if at <= end]
            paid |= any(p for at, _, _, p in found if at <= end)
            found = [item for item in found if item[0] > end]
            proven.append(self._finding(run, progress, score, fall, also, paid=paid))
        short = [f for score in scores for f in self._short(run, progress, score)]
        halved = sorted((f for score in scores for f in self._halved(run, score)), key=lambda f: f.raised_step)[:1]
        earliest = min([*(f.raised_step for f in short), earliest])
        yield from one_each([*short, *(f for f in halved if f.raised_step < earliest)], proven)

    def _not_paid(self, progress: Progress | None, score: Series, peak: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Where the reward neither rose since the peak nor stands where an earlier rise had taken it."""
        if progress is None:
            return np.ones(len(score), bool)
        start = np.full(len(score), progress.series.at[0])
        since = progress.z(score.at[peak], score.at, WINDOW)
        overall = progress.z(start, score.at, WINDOW)
        return ~((since > self.rise) | ((since > -self.rise) & (overall > 2 * self.rise)))

    def _finding(
        self,
        run: Run,
        progress: Progress | None,
        score: Series,
        fall: Fall,
        also: list[tuple[Series, Fall]],
        *,
        paid: bool,
    ) -> Finding:
        peak, raised = int(score.at[fall.peak]), int(score.at[fall.raised])
        after, began = int(score.at[fall.began]), fall.row(score)
        others = corroboration(run, int(score.at[fall.began - 1]), raised)
        lasting = fall.active or any(f.active for _, f in also)
        evidence = [
            quote(score, [fall.peak, fall.raised], fall.says()),
            *(quote(s, [f.peak, f.raised], "falls as well") for s, f in also[:3]),
            *others,
        ]
        if progress is not None:
            reward = progress.series
            i = np.maximum(reward.upto(np.asarray([peak, raised])), 0).tolist()
            change = number(progress.change(peak, raised, WINDOW))
            evidence.append(
                quote(
                    reward,
                    i,
                    said(
                        "the reward changed by {change} over the same rows, not a rise beyond its noise", change=change
                    ),
                )
            )
        severity = Severity.CRITICAL if len(others) >= self.agree else Severity.WARNING
        title = "{metric} falls from {best} to {now}, and no reward pays for it"
        if not lasting:
            severity = Severity.INFO
            title = "{metric} falls from {best} to {now}, and no reward pays for it; it came back"
        elif paid:
            severity = Severity.INFO
            title = "{metric} falls from {best} to {now}; the reward did not rise at first, but later it did (see reward-hacking)"
        return self.finding(
            severity,
            Confidence.STRONG if others or also else Confidence.MODERATE,
            said(
                title,
                metric=score.metric,
                best=number(fall.height),
                now=number(fall.newest if fall.active else fall.level),
            ),
            run=run,
            first=began,
            last=len(run) - 1 if lasting else int(score.at[fall.last]),
            raised=raised,
            onset=(min(int(score.at[fall.began - 1]), began), after),
            active=lasting,
            evidence=evidence,
            advice=ADVICE,
            alternatives=ALTERNATIVES,
        )

    def _halved(self, run: Run, score: Series) -> Iterator[Finding]:
        """Two to eight evaluations: a share that loses half of its best or more, beyond the noise of the smallest evaluation."""
        e = score.values
        shares = np.logical_and.accumulate((e >= 0) & (e <= 1))
        for k in range(1, min(len(e), 8)):
            if not shares[k]:
                return
            peak = int(np.argmax(e[:k]))
            best, now = float(e[peak]), float(e[k])
            # No evaluation tells less than one item, and shares of 0 and 1 alone would make the error 0.
            error = max(np.sqrt((best * (1 - best) + now * (1 - now)) / self.items), 1 / self.items)
            if now > 0.5 * best or best - now < HALVED * error:
                continue
            back = np.flatnonzero(e[k + 1 :] > (best + now) / 2)
            lasting = not len(back)
            yield self.finding(
                Severity.WARNING if lasting else Severity.INFO,
                Confidence.PATTERN,
                said("{metric} falls from {best} to {now}", metric=score.metric, best=number(best), now=number(now)),
                run=run,
                first=int(score.at[peak + 1]),
                last=len(run) - 1 if lasting else int(score.at[k + 1 + int(back[0])]),
                raised=int(score.at[k]),
                onset=(int(score.at[peak]), int(score.at[peak + 1])),
                active=lasting,
                evidence=[
                    quote(
                        score,
                        [peak, k],
                        said(
                            "{errors} standard errors even if it were on {items} items only; the log does not tell its size",
                            errors=number((best - now) / error),
                            items=self.items,
                        ),
                    )
                ],
                advice=ADVICE,
                alternatives=(
                    *ALTERNATIVES,
                    Alternative(
                        says="completions are no longer parsed, or are empty",
                        check="read twenty completions of both evaluations",
                    ),
                ),
            )
            return

    def _short(self, run: Run, progress: Progress | None, score: Series) -> Iterator[Finding]:
        """Three to eight evaluations: three falls in a row, and enough other signals that moved."""
        e = score.values
        for k in range(3, min(len(e), 8)):
            since = e[k - 3 : k + 1]
            if not (np.diff(since) < 0).all() or since[0] - since[-1] < 2.5 * self.part * abs(since[0]):
                continue
            early, late = int(score.at[k - 3]), int(score.at[k])
            if progress is not None and progress.change(early, late, 3) > 0:
                continue
            others = corroboration(run, early, late)
            if len(others) < self.agree:
                continue
            back = np.flatnonzero(e[k + 1 :] > (since[0] + since[-1]) / 2)
            lasting = not len(back)
            yield self.finding(
                Severity.WARNING if lasting else Severity.INFO,
                Confidence.PATTERN,
                said(
                    "{metric} falls three times in a row, from {before} to {now}, and {n} other signals moved with it",
                    metric=score.metric,
                    before=number(since[0]),
                    now=number(since[-1]),
                    n=len(others),
                ),
                run=run,
                first=int(score.at[k - 2]),
                last=len(run) - 1 if lasting else int(score.at[k + int(back[0])]),
                raised=late,
                onset=(early, int(score.at[k - 2])),
                active=lasting,
                evidence=[quote(score, range(k - 3, k + 1), "three falls in a row; too few for statistics"), *others],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )
            return
