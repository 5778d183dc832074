from __future__ import annotations

import math

from tests.unit.readers.tensorboard import writing as w
from tests.unit.readers.tensorboard.reading import read, series, steps


def log_of(*points: tuple[str, int, float]):
    """A log of scalars in the order given, one record a scalar."""
    return read(
        w.VERSION
        + b"".join(w.record(w.event(s, w.simple(t, v), wall_time=1e9 + n)) for n, (t, s, v) in enumerate(points))
    )


def test_tags_that_share_a_step_share_a_row():
    log = log_of(("a", 1, 1.0), ("b", 1, 2.0), ("a", 2, 3.0), ("b", 2, 4.0))
    assert steps(log) == [1, 2]
    assert list(log.columns) == ["step", "wall_time", "a", "b"]
    assert log.columns["wall_time"].values.tolist() == [1e9, 1e9 + 2]
    assert log.columns["b"].values.tolist() == [2.0, 4.0]


def test_an_evaluation_that_arrives_late_joins_its_own_step():
    log = log_of(("a", 1, 1.0), ("a", 2, 2.0), ("a", 3, 3.0), ("eval", 1, 9.0), ("a", 4, 4.0))
    assert steps(log) == [1, 2, 3, 4]
    assert series(log, "eval") == [(1, 9.0)]
    assert log.columns["wall_time"].values.tolist() == [1e9, 1e9 + 1, 1e9 + 2, 1e9 + 4]


def test_tags_written_one_after_the_other_are_one_run():
    log = log_of(*(("a", s, s) for s in range(5)), *(("b", s, -s) for s in range(5)))
    assert steps(log) == [0, 1, 2, 3, 4]
    assert log.columns["b"].at.tolist() == [0, 1, 2, 3, 4]


def test_a_tag_that_repeats_a_step_has_a_row_for_each_value():
    log = log_of(("a", 1, 1.0), ("b", 1, 5.0), ("a", 1, 2.0), ("a", 2, 3.0), ("b", 2, 6.0))
    assert steps(log) == [1, 1, 2]
    assert series(log, "a") == [(1, 1.0), (1, 2.0), (2, 3.0)]
    assert log.columns["b"].at.tolist() == [0, 2]
    assert log.columns["wall_time"].values.tolist() == [1e9, 1e9 + 2, 1e9 + 3]


def test_a_resumed_run_keeps_what_was_logged_before_it():
    log = log_of(*(("a", s, 1.0) for s in range(1, 7)), *(("a", s, 2.0) for s in range(4, 9)))
    assert steps(log) == [1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8]
    assert [v for _, v in series(log, "a")] == [1.0] * 6 + [2.0] * 5


def test_what_comes_between_the_restart_and_the_first_tag_that_shows_it_belongs_to_the_restart():
    # "new" is logged before "a" after the restart and never went back itself.
    log = log_of(("a", 1, 1.0), ("a", 2, 1.0), ("a", 3, 1.0), ("new", 2, 7.0), ("a", 2, 2.0), ("a", 3, 2.0))
    assert steps(log) == [1, 2, 3, 2, 3]
    assert log.columns["new"].at.tolist() == [3]
    assert log.columns["a"].at.tolist() == [0, 1, 2, 3, 4]


def test_records_without_wall_time_have_none():
    some = w.record(w.event(1, w.simple("a", 1.0), wall_time=None)) + w.record(w.event(2, w.simple("a", 1.0)))
    times = read(some).columns["wall_time"].values
    assert math.isnan(times[0])
    assert times[1] == 1.7e9
    none = b"".join(w.record(w.event(s, w.simple("a", 1.0), wall_time=None)) for s in range(9))
    assert "wall_time" not in read(none).columns


def test_several_values_of_one_record_share_its_row():
    log = read(b"".join(w.record(w.event(s, w.simple("a", s), w.simple("b", -s))) for s in range(40)))
    assert steps(log) == list(range(40))
    assert series(log, "b") == [(s, float(-s)) for s in range(40)]


def test_one_tag_twice_in_one_record_makes_two_rows():
    log = read(b"".join(w.record(w.event(s, w.simple("a", s), w.simple("a", -s))) for s in range(1, 30)))
    assert steps(log) == [s for s in range(1, 30) for _ in range(2)]
    assert series(log, "a")[:4] == [(1, 1.0), (1, -1.0), (2, 2.0), (2, -2.0)]


def test_a_tag_that_two_records_of_one_step_share_has_both_values():
    def pair(s: int) -> bytes:
        return w.record(w.event(s, w.simple("a", s))) + w.record(w.event(s, w.simple("b", 0), w.simple("a", -s)))

    log = read(b"".join(pair(s) for s in range(1, 40)))
    assert series(log, "a") == [(s, v) for s in range(1, 40) for v in (float(s), float(-s))]
    assert series(log, "b") == [(s, 0.0) for s in range(1, 40)]


def test_a_step_zero_that_is_written_out_is_the_one_that_is_left_out():
    written = w.event(0, w.simple("b", 2.0), more=b"\x10\x00")
    log = read((w.record(w.event(0, w.simple("a", 1.0))) + w.record(written)) * 20)
    assert steps(log) == [0] * 20
    assert [v for _, v in series(log, "b")] == [2.0] * 20
