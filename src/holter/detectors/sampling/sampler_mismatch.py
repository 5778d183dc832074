"""The sampler gives its own tokens other probabilities than the trainer does.

## Why it matters
Rollouts come from an inference engine, gradients from the trainer. When the two disagree on the probabilities of the
same tokens, training is off-policy without knowing it: the gradient is biased, and reward alone does not show it
until late.

## When it fires
On medians of five values (single values in the first two rows, two running in the first twelve) beyond these limits,
judged per token: mean absolute difference of log-probabilities above `logp`, of probabilities above `probability`,
mean exp|difference| above `error`, any KL between the two above `kl` in size, perplexity ratio off 1 by more than
`perplexity`, mean importance ratio outside 0.5 to 2, effective sample size below `ess`. From the first row on and
level: a fault of implementation. Growing: drift of numerics as the policy sharpens. From one row on: weights that were
not synchronised. It is critical when two of these measures agree and the reward falls with them. It
is information where only the ratio is off and a difference per token below its limit stands beside it.

## What to do
- Same precision, temperature, top_p and top_k on both sides; the trainer recomputes log-probabilities of the
  sampler's tokens.
- Synchronise weights before every rollout; check it after a resume.
- Importance weights with a cap at 2 to 3, or masks of sequences beyond it.

## When it is wrong
The ratio of whole sequences is exp of a sum over tokens: 0.012 a token over 100 tokens is 3.3. Filters like top_p
make the ratio equal to the probability mass that survives. Staleness by design moves all of these.

## References
volcengine/verl FAQ (probability difference below 0.005 is normal, above 0.01 is a precision problem) and its rollout
correction limits; [NVIDIA-NeMo/RL issue 1801](https://github.com/NVIDIA-NeMo/RL/issues/1801) (mean exp|difference|
above 1.05); [huggingface/trl issues 4772](https://github.com/huggingface/trl/issues/4772) and
[6789](https://github.com/huggingface/trl/issues/6789).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.alignment import on_rows
from holter.detectors.statistics.corroboration import reward_falls
from holter.detectors.statistics.episodes import Episode, episodes, persist
from holter.detectors.statistics.rolling import trailing_median
from holter.detectors.statistics.snapshots import FEW
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

CONCEPTS = (
    "mismatch",
    "mismatch_probability",
    "mismatch_error",
    "mismatch_kl",
    "mismatch_kl_reverse",
    "mismatch_perplexity",
    "sampler_ratio",
    "mismatch_ess",
)


@dataclass(frozen=True, kw_only=True)
class SamplerMismatch(Detector):
    """HLT751."""

    name: ClassVar = "sampler-mismatch"
    code: ClassVar = "HLT751"
    since: ClassVar = "0.1"
    says: ClassVar = "sampler and trainer disagree"
    explains: ClassVar = (
        "ratio-off-one",
        "policy-divergence",
        "kl-runaway",
        "reward-collapse",
        "clip-fraction-high",
        "ratio-off-one-at-first-step",
    )
    needs: ClassVar = (
        Need(concepts=CONCEPTS, log="a comparison of the sampler's and the trainer's log-probabilities"),
    )
    uses: ClassVar = ("reward",)

    logp: float = limit(0.1, unit="nats/token", help="lets the two differ more", low=0.0)
    probability: float = limit(0.01, unit="probability", help="lets the two differ more", low=0.0)
    error: float = limit(1.05, unit="ratio", help="lets the two differ more", low=1.0)
    kl: float = limit(0.1, unit="nats/token", help="lets the two differ more", low=0.0)
    perplexity: float = limit(0.1, unit="ratio", help="lets the two differ more", low=0.0)
    ess: float = limit(0.3, unit="fraction", help="a lower value lets fewer samples count", low=0.0, high=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Each measure against its limit; the first that breaks is named, the others stand beside it."""
        bad: list[tuple[Series, NDArray[np.bool_]]] = []
        for concept in CONCEPTS:
            for series in run.all(concept)[:1]:
                s = self._measured(run, series.finite())
                if len(s):
                    bad.append((s, self._beyond(concept, s.values)))
        rows = np.zeros(len(run), bool)
        for s, beyond in bad:
            rows[s.at[beyond]] = True
        for episode in episodes(rows):
            mine = [
                (s, np.flatnonzero(b & (s.at >= episode.raised) & (s.at <= episode.last)))
                for s, b in bad
                if (b & (s.at >= episode.raised) & (s.at <= episode.last)).any()
            ]
            mine.sort(key=lambda each: int(each[0].at[each[1][0]]))
            yield self._say(run, episode, mine)

    def _beyond(self, concept: str, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        middle = trailing_median(values, 5, least=3)
        middle[:2] = values[:2]
        out = self._off(concept, middle)
        # Of snapshots, two in a row are as many as a long run's three of five.
        out[:FEW] |= persist(self._off(concept, values[:FEW]), 2, 2)
        return out

    def _off(self, concept: str, middle: NDArray[np.float64]) -> NDArray[np.bool_]:
        with np.errstate(invalid="ignore"):
            tests = {
                "mismatch": middle > self.logp,
                "mismatch_probability": middle > self.probability,
                "mismatch_error": middle > self.error,
                "mismatch_kl": np.abs(middle) > self.kl,
                "mismatch_kl_reverse": np.abs(middle) > self.kl,
                "mismatch_perplexity": np.abs(middle - 1) > self.perplexity,
                "sampler_ratio": (middle < 0.5) | (middle > 2.0),
                "mismatch_ess": middle < self.ess,
            }
        return tests[concept]

    def _say(self, run: Run, episode: Episode, mine: list[tuple[Series, NDArray[np.int64]]]) -> Finding:
        head, at = mine[0]
        first = self._began(head, int(at[0]))
        falls = reward_falls(run, max(int(head.at[first]) - 1, 0), episode.last)
        grave = len(mine) > 1 and falls is not None
        raised = self._of_tokens(run, mine)
        of_sequences = raised is None
        warns = (episode.active or len(mine) > 1) and not of_sequences
        return self.finding(
            Severity.CRITICAL if grave else Severity.WARNING if warns else Severity.INFO,
            Confidence.STRONG if len(mine) > 1 else Confidence.MODERATE,
            said(
                "{metric} is {value}, {shape}: a product over whole completions, whose tokens differ little"
                if of_sequences
                else "{metric} is {value}, {shape}: sampler and trainer disagree",
                metric=head.metric,
                value=number(float(head.values[at[0]])),
                shape=self._shape(head, first),
            ),
            run=run,
            first=int(head.at[first]),
            last=episode.last,
            raised=episode.raised if raised is None else max(raised, episode.raised),
            active=episode.active,
            evidence=[
                *(
                    quote(
                        s,
                        sorted({max(0, int(i[0]) - 5), int(i[0]), int(i[-1])}),
                        "goes beyond its limit",
                    )
                    for s, i in mine[:4]
                ),
                *([falls] if falls is not None else []),
            ],
            advice=(
                "Use the same precision, temperature, top_p and top_k on both sides.",
                "Recompute the log-probabilities of the sampler's tokens in the trainer.",
                "Synchronise weights before every rollout; check it after a resume.",
                "Cap importance weights at 2 to 3, or mask sequences beyond it.",
            ),
            alternatives=(
                Alternative(says="the ratio is one of whole sequences", check="the difference per token"),
                Alternative(says="rollouts are stale by design", check="policy versions between sampling and update"),
            ),
        )

    def _measured(self, run: Run, s: Series) -> Series:
        """Without ratios of 0 beside a difference of 0: no token was compared in that row."""
        if s.concept != "sampler_ratio" or s.values.all():
            return s
        return s.where((s.values != 0) | (on_rows(run.get("mismatch"), s.at) != 0))

    def _of_tokens(self, run: Run, mine: list[tuple[Series, NDArray[np.int64]]]) -> int | None:
        """First row at which tokens are known to differ, or nothing tells; None where only the ratio of whole sequences is off.

        A ratio off 1 beside a small difference per token is a product over many tokens.
        """
        token = run.get("mismatch")
        if token is None or token.unit != Unit.NATS_PER_TOKEN:
            return int(mine[0][0].at[mine[0][1][0]])
        token = token.finite()
        rows: list[int] = []
        for s, i in mine:
            at = s.at[i]
            rows += (at[~(on_rows(token, at) < self.logp)] if s.concept == "sampler_ratio" else at)[:1].tolist()
        return min(rows, default=None)

    def _began(self, s: Series, i: int) -> int:
        """First of the values that carry the median at position `i`: single values half as far from the past as that one."""
        usual = float(np.median(s.values[max(0, i - 14) : max(1, i - 4)]))
        far = np.abs(s.values[max(0, i - 4) : i + 1] - usual) > 0.5 * abs(float(s.values[i]) - usual)
        return max(0, i - 4) + int(np.argmax(far)) if i >= 3 and far.any() else i

    def _shape(self, s: Series, i: int) -> str:
        """How it came about, which tells implementation from drift from synchronisation."""
        if i <= 2:
            return said("from the first row on")
        before = s.values[max(0, i - 10) : max(1, i - 2)]
        calm = abs(float(np.median(before)))
        sudden = abs(float(s.values[i])) > 3 * max(calm, 1e-12)
        return said("from one row on") if sudden else said("grown to it")
