"""Promises of the canonical run over any log."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holter.runs.canonical import canonical
from tests.unit.runs.logs import log_of

NUMBERS = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True, width=32))
METRICS = ("loss", "reward", "reward_std", "kl", "completions/mean_length", "entropy")
LENGTH = "completions/mean_length"
ROWS = st.lists(
    st.fixed_dictionaries(
        {"loss": NUMBERS}, optional={m: st.floats(1, 99) if m == LENGTH else NUMBERS for m in METRICS[1:]}
    ),
    min_size=1,
    max_size=12,
)
"""A length is never null: one that is shows a table that was joined from rows of several kinds."""

ANY_STEP = st.one_of(st.integers(-3, 9), st.floats(allow_nan=True, allow_infinity=True), st.none())


def same(one, other):
    assert one.steps.tolist() == other.steps.tolist()
    assert one.step_axis == other.step_axis
    assert set(one.series) == set(other.series)
    for key, series in one.series.items():
        assert series.at.tolist() == other.series[key].at.tolist()
        np.testing.assert_array_equal(series.values, other.series[key].values)
        assert (series.unit, series.metric) == (other.series[key].unit, other.series[key].metric)


def numbered(rows, start=1):
    return [{"step": i, "reward_std": 0.1, "frac_reward_zero_std": 0.0, **row} for i, row in enumerate(rows, start)]


def all_same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        same(a, b)


@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_columns_changes_nothing(rows, random):
    shuffled = []
    for row in numbered(rows):
        items = list(row.items())
        random.shuffle(items)
        shuffled.append(dict(items))
    all_same(canonical(log_of(numbered(rows))), canonical(log_of(shuffled)))


@given(ROWS, st.lists(NUMBERS, min_size=12, max_size=12))
def test_a_column_nobody_knows_changes_nothing_else(rows, strange):
    plain = numbered(rows)
    more = [{**row, "zz_mystery": v} for row, v in zip(plain, strange, strict=False)]
    all_same(canonical(log_of(plain)), canonical(log_of(more)))


@given(ROWS, st.lists(st.floats(-1, 1), min_size=1, max_size=5))
def test_evaluation_rows_at_the_end_change_no_training_series(rows, scores):
    plain = numbered(rows)
    late = [{"step": 1 + i % len(plain), "eval_reward": v} for i, v in enumerate(scores)]
    before, after = canonical(log_of(plain))[0], canonical(log_of([*plain, *late]))
    assert len(after) == 1
    assert after[0].steps.tolist() == before.steps.tolist()
    for key, series in before.series.items():
        np.testing.assert_array_equal(series.values, after[0].series[key].values)
        assert series.at.tolist() == after[0].series[key].at.tolist()


@given(ROWS, ROWS, st.integers(2, 12))
def test_after_a_resume_the_newest_row_of_every_step_stands(first, second, back):
    back = min(back, len(first) - 1)
    if back < 2:
        return
    old, new = numbered(first), numbered(second, start=back)
    run = canonical(log_of([*old, *new]))
    assert len(run) == 1
    alone = canonical(log_of([*old[: back - 1], *new]))[0]
    same_values = {k: s for k, s in alone.series.items() if not s.derived}
    for key, series in same_values.items():
        assert run[0].series[key].steps.tolist() == series.steps.tolist()
        np.testing.assert_array_equal(run[0].series[key].values, series.values)
    assert run[0].resumes == (back - 1,)


@given(ROWS, st.integers(1, 12))
def test_a_prefix_of_the_run_is_the_run_of_the_prefix(rows, step):
    whole = numbered(rows)
    step = min(step, len(whole))
    until = canonical(log_of(whole))[0].until(step)
    prefix = canonical(log_of(whole[:step]))[0]
    assert until.steps.tolist() == prefix.steps.tolist()
    for key, series in prefix.series.items():
        np.testing.assert_array_equal(until.series[key].values, series.values)
        assert until.series[key].at.tolist() == series.at.tolist()
    assert all(not len(s) for key, s in until.series.items() if key not in prefix.series)


@settings(max_examples=200)
@given(
    st.lists(st.dictionaries(st.sampled_from(("step", "_step", "epoch", "episode", *METRICS)), ANY_STEP), max_size=12)
)
def test_any_log_gives_runs_whose_steps_rise_and_whose_series_fit_them(rows):
    for run in canonical(log_of(rows)):
        assert (np.diff(run.steps) > 0).all()
        for series in [*run.series.values(), *run.spare.values()]:
            assert len(series.at) == len(series.steps) == len(series.values) > 0
            assert (np.diff(series.at) > 0).all()
            np.testing.assert_array_equal(run.steps[series.at], series.steps)
        for unknown in run.unknown.values():
            assert (np.diff(unknown.at) > 0).all()
        assert 0 <= run.repeated <= len(rows)
