"""A metric that is not logged any more is said to be missing; one that is logged seldom, or ends with the run, is not."""

from __future__ import annotations

from holter.readers.records import Records
from holter.runs.canonical import canonical


def notes_of(rows):
    records = Records("log.jsonl")
    for number, row in enumerate(rows, start=1):
        records.add({"step": number, **row}, number)
    (run,) = canonical(records.log("log.jsonl", "jsonl"))
    return [str(note) for note in run.notes if "not logged after" in note]


def test_what_ceased_to_be_logged_is_told_with_its_last_step():
    rows = ({"reward": 0.5, **({"kl": 0.1, "entropy": 2.0} if s <= 30 else {})} for s in range(1, 81))
    assert notes_of(rows) == ["not logged after step 30, so that trouble there would go unseen: kl, entropy"]


def test_a_metric_that_becomes_a_text_has_ceased_to_be_logged():
    rows = ({"reward": 0.5, "kl": 0.1 if s <= 30 else "too large"} for s in range(1, 81))
    assert notes_of(rows) == ["not logged after step 30, so that trouble there would go unseen: kl"]


def test_what_is_logged_seldom_may_come_again():
    assert notes_of({"reward": 0.5, **({"kl": 0.1} if s % 25 == 0 else {})} for s in range(1, 100)) == []


def test_a_run_whose_last_rows_hold_no_training_metric_has_only_ended():
    rows = ({"reward": 0.5, "kl": 0.1} if s <= 40 else {"eval/reward": 0.5} for s in range(1, 81))
    assert notes_of(rows) == []


def test_a_metric_that_goes_on_under_another_name_is_not_missing():
    rows = ({"loss": 0.1, "reward" if s <= 30 else "train/reward": 0.5} for s in range(1, 81))
    assert notes_of(rows) == []
