"""Restarts, resumes and counters that begin again, on hand-made steps."""

from __future__ import annotations

import numpy as np
import pytest

from holter.runs.segments import counted_on, out_of_order, restarts, segments, shares_steps


def floats(*values):
    return np.array(values, np.float64)


def rows(*values):
    return np.array(values, np.int64)


def every(steps):
    return [np.arange(len(steps))]


def test_steps_that_rise_have_no_restart():
    steps = floats(1, 2, 2, 5)
    assert restarts(steps, every(steps)) == []
    assert [(s.first, s.end) for s in segments(steps, every(steps))] == [(0, 4)]


def test_a_sparse_metric_that_goes_back_alone_is_no_restart():
    steps = floats(1, 2, 3, 4, 5, 6, 2, 7)
    dense, late = rows(0, 1, 2, 3, 4, 5, 7), rows(2, 6)
    assert restarts(steps, [dense, late]) == []


def test_a_resume_voids_what_it_replaces_and_nothing_else():
    steps = floats(10, 20, 30, 40, 25, 35, 45)
    (part,) = segments(steps, every(steps))
    assert part.resumes == (4,)
    assert part.void.tolist() == [False, False, True, True, False, False, False]


def test_two_resumes_void_what_each_replaces():
    steps = floats(1, 2, 3, 4, 3, 4, 5, 2, 3)
    (part,) = segments(steps, every(steps))
    assert part.resumes == (4, 7)
    assert steps[~part.void].tolist() == [1, 2, 3]
    assert np.flatnonzero(~part.void).tolist() == [0, 7, 8]


def test_falling_back_to_the_first_step_or_below_begins_another_run():
    steps = floats(5, 6, 7, 5, 6, 1, 2)
    parts = segments(steps, every(steps))
    assert [(p.first, p.end) for p in parts] == [(0, 3), (3, 5), (5, 7)]


def test_steps_in_no_order_have_no_restart():
    steps = floats(5, 1, 4, 2, 3)
    assert out_of_order(steps, every(steps))
    assert restarts(steps, every(steps)) == []


def test_many_short_runs_are_in_order():
    steps = floats(1, 2, 1, 2, 1, 2)
    assert not out_of_order(steps, every(steps))
    assert len(segments(steps, every(steps))) == 3


@pytest.mark.parametrize(
    ("steps", "shared"),
    [((0, 0, 0, 0), True), ((1, 1, 1, 2, 2, 2), True), ((1, 2, 2, 3), False), ((1, 1), False), ((), False)],
)
def test_a_counter_that_most_rows_share_numbers_nothing(steps, shared):
    assert shares_steps(floats(*steps), every(steps)) is shared


def test_counter_that_falls_while_the_epoch_rises_is_counted_on():
    steps, epochs = floats(0, 10, 20, 0, 10, 20, 0), floats(0, 0, 0, 1, 1, 1, 2)
    assert counted_on(steps, epochs, every(steps)).tolist() == [0, 10, 20, 30, 40, 50, 60]


def test_counter_that_falls_with_the_epoch_is_not():
    steps, epochs = floats(1, 2, 3, 2, 3), floats(0.1, 0.2, 0.3, 0.2, 0.3)
    assert counted_on(steps, epochs, every(steps)) is None
    assert counted_on(steps, None, every(steps)) is None
    assert counted_on(floats(1, 2, 3), floats(0, 1, 2), every((1, 2, 3))) is None


def test_a_resume_that_the_log_tells_of_is_no_second_run_even_from_the_first_step():
    steps = floats(1, 2, 3, 1, 2)
    assert len(segments(steps, every(steps))) == 2
    (only,) = segments(steps, every(steps), (3,))
    assert (only.first, only.end, only.resumes) == (0, 5, (3,))
    assert only.void.tolist() == [True, True, True, False, False]


def test_a_log_that_tells_of_no_resume_has_none():
    steps = floats(1, 2, 3, 1, 2)
    (only,) = segments(steps, every(steps), ())
    assert only.resumes == ()
    assert not only.void.any()


def test_steps_too_large_to_be_counted_on_are_left_as_they_are():
    steps, epochs = floats(0, 1.7e308, 0, 1), floats(-1, -1, 0, 0)
    assert counted_on(steps, epochs, every(steps)) is None


def test_a_counter_that_must_not_repeat_is_refused_by_the_first_repeat():
    """Two rows of a trainer whose epochs are rounded to the same number are two rows."""
    assert shares_steps(floats(0.02, 0.02), every([0, 0]), most=0.0)
    assert not shares_steps(floats(0.02, 0.03), every([0, 0]), most=0.0)
    assert not shares_steps(floats(5, 5), every([0, 0]))
