"""Phases of a run."""

import itertools

from holter.findings.diagnosis import diagnose
from holter.findings.diagnosis.movement import movements
from holter.findings.diagnosis.phases import _once, span_text
from holter.language import said
from holter.runs.build import run_of


def test_phases_tile_the_run():
    kl = [0.01 * i for i in range(60)] + [0.6 + 0.5 * i for i in range(40)]
    run = run_of([10 * i for i in range(100)], {"kl": kl, "reward": [0.01 * i for i in range(100)]})
    phases = diagnose(run).phases
    assert phases[0].first_step == 0
    assert phases[-1].last_step == 990
    for one, other in itertools.pairwise(phases):
        assert other.first_step == one.last_step + 10
        assert (one.status, one.title) != (other.status, other.title)


def test_a_run_without_rows_has_no_phases():
    assert diagnose(run_of([], {})).phases == ()


def test_noise_is_no_movement():
    wiggle = [0.5 + 0.1 * (-1) ** i for i in range(40)]
    moved = list(movements(run_of(list(range(40)), {"reward": wiggle}), 0, 39))
    assert [m.direction for m in moved] == [0]


def test_short_parts_move_only_when_every_step_does():
    run = run_of([1, 2, 3, 4], {"reward": [1.0, 2.0, 3.0, 4.0], "entropy": [2.0, 1.5, 1.6, 1.0]})
    assert {m.metric: m.direction for m in movements(run, 0, 3)} == {"reward": 1, "entropy": 0}


def test_a_clause_that_another_one_says_is_not_said_again():
    clauses = [said("the KL runs away"), said("the KL runs away and the reward collapses"), said("the loss rises")]
    assert _once(clauses) == clauses[1:]
    assert _once([clauses[0], clauses[0]]) == [clauses[0]]


def test_spans_read_well():
    assert span_text(3.0, 3.0) == "step 3"
    assert span_text(1000.0, 3000.0) == "steps 1000-3000"
    assert span_text(0.25, 0.5) == "steps 0.25-0.5"
