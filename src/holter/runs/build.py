"""A run from columns held in memory, under canonical keys: for tests, case files, and callers with their own loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.dialects.base import Fit
from holter.discovery import unknown_name
from holter.runs.derive import derived
from holter.runs.run import Run, Series, signal_of
from holter.signals import catalog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def run_of(
    steps: Sequence[float],
    columns: Mapping[str, Sequence[float | None]],
    *,
    config: Mapping[str, object] | None = None,
    name: str = "run",
) -> Run:
    """A run from columns that share their steps; None is an absent value, NaN a logged one.

    Args:
        steps: Strictly increasing. Length ``n``.
        columns: Values by canonical key, ``eval/`` before it for evaluation series. Each of length ``n``.
        config: Hyper-parameters.
        name: What to call it.

    Raises:
        UnknownNameError: For a key that is in no catalog.
    """
    at_steps = np.asarray(steps, np.float64)
    series = {}
    for key, column in columns.items():
        found = signal_of(key)
        if found is None:
            raise unknown_name("signal", key, catalog.catalog())
        signal, labels, split = found
        at = np.asarray([i for i, v in enumerate(column) if v is not None], np.int64)
        series[key] = Series(
            key=key,
            metric=key,
            signal=signal,
            split=split,
            labels=labels,
            unit=signal.unit,
            estimator=signal.estimator,
            reduction=signal.reduction,
            fit=Fit.EXACT,
            at=at,
            steps=at_steps[at],
            values=np.asarray([v for v in column if v is not None], np.float64),
        )
    return Run(
        name=name,
        path=name,
        dialect="canonical",
        step_axis="step",
        steps=at_steps,
        series={**series, **derived(series)},
        config=dict(config or {}),
    )
