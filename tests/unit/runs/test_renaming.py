"""A metric that changes its name on the way is one metric; two that are logged beside each other are two."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holter.cli.keys import _reading
from holter.readers.records import Records
from holter.runs.canonical import canonical


def run_of(rows):
    records = Records("log.jsonl")
    for number, row in enumerate(rows, start=1):
        records.add({"step": number, "loss": 0.1, **row}, number)
    (run,) = canonical(records.log("log.jsonl", "jsonl"))
    return run


def named(value, step, change=30, before="reward", after="train/reward"):
    return {before if step <= change else after: value(step)}


def test_both_names_are_read_as_one_and_it_is_said():
    run = run_of(named(float, step) for step in range(1, 81))
    assert run.series["reward"].values.tolist() == [*map(float, range(1, 81))]
    assert run.series["reward"].metric == "reward", "as what was said before the change names it"
    assert "train/reward goes on where reward ends; they are read as one metric" in run.notes
    assert "goes on where reward ends" in list(_reading(run, run.spare["train/reward"], "spare"))


def test_what_goes_wrong_under_the_new_name_is_seen():
    run = run_of(named(lambda s: math.nan if s > 50 else 0.5, step) for step in range(1, 81))
    assert np.flatnonzero(np.isnan(run.series["reward"].values)).tolist() == [*range(50, 80)]


@pytest.mark.parametrize(("before", "after"), [("reward", "train/reward"), ("train/reward", "reward")])
def test_it_does_not_matter_which_of_the_names_is_the_better_one(before, after):
    run = run_of(named(float, step, before=before, after=after) for step in range(1, 81))
    assert len(run.series["reward"]) == 80
    assert run.series["reward"].metric == before
    assert list(run.spare) == [after]


def test_names_that_come_in_turns_are_not_joined():
    run = run_of({"reward" if step % 10 == 0 else "train/reward": float(step)} for step in range(1, 81))
    assert len(run.series["reward"]) in (8, 72)
    assert not any("read as one metric" in note for note in run.notes)


def test_names_that_are_logged_beside_each_other_stay_two():
    rows = ({"reward": float(s), **({"train/reward": 7.0} if s > 20 else {})} for s in range(1, 81))
    run = run_of(rows)
    assert len(run.series["reward"]) == 80
    assert len(run.spare["train/reward"]) == 60


@pytest.mark.parametrize("end", range(31, 81))
def test_as_long_as_the_first_name_may_come_again_nothing_is_joined_and_later_nothing_is_taken_back(end):
    run = run_of(named(float, step) for step in range(1, end + 1))
    assert len(run.series["reward"]) == (30 if end <= 32 else end)


def test_a_third_name_goes_on_where_the_second_ends():
    names = {0: "reward", 1: "train/reward", 2: "rewards"}
    run = run_of({names[(step - 1) // 20]: float(step)} for step in range(1, 61))
    joined = run.series["reward"]
    assert joined.inputs == tuple(names[i] for i in range(len(joined.inputs)))
    assert joined.values.tolist() == [*map(float, range(1, 20 * len(joined.inputs) + 1))]
    assert len(joined.inputs) >= 2
