"""Zeros that are roundings: the log was printed with few digits.

## Why it matters
A console line with three digits shows a learning rate of 1e-6 as 0.000 and a KL of -3e-5 as -0.000. Neither is zero,
and a monitor that takes them at their word finds a dead run.

## When it fires
`share` of all values of the metrics that stay below 1 are whole multiples of 0.001 (or 0.0001), and a learning rate, a
KL or a loss is 0 among them while other metrics move.

## What to do
- Read the tracker's or the trainer's own files rather than the console; they hold all digits.

## When it is wrong
Counts out of a thousand look the same; they carry no learning rate.

## References
verl prints with three digits; transformers rounds the loss to four.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.findings.finding import Confidence, Severity
from holter.language import listed, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

TINY = ("lr", "critic_lr", "ref_kl", "policy_kl", "policy_loss", "total_loss", "kl_loss")
"""Concepts whose usual size is below what a console prints."""
STEPS = (1e-3, 1e-4)


@dataclass(frozen=True, kw_only=True)
class PrintedZero(Detector):
    """HLT956."""

    name: ClassVar = "printed-zero"
    code: ClassVar = "HLT956"
    since: ClassVar = "0.1"
    says: ClassVar = "zeros in this log are roundings"
    needs: ClassVar = (Need(concepts=TINY, log="a learning rate, a KL or a loss"),)

    share: float = limit(0.99, unit="fraction of values", help="needs a more regular log", low=0.5, high=1.0)
    values: int = limit(8, unit="values", help="needs more values to tell", low=3)

    def check(self, run: Run) -> Iterator[Finding]:
        """A grid that all values lie on, and a zero where a small number belongs."""
        zeros = [s for c in TINY for s in run.all(c) if bool((s.values == 0).any())]
        step = self._grid(run)
        if not zeros or step is None:
            return
        series = zeros[0]
        at = np.flatnonzero(series.values == 0)
        yield self.finding(
            Severity.INFO,
            Confidence.STRONG,
            said(
                "0 in {metrics} means below {half}: this log was printed in steps of {step}",
                metrics=listed(s.metric for s in zeros[:3]),
                half=number(step / 2),
                step=number(step),
            ),
            run=run,
            first=int(series.at[at[0]]),
            last=int(series.at[at[-1]]),
            evidence=[quote(s, [int(np.flatnonzero(s.values == 0)[0])], "printed as 0") for s in zeros[:3]],
            advice=("Read the tracker's or the trainer's own files: they hold all digits.",),
        )

    def _grid(self, run: Run) -> float | None:
        """The printed step, when nearly all small values are multiples of it and enough of them are not 0."""
        small = [_small(s) for s in run.series.values() if s.concept != "axis"]
        values = np.concatenate(small) if small else np.empty(0)
        if len(values) < self.values:
            return None
        for step in STEPS:
            on_it = np.abs(values / step - np.round(values / step)) < 1e-6
            if on_it.mean() >= self.share:
                return step
        return None


def _small(series: Series) -> NDArray[np.float64]:
    x = series.values[np.isfinite(series.values)]
    small: NDArray[np.float64] = x[(np.abs(x) < 1) & (x != 0)]
    return small
