"""How many completions stand behind a row: what a count of EOS tokens is held against."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.statistics.alignment import on_rows
from holter.runs.hyperparameters import hyperparameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run, Series


def episodes_per_row(run: Run, series: Series) -> NDArray[np.float64]:
    """Completions behind each row of `series`: what the episode counter gained; NaN where it cannot be told."""
    counter = run.series.get("episode")
    fixed = hyperparameter(run, "batch_episodes")
    if counter is None or (len(counter) < 2 and fixed is not None):
        return np.full(len(series), np.nan if fixed is None else fixed)
    gained = np.diff(counter.values, prepend=np.nan)
    gained[0] = counter.values[0] if counter.steps[0] == 1 else np.nan
    return on_rows(replace(counter, values=gained), series.at)
