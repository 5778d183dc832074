"""Completions are cut at the length limit before they end.

## Why it matters
A completion that is cut has no ending to be judged: verifiers find no answer, reward models see half a sentence, and a
missing-EOS penalty turns the reward into a length penalty. What is learned is to get shorter, or nothing. Length that runs
to the limit is also the earliest free sign of several diseases: it moves before a held-out score does.

## When it fires
The median of the last 5 logged fractions is above `level`, lies `rise` above the lowest such median so far, and the
rise is clear of the noise; or the median of the last 10 (of all, while there are fewer) is above `most`, even from the
first row on. It is certain, and critical, when every one of those rows is at `nearly_all` or more and the reward does
not rise. A stretch that ended after a few rows is an info, and so is a share above `level` that was there from the
beginning and stays: many a run whose reward rises lives with it, though its mean length is then a lower bound and rewards of
cut answers are of answers without an end.

## What to do
- Look at a few completions: do they end in a sensible place if they are given room?
- If they do: raise `max_completion_length` (or its like), and check that reward functions cope with long answers.
- If they do not: check the EOS and stop token ids, the chat template, and that the tokenizer's EOS is the model's.
- If it grew during the run: penalise overlong answers (`missing_eos_penalty`, soft overlong punishment), or use a loss that
  does not reward length (`dapo`, `dr_grpo`); go back to the checkpoint before the rise.
- Masking truncated completions keeps them out of the loss; when all are truncated, nothing is left to learn from.

## When it is wrong
Tasks whose answer is meant to fill the limit exactly (one token of a multiple choice). A base model may start at 0.3 to 0.7
and learn to stop: an info while the share falls, and below `base` in the first `patience` rows, which are too few to see it.
Some versions of TRL count a completion as cut when it ends with a second EOS id (fixed in 1.x), and verl's fraction ignores
`max_model_len`.

## References
Yu et al., ["DAPO: An Open-Source LLM Reinforcement Learning System at Scale"](https://arxiv.org/abs/2503.14476)
(2025), overlong reward shaping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.episodes import episodes, onset, unexcused_since
from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.progress import RISES, rises
from holter.detectors.statistics.rolling import running_min, trailing_median
from holter.detectors.statistics.trend import trend_z
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.detectors.statistics.episodes import Episode
    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run, Series

ADVICE = (
    "Read a few completions: would they end sensibly with more room? Then raise the completion length limit.",
    "If not, check EOS and stop token ids, the chat template, and that reward functions see the end of the answer.",
    "If it grew during the run, penalise overlong answers or use a loss without length bias (dapo, dr_grpo), from the "
    "checkpoint before the rise.",
)
ALTERNATIVES = (
    Alternative(
        says="the limit is meant to be short, and the answer fills it",
        check="compare the limit with the length of a reference answer",
    ),
    Alternative(
        says="generation does not stop at the model's end token, so that finished answers run on",
        check="look for text after the end of the answer; compare generation_config.eos_token_id with the tokenizer's",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Truncation(Detector):
    """HLT801."""

    name: ClassVar = "truncation"
    code: ClassVar = "HLT801"
    since: ClassVar = "0.1"
    says: ClassVar = "completions run into the length limit"
    needs: ClassVar = (
        Need(concepts=("truncation",), log="the share of completions cut at the limit (completions/clipped_ratio)"),
    )
    uses: ClassVar = ("reward", "length", "length_max")
    explains: ClassVar = ("zero-reward", "zero-variance-groups", "reward-collapse", "no-learning", "gradient-zero")
    explained_by: ClassVar = ("length-explosion", "no-eos", "policy-divergence", "kl-runaway")

    level: float = limit(0.2, unit="fraction", help="rising: ignores smaller shares", low=0.0, high=1.0)
    rise: float = limit(0.15, unit="fraction", help="rising: needs a larger rise", low=0.0, high=1.0)
    z: float = limit(4.0, unit="sd of the median", help="rising: needs to be clearer of the noise", low=0.0)
    most: float = limit(0.5, unit="fraction", help="any time: ignores smaller shares", low=0.0, high=1.0)
    nearly_all: float = limit(0.9, unit="fraction", help="needs more to call it certain", low=0.0, high=1.0)
    base: float = limit(
        0.75, unit="fraction", help="from the first row on: gives more models time to begin to stop", low=0.0, high=1.0
    )
    patience: int = limit(
        15, unit="logged points", help="from the first row on: gives a base model longer to begin to stop", low=1
    )
    brief: int = limit(
        20, unit="logged points", help="calls longer stretches a passing matter once they are over", low=1
    )

    def check(self, run: Run) -> Iterator[Finding]:
        """One finding a stretch of rows with too many truncated completions."""
        series = run.get("truncation")
        assert series is not None
        cut = series.finite()
        x = cut.values
        ten = trailing_median(x, 10)
        hot = self._rising(x) | (ten > self.most)
        for episode in episodes(hot):
            yield self._say(run, cut, episode, ten, hot)
        steady = np.flatnonzero(trailing_median(x, 10, least=10) > self.level)
        if len(steady) and not hot.any():
            yield self._steady(run, cut, int(steady[0]), int(steady[-1]))

    def _rising(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        five = trailing_median(x, 5, least=5)
        least = running_min(five)
        with np.errstate(all="ignore"):
            clear = five - least > self.z * 1.25 * np.nan_to_num(noise(x, lag=5).sd) / np.sqrt(5)
            out: NDArray[np.bool_] = (five > self.level) & (five > least + self.rise) & clear
        return out

    def _say(
        self, run: Run, cut: Series, episode: Episode, ten: NDArray[np.float64], hot: NDArray[np.bool_]
    ) -> Finding:
        i, x = episode.raised, cut.values
        best, low, late = onset(x, i) if i >= 4 and ten[i] <= self.most else (max(0, i - 9),) * 3
        learning = rises(run.get("reward"), cut.at[[episode.last]])[0]
        shown = x[max(i, episode.last - 9) : episode.last + 1]
        certain = bool((shown >= self.nearly_all).all()) and episode.active and (len(shown) >= 5 or i == 0)
        severity = Severity.CRITICAL if certain and not learning else Severity.WARNING
        falling = (trend_z(x) < -RISES) & (x < self.nearly_all) | ~hot
        stops = best == 0 and bool(falling[episode.last])
        falling[: self.patience - 1] |= x[: self.patience - 1] < self.base
        untold = best == 0 and bool(falling[episode.last])
        if untold or episode.brief(self.brief):
            severity = Severity.INFO
        elif best == 0:
            i = unexcused_since(episode, falling)
        now = number(100 * float(np.median(shown)))
        if best == 0:
            title = said(
                "{now} % of completions are cut at the limit ({metric}, from the first row on), and fewer and fewer: it learns "
                "to stop"
                if stops
                else "{now} % of completions are cut at the limit ({metric}, from the first row on)",
                now=now,
                metric=cut.metric,
            )
        else:
            title = said(
                "{now} % of completions are cut at the limit ({metric}, {before} % before)",
                now=now,
                metric=cut.metric,
                before=number(100 * float(x[best - 1])),
            )
        return self.finding(
            severity,
            Confidence.CERTAIN if certain else Confidence.MODERATE if len(x) >= 10 else Confidence.PATTERN,
            title,
            run=run,
            first=int(cut.at[best]),
            last=int(cut.at[episode.last]),
            raised=int(cut.at[i]),
            onset=(int(cut.at[low]), int(cut.at[late])),
            active=episode.active,
            evidence=[*self._evidence(run, cut, episode, best)],
            advice=ADVICE,
            alternatives=ALTERNATIVES,
            against=("the reward rises all the same",) if learning else (),
        )

    def _steady(self, run: Run, cut: Series, raised: int, last: int) -> Finding:
        return self.finding(
            Severity.INFO,
            Confidence.MODERATE,
            said(
                "{now} % of completions are cut at the limit, neither rising nor falling away ({metric}): mean lengths are too "
                "low, and answers without an end are judged",
                now=number(100 * float(np.median(cut.values[raised - 9 : last + 1]))),
                metric=cut.metric,
            ),
            run=run,
            first=int(cut.at[raised - 9]),
            last=int(cut.at[last]),
            raised=int(cut.at[raised]),
            evidence=[quote(cut, sorted({raised - 9, raised, last}), "share of completions that were cut")],
            advice=ADVICE[:1],
            alternatives=ALTERNATIVES[:1],
        )

    def _evidence(self, run: Run, cut: Series, episode: Episode, best: int) -> Iterator[Evidence]:
        shown = sorted({max(best - 1, 0), episode.raised, episode.last})
        yield quote(cut, shown, "share of completions that were cut")
        for concept in ("length_max", "length"):
            length = run.get(concept)
            if length is None:
                continue
            newest = int(length.upto(cut.at[[episode.last]])[0])
            if newest >= 0:
                yield quote(length, [newest], said("{signal} in that row", signal=length.signal.phrase))
