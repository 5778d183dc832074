"""Which of several series of one concept is asked first, and that later rows do not change it."""

from __future__ import annotations

import pytest

from holter.runs.canonical import canonical
from holter.runs.run import HEAD, Run

from .logs import log_of

ROWS = 60
BETTER, OTHER = "entropy", "policy/entropy_avg"


def run_of(begins: int) -> Run:
    """A log with one entropy throughout, and one of a better rank from a row on."""
    rows = [{"step": i, OTHER: 1.0 + i} | ({BETTER: 2.0 + i} if i >= begins else {}) for i in range(ROWS)]
    return canonical(log_of(rows), speaks="holter")[0]


def first(run: Run) -> str:
    series = run.get("entropy")
    assert series is not None
    return series.key


def test_of_two_that_are_there_from_the_start_the_rank_decides():
    assert first(run_of(0)) == BETTER


def test_a_few_rows_late_is_not_late():
    assert first(run_of(HEAD - 1)) == BETTER


def test_a_better_one_that_comes_late_does_not_take_over():
    assert first(run_of(HEAD)) == OTHER


@pytest.mark.parametrize("begins", [0, 1, HEAD - 1, HEAD, HEAD + 1, 50])
def test_what_is_asked_first_after_the_head_stays_so(begins: int):
    run = run_of(begins)
    assert len({first(run.until(step)) for step in range(HEAD, ROWS)}) == 1
