"""Reward goes up, or stays at its ceiling, while independent evidence says that the policy gets worse.

## Why it matters
The reward is a stand-in for what is wanted. Optimised far enough, every stand-in comes apart from it: the policy finds what
the reward function pays for and the task does not need. From the training curves alone such a run looks like a success; reward
rises, losses stay small, and only a score that the policy is not paid for shows what is lost.

## When it fires
It needs a held-out score: an evaluation of another name than what is trained on, or a reward function logged with weight zero.
The value of the trained reward on held-out prompts is no evidence, because a hack works on any prompt.
A fall of the evidence counts when a shape that rises and then falls fits it better than any shape that never falls, by a
likelihood ratio above `ratio` (in units of the evaluation's own noise, or of its standard error where the log or the
configuration tells its size) at two evaluations in a row, and when `share` of what was gained, or `part` of the best level, is
lost. Dense evidence is judged by means of blocks, `z` standard errors apart. The reward must have risen by `rise` standard
errors since the peak, or still stand where it stood after having risen.
With three to eight evaluations statistics cannot speak. Then the shape is reported as a pattern, and only when `agree` other
signals moved with it (KL, losses, length, truncation, entropy), or when fall and rise, both within 0 to 1, are each beyond the
noise of 64 items.
It is critical when a signal of another origin agrees, a warning otherwise, and information when the evidence came back, unless
half of it was lost for `long` rows or more and for longer than the run had gone well: then it stays a warning.

## What to do
- Read completions from the peak of the evaluation beside completions from now; a hack is plain to see in ten of them.
- Go back to the checkpoint at the peak.
- Mend or cap the reward function that is being exploited; raise the KL coefficient or lower the learning rate.
- Use several reward models and the worst of them, or control for length.
- Log the evaluation from step 0 on, with its size or standard error: five hundred items make five evaluations conclusive.

## When it is wrong
An evaluation too small to tell a fall from its own noise; one whose prompts come from another distribution than the training
prompts; overfitting to few prompts (`train-eval-gap`); a reward that was rescaled on the way. Saturated reward and large KL
with steady evidence are not hacking.

## References
Gao et al., ["Scaling Laws for Reward Model Overoptimization"](https://arxiv.org/abs/2210.10760) (2022). Skalse et
al., ["Defining and Characterizing Reward Gaming"](https://arxiv.org/abs/2209.13085) (2022). Coste et al., ["Reward
Model Ensembles Help Mitigate Overoptimization"](https://arxiv.org/abs/2310.02743) (2023). Frisen, "Unimodal
regression" (1986).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.evaluation.falls import Fall, fallen, falls, one_each
from holter.detectors.evaluation.held_out import held_out, known_since
from holter.detectors.statistics.corroboration import MOVES, corroboration
from holter.detectors.statistics.progress import Progress
from holter.detectors.statistics.snapshots import COMPLETIONS, Shift, errors_apart
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Evidence, Finding, Unchecked
    from holter.runs.run import Run, Series

WINDOW = 20
"""Values of the reward averaged before it is compared."""

FEW = 10
"""Values of the reward below which its noise cannot be told."""

MANY = 20
"""Values of the reward up to which the shape of a few evaluations is evidence; with more the tests decide."""

FALLEN = 2.5
"""Standard errors, on 64 items, that a steady fall of a few evaluations must take where no other signal moved with it..."""

RISEN = 4.0
"""...and those that the reward, as steady, must rise meanwhile."""

ADVICE = (
    "Read completions from {onset} on beside some from {before}: a hack is plain to see in ten of them.",
    "Go back to the last checkpoint at or before {before}.",
    "Mend or cap the reward that is exploited; raise the KL coefficient or lower the learning rate.",
)

ALTERNATIVES = (
    Alternative(
        says="the evaluation is too noisy, or its prompts differ from the training prompts",
        check="evaluate again on more items, and log the standard error",
    ),
    Alternative(
        says="the sign or the definition of the reward is wrong",
        check="score a few hand-written good and bad completions with the reward function",
    ),
)


@dataclass(frozen=True, kw_only=True)
class RewardHacking(Detector):
    """HLT341."""

    name: ClassVar = "reward-hacking"
    code: ClassVar = "HLT341"
    since: ClassVar = "0.1"
    says: ClassVar = "the policy probably games the reward"
    explains: ClassVar = (
        "eval-declines",
        "train-eval-gap",
        "entropy-collapse",
        "length-explosion",
        "truncation",
        "zero-variance-groups",
        "reward-frozen",
        "kl-above-budget",
        "kl-bought-nothing",
    )
    needs: ClassVar = (Need(concepts=("reward",), points=3, log="the mean reward of every step"),)
    uses: ClassVar = ("eval_score", "eval_accuracy", "eval_reward", "reward_component", *(m.concept for m in MOVES))

    ratio: float = limit(12.0, unit="likelihood ratio", help="needs a clearer fall of the evidence", low=4.0)
    share: float = limit(0.4, unit="of the gain", help="needs a larger fall", low=0.0, high=1.0)
    part: float = limit(0.07, unit="of the best level", help="needs a larger fall", low=0.0, high=1.0)
    z: float = limit(6.0, unit="standard errors", help="dense evidence: needs a clearer fall", low=2.0)
    rise: float = limit(2.0, unit="standard errors", help="needs a clearer rise of the reward", low=0.0)
    agree: int = limit(2, unit="signals", help="short logs: more signals must agree", low=1)
    long: int = limit(20, unit="rows", help="calls more of what is over information", low=1)

    def check(self, run: Run) -> Iterator[Finding | Unchecked]:
        """Every independent score against the reward; falls that overlap are one finding."""
        progress = Progress.of(run)
        scores = [s.finite() for s in held_out(run)]
        scores = [s for s in scores if len(s) >= 3]
        if progress is None or not scores:
            yield self.unchecked(
                "no score that is independent of the reward in this log; log an evaluation the policy is not paid for, "
                "from step 0 on, or a reward function with weight zero.",
                ["eval_score"],
            )
            return
        found: list[tuple[int, Series, Fall]] = []
        for score in scores:
            judged = fallen(run, score, ratio=self.ratio, share=self.share, part=self.part, z=self.z)
            up = self._paid_more(progress, score, judged.peak)
            found += [(int(score.at[f.raised]), score, f) for f in falls(score, judged, up)]
        found.sort(key=lambda item: (item[0], item[1].key))
        earliest = found[0][0] if found else len(run)
        proven = []
        while found:
            _, score, fall = found.pop(0)
            end = int(score.at[fall.told]) if fall.over else len(run)
            also = [(s, f) for at, s, f in found if at <= end]
            found = [item for item in found if item[0] > end]
            proven.append(self._finding(run, progress, score, fall, also))
        patterns = [f for s in scores for f in self._short(run, progress, s, before=earliest)]
        for finding in one_each(patterns, proven):
            since = float(run.steps[known_since(run, finding.evidence[0].key, held_out)])
            yield replace(finding, raised_step=max(finding.raised_step, since))

    def _paid_more(self, progress: Progress, score: Series, peak: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the reward rose since the peak of the evidence, or rose before it and has stayed there."""
        late = score.at
        early = score.at[peak]
        start = np.full(len(score), progress.series.at[0])
        since = progress.z(early, late, WINDOW)
        overall = progress.z(start, late, WINDOW)
        out: NDArray[np.bool_] = (since > self.rise) | ((since > -self.rise) & (overall > 2 * self.rise))
        few = progress.series.upto(late) < FEW
        out[few] = self._rose_throughout(progress, score.where(few), peak[few], score)
        return out

    def _rose_throughout(
        self, progress: Progress, now: Series, peak: NDArray[np.int64], score: Series
    ) -> NDArray[np.bool_]:
        """Whether the reward never fell since the peak, where so few values came before that their noise is unknown."""
        a = np.maximum(progress.series.upto(score.at[peak]), 0).tolist()
        b = np.maximum(progress.series.upto(now.at), 0).tolist()
        x = progress.series.values
        return np.asarray(
            [x[j] > x[i] and bool((np.diff(x[i : j + 1]) >= 0).all()) for i, j in zip(a, b, strict=True)], bool
        )

    def _finding(
        self, run: Run, progress: Progress, score: Series, fall: Fall, also: list[tuple[Series, Fall]]
    ) -> Finding:
        peak, raised = int(score.at[fall.peak]), int(score.at[fall.raised])
        after, began = int(score.at[fall.began]), fall.row(score)
        others = corroboration(run, int(score.at[fall.began - 1]), raised)
        lasting = fall.active or any(f.active for _, f in also)
        end = len(run) - 1 if lasting else int(score.at[fall.last])
        severity = Severity.CRITICAL if others or also else Severity.WARNING
        if not lasting:
            lost = fall.level < fall.height / 2 and end - began >= max(self.long, began)
            severity = Severity.WARNING if lost else Severity.INFO
        change = progress.change(peak, raised, WINDOW)
        return self.finding(
            severity,
            Confidence.STRONG if others or also else Confidence.MODERATE,
            said(
                "{metric} falls from {best} to {now} while {reward} {moves}"
                if lasting
                else "{metric} falls from {best} to {now} while {reward} {moves}; it came back",
                metric=score.metric,
                best=number(fall.height),
                now=number(fall.newest if fall.active else fall.level),
                reward=progress.series.metric,
                moves=said("rises" if change > 0 else "stays up"),
            ),
            run=run,
            first=began,
            last=end,
            raised=raised,
            onset=(min(int(score.at[fall.began - 1]), began), after),
            active=lasting,
            evidence=[
                quote(score, [fall.peak, fall.raised], fall.says()),
                *_reward(progress, peak, raised, WINDOW),
                *(quote(s, [f.peak, f.raised], "falls as well") for s, f in also[:3]),
                *others,
            ],
            advice=ADVICE,
            alternatives=ALTERNATIVES,
        )

    def _short(self, run: Run, progress: Progress, score: Series, before: int) -> Iterator[Finding]:
        """Three to eight evaluations: the shape, if enough other signals moved with it, before statistics could speak."""
        e = score.values
        for k in range(2, min(len(e), 8)):
            peak = int(np.argmax(e[:k]))
            since = e[peak : k + 1]
            if k - peak < 2 or not (np.diff(since) < 0).all() or since[0] - since[-1] < self.part * abs(since[0]):
                continue
            early, late = int(score.at[peak]), int(score.at[k])
            if late >= before or int(progress.series.upto(score.at[k : k + 1])[0]) >= MANY:
                return
            paid = progress.series.where((progress.series.at >= early) & (progress.series.at <= late)).values
            if len(paid) < 2 or not (np.diff(paid) >= 0).all() or paid[-1] <= paid[0]:
                continue
            others = corroboration(run, early, late)
            agreed = len(others) >= self.agree
            if not agreed and not _beyond_noise(since[0], since[-1], paid[0], paid[-1]):
                continue
            back = np.flatnonzero(e[k + 1 :] > (since[0] + since[-1]) / 2)
            last = len(e) - 1 if not len(back) else k + int(back[0])
            lasting = not len(back)
            active = lasting and len(progress.series) <= MANY  # with more values the tests decide
            yield self.finding(
                Severity.INFO if not active else Severity.CRITICAL if agreed else Severity.WARNING,
                Confidence.PATTERN,
                said(
                    "{metric} falls from {best} to {now} while {reward} rises, and {n} other signals moved with it"
                    if agreed
                    else "{metric} falls from {best} to {now} while {reward} rises",
                    metric=score.metric,
                    best=number(since[0]),
                    now=number(since[-1]),
                    reward=progress.series.metric,
                    n=len(others),
                ),
                run=run,
                first=int(score.at[peak + 1]),
                last=len(run) - 1 if lasting else int(score.at[last]),
                raised=late,
                onset=(early, int(score.at[peak + 1])),
                active=active,
                evidence=[
                    quote(
                        score,
                        range(peak, k + 1),
                        said("{n} falls in a row after its best; too few for statistics", n=k - peak),
                    ),
                    *_reward(progress, early, late, 1),
                    *others,
                ],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )
            return


def _beyond_noise(best: float, now: float, before: float, after: float) -> bool:
    """Whether the fall of the evidence and the rise of the reward are both more than shares of few items or completions vary."""
    fall, rise = Shift(1, 1, best, now), Shift(1, 1, before, after)
    return (
        errors_apart(np.asarray([best, now]), fall, COMPLETIONS) > FALLEN
        and errors_apart(np.asarray([before, after]), rise, COMPLETIONS) > RISEN
    )


def _reward(progress: Progress, early: int, late: int, window: int) -> list[Evidence]:
    series = progress.series
    i = np.maximum(series.upto(np.asarray([early, late])), 0).tolist()
    says = said(
        "the reward changed by {change} over the same rows (means of up to {window} values)"
        if window > 1
        else "the reward changed by {change} over the same rows",
        change=number(progress.change(early, late, window)),
        window=window,
    )
    return [quote(series, i, says)]
