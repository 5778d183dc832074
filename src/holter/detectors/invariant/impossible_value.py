"""A metric has a value that it cannot have by its definition.

## Why it matters
A fraction of 31, a negative entropy or a k3 estimate below zero is a fault of the measurement, not of the run.
Everything that is concluded from such a metric is wrong, and the same bug often sits in the loss.

## When it fires
A finite value lies outside the range of its signal by more than rounding (`rounding` of the bound, at least
`rounding`): fractions and probabilities outside [0, 1], counts, lengths, times, losses of squares and standard
deviations below 0, an explained variance above 1, the estimators k2, k3 and |d| of a divergence below 0 (k1 may be
negative, and is not judged here). It is an info where the log's framework is not known, because the name may mean
something else, where a fraction may be a percentage, and for the utilisation of hardware. Under a name of one's own, values
that are percentages throughout are percentages, and no finding.

## What to do
- Look at the definition in the framework's code, above all at masks, at sums taken for means, and at signs.
- Look for the same expression in the loss.
- If it is a percentage: log a fraction.

## When it is wrong
A metric of your own that happens to bear a known name.

## References
Schulman, ["Approximating KL Divergence"](http://joschu.net/blog/kl-approx.html) (2020): k2 and k3 are never negative,
k1 may be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, limit, number, quote
from holter.dialects.base import Fit
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.signals.base import Estimator, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run, Series

DIVERGENCES = ("ref_kl", "policy_kl")
OF_THE_MACHINE = ("mfu", "tflops", "time_wait_fraction", "memory_peak", "padding")
"""Concepts that speak of hardware: a utilisation above 1 comes from a wrong peak, and puts no run at stake."""
QUIET = 10
"""Values without the fault after which it counts as over."""


@dataclass(frozen=True, kw_only=True)
class ImpossibleValue(Detector):
    """HLT921."""

    name: ClassVar = "impossible-value"
    code: ClassVar = "HLT921"
    since: ClassVar = "0.1"
    says: ClassVar = "a metric has values that it cannot have"

    rounding: float = limit(1e-4, unit="1", help="tolerates values further outside the range", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Every series against the range of its signal."""
        for key in sorted(run.series):
            series = run.series[key]
            if series.concept != "axis" and series.fit is not Fit.PROXY and not series.derived:
                yield from self._range(run, series.finite())

    def _range(self, run: Run, series: Series) -> Iterator[Finding]:
        low, high = _bounds(series)
        x = series.values
        below = x < low - self.rounding * max(1.0, abs(low))
        above = x > high + self.rounding * max(1.0, abs(high))
        bad = np.flatnonzero(below | above)
        if not len(bad):
            return
        first, last = int(bad[0]), int(bad[-1])
        percent = (
            series.unit in (Unit.FRACTION, Unit.PROBABILITY)
            and bool((x >= 0).all())
            and 2 < float(np.median(x[x > 0])) <= 100 >= float(x.max())
        )
        guessed = run.dialect == "generic" or series.fit is not Fit.EXACT
        if percent and guessed:
            return
        harmless = guessed or percent or series.concept in OF_THE_MACHINE
        title = said(
            "{metric} is {value}: it cannot be below {bound}"
            if below[first]
            else "{metric} is {value}: it cannot be above {bound}",
            metric=series.metric,
            value=number(x[first]),
            bound=number(low if below[first] else high),
        )
        yield self.finding(
            Severity.INFO if harmless else Severity.WARNING,
            Confidence.CERTAIN if not guessed else Confidence.PATTERN,
            said("{title} (a percentage?)", title=title) if percent else title,
            run=run,
            first=int(series.at[first]),
            last=int(series.at[last]),
            active=len(series) - 1 - last < QUIET,
            evidence=[
                quote(
                    series,
                    sorted({first, last}),
                    said("{n} of {values} values are outside its range", n=len(bad), values=len(x)),
                )
            ],
            advice=(
                "Look at its definition in the framework's code: masks, sums taken for means, signs.",
                "Look for the same expression in the loss.",
            ),
            alternatives=(
                Alternative(says="a metric of your own under a known name", check="see what the code writes under it"),
            ),
        )


def _bounds(series: Series) -> tuple[float, float]:
    signal = series.signal
    low, high = signal.low, signal.high
    if signal.concept in DIVERGENCES:
        low = 0.0 if series.estimator is not None and series.estimator.never_negative else float("-inf")
    if signal.concept == "entropy" and series.estimator is Estimator.MONTE_CARLO:
        low = float("-inf")  # older TRL counts padding as -1, which is odd and well known
    return low, high
