"""``.wandb`` files: whole, cut at any byte, damaged anywhere; and what of them is a number."""

import random

import numpy as np
import pytest

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.registry import read
from holter.readers.wandb.reader import WANDB
from holter.runs.canonical import canonical
from tests.unit.readers.wandb import files


def read_bytes(data):
    (log,) = WANDB.read(Source("run-ab12.wandb", data=data))
    return log


def rows_of(log):
    rows = [{} for _ in range(log.rows)]
    for key, column in log.columns.items():
        for row, value in zip(column.at.tolist(), column.values.tolist(), strict=True):
            rows[row][key] = value
    return rows


def shuffled(row, chance):
    items = list(row.items())
    chance.shuffle(items)
    return dict(items)


ROWS = [
    {"train/global_step": i, "train/loss": i / 7, "train/kl": 1e-5 * i, "_step": i, "_runtime": 1.5 * i}
    for i in range(800)
]


def whole(rows=ROWS):
    chance = random.Random(0)
    records = [
        files.run(1, "grpo-7", {"beta": 0.04, "_wandb": {"v": 1}}),
        files.config(2, {"lr": 1e-6, "optim": {"name": "adam"}}),
    ]
    for number, row in enumerate(rows, start=3):
        mixed = shuffled(row, chance)
        records += [files.history(number, mixed), files.summary(number, mixed)]
    return files.framed(records)


def test_every_number_of_every_row_is_read():
    log = read_bytes(whole())
    assert rows_of(log) == ROWS
    assert log.config == {"beta": 0.04, "lr": 1e-06, "optim/name": "adam"}
    assert log.notes == ("W&B calls this run 'grpo-7'",)
    assert not log.skipped


def test_the_training_step_is_the_axis_and_not_the_count_of_log_calls():
    rows = [{**row, "_step": 3 * row["_step"]} for row in ROWS]
    (run,) = canonical(read_bytes(whole(rows)))
    assert run.steps.tolist() == list(range(800))
    rows = [{**row, "train/global_step": 0} for row in rows]
    (run,) = canonical(read_bytes(whole(rows)))
    assert run.steps.tolist() == [3.0 * i for i in range(800)]
    assert "tracker's count of log calls" in run.step_axis


def test_old_files_with_plain_keys_and_new_ones_with_paths_say_the_same():
    old = files.framed([files.history(i, row, nested=False) for i, row in enumerate(ROWS)])
    assert rows_of(read_bytes(old)) == ROWS


def test_nan_null_and_absent_are_three_things():
    data = files.framed(
        [
            files.history(1, {"loss": "NaN", "kl": "null", "reward": 0.5}),
            files.history(2, {"loss": "-Infinity", "kl": 0.25, "reward": '"NaN"'}),
            files.history(3, {"loss": 1, "reward": True}),
        ]
    )
    log = read_bytes(data)
    assert str(log.columns["loss"].values.tolist()) == "[nan, -inf, 1.0]"
    assert log.columns["kl"].at.tolist() == [0, 1]
    assert log.columns["kl"].null.tolist() == [True, False]
    assert str(log.columns["reward"].values.tolist()) == "[0.5, nan, 1.0]"


def test_nested_values_media_and_texts_are_told_apart_from_numbers():
    long = "x" * 300
    data = files.framed(
        [
            files.history(
                i,
                {
                    ("eval", "math", "acc"): 0.5,
                    "train/loss": i / 2,
                    "losses": {"value": 0.25},
                    "note": long,
                    "hist": {"_type": "histogram", "values": [1, 2]},
                    ("table", "_type"): "table-file",
                    ("table", "nrows"): 7,
                    "größe": 1.5,
                },
            )
            for i in range(3)
        ]
    )
    log = read_bytes(data)
    assert rows_of(log)[1] == {"eval/math/acc": 0.5, "train/loss": 0.5, "losses/value": 0.25, "größe": 1.5}
    assert any("left aside, without numbers: note, hist, table/_type" in n for n in log.notes)


@pytest.mark.parametrize("seed", range(40))
def test_a_file_cut_at_any_byte_gives_its_whole_rows(seed):
    data = whole()
    cut = random.Random(seed).randrange(600, len(data))
    log = read_bytes(data[:cut])
    found = rows_of(log)
    assert found == ROWS[: len(found)]
    written = sum(
        len(files.framed([files.history(3 + i, row), files.summary(3 + i, row)])) - 7
        for i, row in enumerate(ROWS[: len(found) + 2])
    )
    assert written > cut - 1500
    assert not log.skipped


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_costs_no_more_than_a_block_and_is_told(seed):
    chance = random.Random(seed)
    data = bytearray(whole())
    at = chance.randrange(7, len(data))
    data[at] ^= 1 << chance.randrange(8)
    log = read_bytes(bytes(data))
    found = rows_of(log)
    known = {tuple(sorted(row.items())) for row in ROWS}
    assert all(tuple(sorted(row.items())) in known for row in found)
    assert len(ROWS) - len(found) <= files.BLOCK / 100
    assert log.skipped or found == ROWS


def test_zeros_behind_the_last_record_are_no_damage():
    log = read_bytes(whole() + bytes(3 * files.BLOCK))
    assert rows_of(log) == ROWS
    assert not log.skipped


def test_a_file_without_rows_is_refused_with_the_way_out():
    for data in (b":W&B\xe1\xbe\x00", b":W&B", files.framed([files.run(1, "x", {"beta": 0.5})])):
        with pytest.raises(UnreadableLogError, match=r"logged no numbers.*output\.log"):
            read(Source("run.wandb", data=data))


def test_a_name_that_comes_twice_in_a_row_keeps_its_later_value():
    one = files.item("train/loss", 0.5) + files.item("train/loss", 0.25) + files.item("train/kl", 1.0)
    log = read_bytes(files.framed([files.record(1, 2, one)] * 2))
    assert log.columns["train/loss"].values.tolist() == [0.25, 0.25]


def test_rows_of_changing_names_are_read_like_rows_of_the_same_names():
    chance = random.Random(3)
    rows = []
    for i in range(500):
        row = {f"train/m{j}": chance.random() for j in range(8) if chance.random() < 0.7}
        rows.append({"_step": i, "train/loss": 0.5, **row})
    log = read_bytes(files.framed([files.history(i, r) for i, r in enumerate(rows)]))
    assert rows_of(log) == rows
    assert all((np.diff(c.at) > 0).all() for c in log.columns.values())
