"""There is something to learn from, and the policy stays exactly where it is.

## Why it matters
Rewards differ within groups, a gradient is computed, and no weight moves: a frozen parameter set, an optimiser that
never steps, updates that rounding swallows. The reward curve looks like "no learning", and no hyper-parameter helps.

## When it fires
Where rewards show a signal (a spread above zero, not every group tied), or say nothing about it:
- gradient norm and KL are exactly 0 from the first row on although groups are known to differ in their rewards: some
  advantages are not 0, so the gradient is lost on the way. One row proves it; critical;
- KL to the reference is exactly 0 in every one of `rows` rows or more after the first, with a gradient above 0;
- KL stays below `tiny_token` nats a token or `tiny_sequence` nats a sequence over `flat` rows and does not grow
  (updates smaller than the rounding of 16-bit weights), at a learning rate above 0;
- the approximate KL of an update stays below `nothing`, and KL to the reference, where it is logged, does not grow; in one
  row where neither that KL nor a ratio of exactly 1 stands beside it, else in `rows` rows.
Numbers that a console prints with three decimals or fewer are never taken for zero. A KL to the reference of 0 is a
placeholder, and no finding, where the updates themselves have a size: an approximate KL above `size` or a share of clipped
tokens above `clipped` in three rows. OpenRLHF, for one, writes 0 where no reference model is loaded.

## What to do
- Compare a weight before and after a step; check `requires_grad` and that the optimiser holds the trained parameters.
- Keep fp32 master weights, or use stochastic rounding: at learning rate 1e-6 a bf16 weight does not change.
- Check that gradient accumulation ever reaches its step, and that no step is skipped (loss scaler, overflow).

## When it is wrong
One update per batch of samples gives approximate KL 0 and ratio 1 by construction; only the KL to the reference tells
then. A KL of 0 that is written where no reference is loaded, in a log that has neither approximate KL nor clipping.

## References
[modelscope/ms-swift issues 5571](https://github.com/modelscope/ms-swift/issues/5571) and
[5890](https://github.com/modelscope/ms-swift/issues/5890) (a DeepSpeed version), [mlx-lm-lora issue
55](https://github.com/Goekdeniz-Guelmez/mlx-lm-lora/issues/55), [EchoInk-R1 issue
4](https://github.com/HarryHsing/EchoInk/issues/4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.alignment import on_rows
from holter.detectors.statistics.rolling import trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.structure import print_resolution
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run, Series

UPDATES = 3
"""Updates with a size that prove that weights move: rounding between two engines may give one or two by chance."""
ALL_CUT = 0.99
"""Share of cut completions from which on a mask over them leaves nothing to learn from."""


@dataclass(frozen=True, kw_only=True)
class PolicyNotUpdating(Detector):
    """HLT507."""

    name: ClassVar = "policy-not-updating"
    code: ClassVar = "HLT507"
    since: ClassVar = "0.1"
    says: ClassVar = "the policy does not move"
    explains: ClassVar = ("no-learning", "gradient-zero")
    needs: ClassVar = (
        Need(concepts=("ref_kl", "policy_kl"), log="the KL to the reference or the approximate KL of an update"),
    )
    uses: ClassVar = ("grad_norm", "lr", "reward_spread", "zero_std_groups", "truncation", "ratio", "clip_fraction")

    rows: int = limit(10, unit="rows", help="needs more rows of exact zeros", low=3)
    flat: int = limit(40, unit="rows", help="needs more rows of a tiny KL", low=20)
    tiny_token: float = limit(1e-4, unit="nats/token", help="calls a larger KL tiny", low=0.0)
    tiny_sequence: float = limit(0.02, unit="nats/sequence", help="calls a larger KL tiny", low=0.0)
    nothing: float = limit(1e-10, unit="nats/token", help="calls a larger approximate KL nothing", low=0.0)
    size: float = limit(
        1e-4, unit="nats/token", help="a KL of 0: takes only larger approximate KLs for a movement", low=0.0
    )
    clipped: float = limit(1e-3, unit="fraction", help="a KL of 0: takes only more clipping for a movement", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Exact zeros, KL that never grows, updates of no size; the first that holds."""
        if print_resolution(run) > 0:
            return
        kl, step = run.get("ref_kl"), run.get("policy_kl")
        kl = kl.finite() if kl is not None else None
        step = step.finite() if step is not None else None
        for found in (
            self._detached(run, kl if kl is not None else step),
            self._frozen(run, kl),
            self._flat(run, kl),
            self._no_step(run, kl, step),
        ):
            if found is not None:
                yield found
                return

    def _signal(self, run: Run, row: int) -> bool:
        """Whether the rewards up to a row gave something to learn from, or no signal says that they did not."""
        groups, spread = run.get("zero_std_groups"), run.get("reward_spread")
        if groups is not None:
            seen = groups.values[(groups.at <= row) & np.isfinite(groups.values)]
            return bool(len(seen)) and float(np.median(seen)) < 0.9
        if spread is not None:
            seen = spread.values[(spread.at <= row) & np.isfinite(spread.values)]
            return bool(len(seen)) and float(np.median(seen)) > 0
        return True

    def _moved(self, run: Run, row: int) -> bool:
        """Whether a gradient above 0 was logged up to a row, or none is logged."""
        grad = run.get("grad_norm")
        if grad is None:
            return True
        seen = grad.values[(grad.at <= row) & np.isfinite(grad.values)]
        return bool(len(seen)) and float(np.median(seen)) > 0

    def _detached(self, run: Run, kl: Series | None) -> Finding | None:
        """Groups differ, so advantages do, and yet gradient and KL are exactly 0: arithmetic, for which one row is enough."""
        grad, groups = run.get("grad_norm"), run.get("zero_std_groups")
        if kl is None or grad is None or groups is None:
            return None
        grad = grad.finite()
        if not len(grad) or not len(kl) or grad.values[0] or kl.values[0] or groups.upto(grad.at[:1])[0] < 0:
            return None
        moved = np.flatnonzero(grad.values), np.flatnonzero(kl.values)
        last = min(
            int(moved[0][0]) - 1 if len(moved[0]) else len(grad) - 1,
            int(np.searchsorted(grad.at, kl.at[moved[1][0]])) - 1 if len(moved[1]) else len(grad) - 1,
        )
        share = float(groups.values[groups.upto(grad.at[:1])[0]])
        lr, cut = run.get("lr"), on_rows(run.get("truncation"), grad.at[:1])[0]
        # A trainer that leaves cut completions out of the loss has no gradient when all are cut, and rightly so.
        if last < 0 or not share < 0.9 or cut >= ALL_CUT or (lr is not None and not lr.values[0] > 0):
            return None
        return self._say(
            run,
            grad,
            said(
                "{gradient} and {kl} are exactly 0 although {share} % of the groups have rewards that differ: the gradient is "
                "lost between the loss and the weights",
                gradient=grad.metric,
                kl=kl.metric,
                share=number(100 * (1 - share)),
            ),
            raised=0,
            last=last,
            grave=last == len(grad) - 1,
            beside=[quote(kl, [0], "it is exactly 0"), quote(groups, [0], "not every group is tied")],
            certain=True,
        )

    def _frozen(self, run: Run, kl: Series | None) -> Finding | None:
        """KL exactly 0 although a gradient is there."""
        if kl is None or len(kl) < self.rows:
            return None
        streak = len(kl) if not kl.values.any() else int(np.argmax(kl.values != 0))
        streak = min(streak, int(np.searchsorted(kl.at, self._first_update(run))))
        row = int(kl.at[self.rows - 1])
        if streak < self.rows or not self._signal(run, row) or not self._moved(run, row):
            return None
        grad = run.get("grad_norm")
        if grad is None and run.get("lr") is None:
            return None
        return self._say(
            run,
            kl,
            said(
                "{metric} is exactly 0 in {n} rows although there is a gradient: the weights do not move",
                metric=kl.metric,
                n=streak,
            ),
            raised=self.rows - 1,
            last=streak - 1,
            grave=streak == len(kl),
            beside=[self._beside(grad, said("the gradient is there"))] if grad is not None else [],
        )

    def _first_update(self, run: Run) -> int:
        """Row by which three updates had a size that weights at rest do not give; the length of the run where none had."""
        rows = [len(run)]
        for concept, least in (("policy_kl", self.size), ("clip_fraction", self.clipped)):
            series = run.get(concept)
            sized = series.at[np.abs(series.values) > least] if series is not None else ()
            if len(sized) >= UPDATES:
                rows.append(int(sized[UPDATES - 1]))
        return min(rows)

    def _flat(self, run: Run, kl: Series | None) -> Finding | None:
        """KL at the level of rounding, not growing, over many rows."""
        if kl is None or len(kl) < self.flat:
            return None
        tiny = self.tiny_sequence if kl.unit == Unit.NATS_PER_SEQUENCE else self.tiny_token
        x = np.abs(kl.values[1:])
        middle = trailing_median(x, 10, least=10)
        early = float(np.median(x[:10]))
        top = float(np.max(x[: self.flat - 1]))
        end = self.flat - 2
        row = int(kl.at[self.flat - 1])
        if top > 5 * tiny or not middle[end] < tiny or middle[end] > 2 * early or not x[: end + 1].any():
            return None
        lr = run.get("lr")
        if not self._signal(run, row) or not self._moved(run, row):
            return None
        if lr is not None and not np.median(lr.values[lr.at <= row]) > 0:
            return None
        later = np.flatnonzero(middle > max(tiny, 2 * early))
        later = later[later > end]
        last = int(later[0]) if len(later) else len(x) - 1
        return self._say(
            run,
            kl,
            said(
                "{metric} stays at {level} {unit} and does not grow: the updates are lost",
                metric=kl.metric,
                level=number(float(np.median(x[: last + 1]))),
                unit=kl.unit,
            ),
            raised=self.flat - 1,
            last=last + 1,
            grave=False,
            beside=[self._beside(lr, said("the learning rate is not 0"))] if lr is not None else [],
        )

    def _no_step(self, run: Run, kl: Series | None, step: Series | None) -> Finding | None:
        """Updates whose approximate KL is rounding noise, from the first one on."""
        if step is None or not len(step):
            return None
        size = np.abs(step.values)
        streak = len(step) if (size < self.nothing).all() else int(np.argmax(size >= self.nothing))
        known = kl is not None and len(kl) > 0
        enough = self.rows if known or not size[:1].any() or self._on_policy(run, step) else 1
        if streak < enough or (not known and not size[0]):
            return None
        row = int(step.at[enough - 1])
        last, beside = streak - 1, []
        if kl is not None and known:
            tiny = self.tiny_sequence if kl.unit == Unit.NATS_PER_SEQUENCE else self.tiny_token
            moved = np.flatnonzero(np.abs(kl.values) > tiny)
            if len(moved) and kl.at[moved[0]] <= row:
                return None
            last = min(last, int(np.searchsorted(step.at, kl.at[moved[0]])) - 1) if len(moved) else last
            beside = [self._beside(kl, said("it has not moved from the reference either"))]
        if not self._signal(run, row):
            return None
        return self._say(
            run,
            step,
            said(
                "{metric} is {most} at most: updates of no size",
                metric=step.metric,
                most=number(float(np.max(size[: last + 1]))),
            ),
            raised=enough - 1,
            last=last,
            grave=bool(beside) and last == len(step) - 1,
            beside=beside,
        )

    def _on_policy(self, run: Run, step: Series) -> bool:
        """Whether the first row says that its ratio is exactly 1: one update per batch, whose approximate KL is 0 as well."""
        return bool(on_rows(run.get("ratio"), step.at[:1])[0] == 1.0)

    def _beside(self, series: Series, says: str) -> Evidence:
        return quote(series, range(min(3, len(series))), says)

    def _say(
        self,
        run: Run,
        series: Series,
        title: str,
        *,
        raised: int,
        last: int,
        grave: bool,
        beside: list[Evidence],
        certain: bool = False,
    ) -> Finding:
        active = last == len(series) - 1
        short = len(series) < self.rows and not certain
        severity = Severity.CRITICAL if grave else Severity.WARNING if active else Severity.INFO
        return self.finding(
            severity,
            Confidence.PATTERN if short else Confidence.CERTAIN if grave or certain else Confidence.STRONG,
            title,
            run=run,
            first=int(series.at[0]),
            last=int(series.at[last]),
            raised=int(series.at[raised]),
            active=active,
            evidence=[quote(series, sorted({0, raised // 2, raised, last}), "it does not move"), *beside],
            advice=(
                "Compare a weight before and after one optimiser step.",
                "Check requires_grad, and that the optimiser holds the parameters that are trained.",
                "Keep fp32 master weights: at a small learning rate a bf16 weight does not change.",
                "Check that no step is skipped: loss scaler, gradient accumulation.",
            ),
            alternatives=(
                Alternative(
                    says="one update per batch makes the approximate KL 0 by construction",
                    check="epochs and mini-batches per batch of samples",
                ),
                Alternative(says="the metric is a placeholder", check="whether a reference model is loaded"),
            ),
        )
