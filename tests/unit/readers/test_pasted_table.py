"""Tables as people paste them: grouped digits, remarks, steps in words, metrics in rows. All numbers are written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.registry import read
from holter.readers.step_cells import ascending, place, steps_of_columns


def table(*lines):
    header, *rows = lines
    text = "\n".join((header, "|" + "---|" * (header.count("|") - 1), *rows)) + "\n"
    (log,) = read(Source("notes.md", data=text.encode()))
    return log


def column(log, name):
    found = np.full(log.rows, np.nan)
    found[log.columns[name].at] = log.columns[name].values
    return found.tolist()


def test_a_comma_groups_digits_where_another_number_has_a_decimal_point():
    log = table("| step | reward | tokens |", "| 1 | 0.25 | 8,715 |", "| 2 | 0.5 | 1,016,335 |", "| 3 | 0.75 | 950 |")
    assert column(log, "tokens") == [8715, 1016335, 950]


def test_a_grouped_number_with_a_decimal_point_of_its_own_is_certain():
    log = table("| step | loss | tokens |", "| 1 | 2 | 1,234.5 |", "| 2 | 3 | 12,345.25 |")
    assert column(log, "tokens") == [1234.5, 12345.25]


@pytest.mark.parametrize("other", ["1", "1.125", "12"])
def test_a_comma_of_which_nothing_tells_is_refused(other):
    with pytest.raises(UnreadableLogError, match="groups of digits"):
        table("| step | reward | tokens |", f"| 1 | {other} | 8,715 |", f"| 2 | {other} | 8,999 |")


def test_decimal_commas_stay_decimal():
    log = table("| step | reward | kl |", "| 1 | 0,25 | 1,125 |", "| 2 | 0,5 | 2,250 |")
    assert column(log, "kl") == [1.125, 2.25]


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("**0.75** (peak)", 0.75),
        ("0.75 ← (again)", 0.75),
        ("~0.75", 0.75),
        ("≈ 0.75", 0.75),
        ("0.75*", 0.75),
        ("**75%** ↓", 0.75),
        ("0.75 s (first)", 0.75),
    ],
)
def test_a_remark_behind_a_number_is_none_of_it(cell, number):
    log = table("| step | reward | loss |", f"| 1 | {cell} | 0.5 |", "| 2 | 0.25 | 0.5 |")
    assert column(log, "reward") == [number, 0.25]


@pytest.mark.parametrize("cell", ["0.1 ± 0.2 (n=3)", "0.25 → 0.5", "(0.75)", "1.5–2.5", "?"])
def test_what_says_more_than_one_number_or_none_is_no_number(cell):
    log = table("| step | reward | loss |", f"| 1 | {cell} | 0.5 |", "| 2 | 0.25 | 0.5 |")
    assert np.isnan(column(log, "reward")[0])


@pytest.mark.parametrize(
    ("cell", "step"),
    [
        ("200", 200),
        ("step 200", 200),
        ("1-100", 100),
        ("Step 101–200", 200),
        ("checkpoint-200 (best)", 200),
        ("第 5 步", 5),
    ],
)
def test_a_cell_says_its_step(cell, step):
    found = place(cell)
    assert found is not None
    assert (found.step, found.spoken) == (step, cell != "200")


@pytest.mark.parametrize("cell", ["final", "0.5", "1.2.3", "GRPO", "", "v2 200"])
def test_a_cell_without_a_step_says_none(cell):
    assert place(cell) is None


def test_steps_that_fall_back_are_no_order():
    assert ascending(["1-100", "101-200"]) is not None
    assert ascending(["101-200", "1-100"]) is None
    assert ascending(["step 1", "mean"]) is None


def test_a_column_of_ranges_is_the_steps():
    log = table("| 区间 | 平均 Reward | KL |", "| step 1-100 | 0.5 | 5.5 |", "| step 101-200 | 0.25 | 5.25 |")
    assert column(log, "step") == [100, 200]


def test_the_start_and_the_end_have_a_place():
    log = table(
        "| Step | reward | loss |",
        "| base | 0.1 | 1 |",
        "| 50 | 0.5 | 2 |",
        "| 60 | 0.25 | 3 |",
        "| ep1-end | 0.125 | 4 |",
    )
    assert column(log, "Step") == [0, 50, 60, 61]
    assert any("'ep1-end' in line 6 is taken for step 61" in str(note) for note in log.notes)


def test_a_mean_below_the_rows_is_no_row():
    log = table("| Step | reward | loss |", "| 50 | 0.5 | 2 |", "| 60 | 0.25 | 3 |", "| mean | 0.375 | 2.5 |")
    assert column(log, "reward") == [0.5, 0.25]
    assert [(s.line, str(s.why)) for s in log.skipped] == [(5, "a row without a step: 'mean'")]


def test_metrics_may_stand_in_rows_and_steps_in_columns():
    log = table(
        "| metric | step 3 | 19 | 35 | trend |",
        "| response_length/mean | 1,184 | ~1,211 | 5,289 | up |",
        "| phase | warm | good | bad | |",
        "| actor/entropy | 1.0 | — | 1.5 | up |",
        "| actor/ppo_kl | 0 | 1e-4 | **2.5** (spike) | up |",
    )
    assert column(log, "step") == [3, 19, 35]
    assert column(log, "response_length/mean") == [1184, 1211, 5289]
    assert log.columns["actor/entropy"].at.tolist() == [0, 2]
    assert column(log, "actor/ppo_kl") == [0, 1e-4, 2.5]


def test_columns_are_steps_only_where_a_word_says_so():
    assert steps_of_columns(["metric", "step 10", "50"]) == {1: 10, 2: 50}
    assert steps_of_columns(["Step", "10", "50", "trend"]) == {1: 10, 2: 50}
    assert steps_of_columns(["metric", "10", "50"]) == {}
    assert steps_of_columns(["metric", "step 50", "step 10"]) == {}
    assert steps_of_columns(["metric", "step 10", "end"]) == {}


def test_a_comparison_of_models_at_some_steps_is_no_run():
    with pytest.raises(UnreadableLogError):
        table("| model | step 100 | step 200 |", "| base | 0.25 | 0.25 |", "| tuned | 0.5 | 0.75 |")
