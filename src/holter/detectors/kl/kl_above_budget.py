"""KL to the reference policy stays above what the run was given, or above what is ever useful.

## Why it matters
A KL target is a budget: beyond it the controller was meant to pull the policy back. Without a target there is still a
level above which the text has little in common with the reference: one nat a token multiplies the probability of
every token by e.

## When it fires
With a KL target in the configuration: the median of ten values lies above `over` times the target for ten values, after
the first 20. Without one: the median of five values lies above `level_token` or `level_sequence`, whichever unit the
log uses, and above `growth` times its level at the start, five values running. In the first five values, where a median
says little, a single value of `single` times that level is a "pattern", as are two running in the first twelve that lie
above the level and `growth` times the first value; information once KL is back below the level. It is critical when
another signal (reward, held-out score, size of the updates, the text itself) changes for the worse with it. Where neither
the framework nor the name says whether the KL is a mean per token or a sum over the completion, it is information below
`ordinary_sequence`, unless another signal changes for the worse with it.

## What to do
- Read completions at the flagged step: is the text still of the kind you want?
- Compare a held-out score at this step with its best; stop at the best.
- Raise the KL coefficient 2 to 5 times, lower the learning rate, or set a KL target.

## When it is wrong
Nats a sequence grow with the length of the completions at the same nats a token. A k3 estimate can be carried by a
few tokens. A run without a KL penalty may be meant to go far; then only the held-out score can judge.

## References
Ziegler et al., ["Fine-Tuning Language Models from Human Preferences"](https://arxiv.org/abs/1909.08593) (2019): KL
targets and the controller. TRL's guide to PPO calls 0 to 10 nats a sequence ideal. [Gao et al.
(2022)](https://arxiv.org/abs/2210.10760) for what follows beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.corroboration import agreeing
from holter.detectors.statistics.episodes import Episode, episodes, persist
from holter.detectors.statistics.rolling import trailing_median
from holter.detectors.statistics.snapshots import FEW
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.hyperparameters import kl_target
from holter.runs.kl_unit import is_open
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

SHORT = 5


@dataclass(frozen=True, kw_only=True)
class KLAboveBudget(Detector):
    """HLT202."""

    name: ClassVar = "kl-above-budget"
    code: ClassVar = "HLT202"
    since: ClassVar = "0.1"
    says: ClassVar = "the policy is farther from the reference than its budget allows"
    explains: ClassVar = ("reward-hacking", "eval-declines", "reward-collapse", "reward-decline", "kl-bought-nothing")
    needs: ClassVar = (Need(concepts=("ref_kl",), log="the KL to the reference (beta or kl_coef above 0)"),)
    uses: ClassVar = ("reward", "reward_spread", "policy_kl", "clip_fraction", "grad_norm", "truncation", "entropy")

    over: float = limit(1.5, unit="x", help="lets KL overshoot its target further", low=1.0)
    level_token: float = limit(1.0, unit="nats/token", help="lets KL grow further without a target", low=0.0)
    level_sequence: float = limit(30.0, unit="nats/sequence", help="lets KL grow further without a target", low=0.0)
    ordinary_sequence: float = limit(
        10.0, unit="nats/sequence", help="KL of unknown unit: warns of larger values only", low=0.0
    )
    growth: float = limit(4.0, unit="x", help="ignores runs that began far from the reference", low=1.0)
    single: float = limit(10.0, unit="x", help="first five values: needs a larger multiple of the level", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Against the target where there is one, else against the level of the unit."""
        series = run.get("ref_kl")
        assert series is not None
        kl = series.finite()
        target = kl_target(run)
        level = self.level_sequence if kl.unit == Unit.NATS_PER_SEQUENCE else self.level_token
        if target is not None:
            budget = said("the target {target}", target=number(target))
            held = self._over_target(kl.values, target)
            yield from self._say(run, kl, held, np.zeros_like(held), budget, target, unit_is_open=False)
        else:
            budget = said("{level} {unit}", level=number(level), unit=kl.unit)
            held = self._over_level(kl.values, level)
            early = self._early(kl.values, level)
            yield from self._say(run, kl, held, early, budget, level, unit_is_open=is_open(run, kl))

    def _over_target(self, values: NDArray[np.float64], target: float) -> NDArray[np.bool_]:
        over = trailing_median(values, 10, least=10) > self.over * target
        over[: min(20, len(over))] = False
        return persist(over, 10, 10)

    def _over_level(self, values: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
        middle = trailing_median(values, 5, least=3)
        start = float(np.median(values[:3])) if len(values) >= 3 else np.inf
        with np.errstate(invalid="ignore"):
            return persist((middle > level) & (middle > self.growth * start), 5, 5)

    def _early(self, values: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
        """What the first values alone show: one far above the level, or two above it running. Shape of `values`."""
        out = np.zeros(len(values), bool)
        first = values[:FEW]
        out[: len(first)] = persist((first > level) & (first > self.growth * first[:1]), 2, 2)
        out[:SHORT] |= values[:SHORT] > self.single * level
        return out

    def _say(
        self,
        run: Run,
        kl: Series,
        held: NDArray[np.bool_],
        early: NDArray[np.bool_],
        budget: str,
        level: float,
        *,
        unit_is_open: bool,
    ) -> Iterator[Finding]:
        for episode in episodes(held | early):
            i = episode.raised
            first = i
            while first > 0 and kl.values[first - 1] > level and i - first < 20:
                first -= 1
            agree = agreeing(run, max(int(kl.at[first]) - 1, 0), int(kl.at[episode.last]))[:3]
            worst = float(np.max(kl.values[first : episode.last + 1]))
            pattern = not held[i : episode.last + 1].any()
            back = pattern and float(kl.values[-1]) < level
            severity = Severity.CRITICAL if agree and not pattern else Severity.WARNING
            may_be_sum = unit_is_open and worst < self.ordinary_sequence
            if back or (not agree and (may_be_sum or not episode.active)):
                severity = Severity.INFO
            alarm = self._alarm(run, kl, first, episode) if unit_is_open and severity is not Severity.INFO else i
            yield self.finding(
                severity,
                Confidence.PATTERN if pattern else Confidence.STRONG if agree else Confidence.MODERATE,
                said(
                    "{metric} rises to {worst}: far for a mean per token, ordinary for a sum over the completion"
                    if may_be_sum and severity is Severity.INFO
                    else "{metric} is above {budget}: {value}, up to {worst}"
                    if worst > kl.values[i]
                    else "{metric} is above {budget}: {value}",
                    metric=kl.metric,
                    budget=budget,
                    value=number(float(kl.values[i])),
                    worst=number(worst),
                ),
                run=run,
                first=int(kl.at[first]),
                last=int(kl.at[episode.last]),
                raised=int(kl.at[alarm]),
                active=episode.active and not back,
                evidence=[
                    quote(
                        kl,
                        sorted({0, first, i, episode.last}),
                        said("stays above {budget}", budget=budget),
                    ),
                    *agree,
                ],
                advice=(
                    "Read completions of this step beside some from the beginning.",
                    "Compare a held-out score at this step with its best, and stop at the best.",
                    "Raise the KL coefficient 2 to 5 times, lower the learning rate, or set a KL target.",
                ),
                alternatives=_alternatives(kl, may_be_sum=may_be_sum),
            )

    def _alarm(self, run: Run, kl: Series, first: int, episode: Episode) -> int:
        """Position from which a KL of unknown unit is far in either unit, or another signal says so; by halving the stretch."""
        low, high = episode.raised, episode.last
        while low < high:
            middle = (low + high) // 2
            far = float(np.max(kl.values[first : middle + 1])) >= self.ordinary_sequence
            if far or agreeing(run, max(int(kl.at[first]) - 1, 0), int(kl.at[middle])):
                high = middle
            else:
                low = middle + 1
        return low


def _alternatives(kl: Series, *, may_be_sum: bool) -> list[Alternative]:
    if kl.unit == Unit.NATS_PER_SEQUENCE:
        return [Alternative(says="the completions became longer", check="KL divided by the mean length")]
    summed = Alternative(
        says="the KL is summed over the completion, where such values are ordinary", check="how the KL is reduced"
    )
    return [
        *([summed] if may_be_sum else []),
        Alternative(
            says="a few outlier tokens carry a k3 estimate", check="the median of the per-token KL, its maximum"
        ),
    ]
