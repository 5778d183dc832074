"""Runs for property tests: a few rows of wild numbers in the columns that a detector reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from holter.runs.build import run_of
from holter.testing.drawn import CELLS, CONFIGS, MOST_ROWS, keys_of

if TYPE_CHECKING:
    from holter.detectors.base import Detector
    from holter.runs.run import Run

FAST = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
"""Few examples and no shrinking: every detector is drawn for, and shrinking a table takes minutes."""

CELL = st.sampled_from(CELLS)
"""One choice a cell: a strategy of floats would spend most of the time on drawing."""


@st.composite
def runs(draw: st.DrawFn, detector: type[Detector]) -> Run:
    """A run of up to `MOST_ROWS` rows in the columns of `detector`; columns may repeat one value throughout."""
    keys = keys_of(detector)
    n = draw(st.integers(0, MOST_ROWS))
    rows = draw(st.lists(st.tuples(*[CELL] * len(keys)), min_size=n, max_size=n))
    columns = {k: [row[i] for row in rows] for i, k in enumerate(keys)}
    for key in draw(st.sets(st.sampled_from(keys), max_size=3)):
        columns[key] = [draw(CELL)] * len(rows)
    steps = [100.0 + 10 * i for i in range(len(rows))]
    return run_of(steps, columns, config=draw(st.sampled_from(CONFIGS)))
