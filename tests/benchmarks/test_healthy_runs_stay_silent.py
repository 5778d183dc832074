"""A regression guard, not a measurement: a sample of healthy runs, made and labelled, must stay nearly silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from holter.simulation.conditions import FAMILIES
from labelled import made
from labelled.judged import judged
from labelled.logs import SETS, labels

SHARED = Path(__file__).parents[3] / "shared"
RUNS = 8 * len(FAMILIES)
ACCUSED = 0.03
"""Share of healthy runs that may be accused. Measured on 1,000 of them: `docs/accuracy.md`."""


@pytest.mark.slow
def test_healthy_made_runs_are_seldom_accused():
    verdicts = [judged(recipe) for recipe in made.healthy(RUNS)]
    assert not [v.error for v in verdicts if v.error]
    accused = {v.label.id: sorted({s.detector for s in v.warnings()}) for v in verdicts if v.flagged}
    assert len(accused) <= ACCUSED * RUNS, accused


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_labelled_healthy_runs_are_not_accused(name):
    found = labels(SHARED, name)
    if found is None:
        pytest.skip(f"{name} is not here")
    verdicts = [judged(label) for label in found if label.healthy]
    assert verdicts
    assert not {v.label.id: sorted({s.detector for s in v.warnings()}) for v in verdicts if v.flagged}
