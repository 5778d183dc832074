"""What must hold of every detector, whatever the numbers; a new detector is found through the registry and tested at once.

The properties are those of `holter.testing`, to which detectors of other packages are held as well.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holter.detectors.registry import all_detectors
from holter.readers.base import Source
from holter.runs.canonical import canonical
from holter.runs.load import logs_of
from holter.simulation.conditions import FAMILIES
from holter.simulation.faults import FAULTS
from holter.simulation.run import simulate
from holter.testing.drawn import MADE, run_from
from holter.testing.properties import (
    agrees_live,
    ignores_strangers,
    leaves_the_run_alone,
    scales_with_steps,
    shows_what_it_says,
    warns_since_it_says,
)

from .strategies import FAST, runs

SHARED = Path(__file__).parents[3] / "shared"
DETECTORS = pytest.mark.parametrize("cls", all_detectors().values(), ids=lambda d: d.name)


@DETECTORS
@FAST
@given(data=st.data())
def test_never_crashes_and_says_only_what_it_can_show(cls, data):
    assert not shows_what_it_says(cls, data.draw(runs(cls)))


@DETECTORS
@FAST
@given(data=st.data())
def test_live_and_afterwards_agree(cls, data):
    assert not agrees_live(cls, data.draw(runs(cls)))


@DETECTORS
@FAST
@given(data=st.data())
def test_a_warning_was_one_when_it_claims_to_have_been_raised(cls, data):
    assert not warns_since_it_says(cls, data.draw(runs(cls)))


@DETECTORS
@FAST
@given(data=st.data())
def test_scaling_the_step_axis_changes_nothing_but_steps(cls, data):
    assert not scales_with_steps(cls, data.draw(runs(cls)))


@DETECTORS
@FAST
@given(data=st.data())
def test_order_of_columns_and_unknown_columns_change_nothing(cls, data):
    assert not ignores_strangers(cls, data.draw(runs(cls)))


@DETECTORS
@FAST
@given(data=st.data())
def test_leaves_the_run_alone_and_says_the_same_again(cls, data):
    assert not leaves_the_run_alone(cls, data.draw(runs(cls)))


@pytest.mark.parametrize(("algorithm", "fault", "family"), MADE)
def test_made_runs_are_judged_alike_live_and_afterwards(algorithm, fault, family):
    run = run_from(simulate(algorithm, fault, family=family, rows=100, seed=7))
    steps = run.steps[6::19].tolist()
    assert not [
        complaint
        for cls in all_detectors().values()
        for complaint in [*shows_what_it_says(cls, run), *agrees_live(cls, run, steps), *warns_since_it_says(cls, run)]
    ]


@pytest.mark.parametrize("fault", FAULTS)
def test_warnings_of_planted_faults_were_ones_when_they_claim_to_have_been_raised(fault):
    families = list(FAMILIES)
    family = families[list(FAULTS).index(fault) % len(families)]
    made = [simulate(a, fault, family=family, rows=120, seed=3) for a in FAULTS[fault].algorithms]
    assert not [c for m in made for cls in all_detectors().values() for c in warns_since_it_says(cls, run_from(m))]


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["runs/trl", "runs/synthetic", "cases"])
def test_warnings_of_labelled_runs_were_ones_when_they_claim_to_have_been_raised(folder):
    logs = sorted((SHARED / folder).glob("*/log*.jsonl"))
    if not logs:
        pytest.skip(f"{folder} is not here")
    found = [run for path in logs for log in logs_of(Source.of(path)) for run in canonical(log)]
    assert not [c for run in found for cls in all_detectors().values() for c in warns_since_it_says(cls, run)]
