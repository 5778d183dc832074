"""What SwanLab's client wrote is what is read, in every form of its files."""

import math
import shutil
import sqlite3
from pathlib import Path

import pytest

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.registry import read
from holter.readers.swanlab.messages import message
from holter.readers.tensorboard.wire import MalformedError
from holter.runs.load import load

HERE = Path(__file__).parent
FILES = [HERE / "protocol-buffers" / "run-tiny.swanlab", HERE / "json-records" / "backup.swanlab"]
STORE = HERE / "local-store" / "runs.swanlab"
EACH = pytest.mark.parametrize("path", [*FILES, STORE], ids=lambda p: p.parent.name)
EACH_FILE = pytest.mark.parametrize("path", FILES, ids=lambda p: p.parent.name)


@EACH
def test_every_number_that_was_logged_is_read_under_its_name_and_step(path):
    (log,) = read(Source.of(path))
    columns = {key: c.values.tolist() for key, c in log.columns.items()}
    assert columns["step"] == [0, 1, 2, 3, 4, 5]
    assert columns["train/loss"] == pytest.approx([0.5, 0.25, 0.5 / 3, 0.125, 0.1, 0.5 / 6], rel=1e-15)
    assert columns["train/reward"][:3] == [0.0, 0.1, 0.0]
    assert math.isnan(columns["train/reward"][3])
    assert columns["train/kl"][4] == math.inf
    assert columns["train/completions/mean_length"] == [100, 101, 102, 103, 104, 105]
    assert log.columns["eval/reward"].at.tolist() == [5]
    assert not log.skipped
    assert "left aside, without numbers: sample" in log.notes
    assert not any(key.startswith("__swanlab__") for key in columns)


@EACH
def test_a_run_knows_its_framework_its_step_and_the_hyperparameters_beside_it(path):
    (run,) = load([path.parent]).runs
    assert run.dialect == "trl-grpo"
    assert run.steps.tolist() == [0, 1, 2, 3, 4, 5]
    assert run.config == {"learning_rate": 1e-06, "beta": 0.04, "loss_type": "dapo", "peft": {"r": 16}}


@EACH_FILE
def test_a_file_that_is_cut_anywhere_gives_the_numbers_before_the_cut(path):
    data = path.read_bytes()
    (whole,) = read(Source("run.swanlab", data=data))
    values = whole.columns["train/loss"].values.tolist()
    seen = set()
    for end in range(7, len(data), 41):
        try:
            (log,) = read(Source("run.swanlab", data=data[:end]))
        except UnreadableLogError:
            assert not seen, "a shorter file could be read"
            continue
        found = log.columns["train/loss"].values.tolist() if "train/loss" in log.columns else []
        assert found == values[: len(found)]
        seen.add(len(found))
    assert seen >= {1, 6}


@EACH_FILE
def test_a_flipped_byte_costs_no_more_than_its_record_and_is_told(path):
    data = bytearray(path.read_bytes())
    at = data.index(b"train/loss", len(data) // 2)
    data[at] ^= 0x20
    (log,) = read(Source("run.swanlab", data=bytes(data)))
    assert any("damaged at byte" in skipped.why for skipped in log.skipped)
    assert len(log.columns["train/reward"].values) == 6


@pytest.fixture
def store(tmp_path):
    return Path(shutil.copytree(STORE.parent, tmp_path / "swanlog"))


def test_a_run_that_has_a_file_of_its_own_is_read_from_that(store):
    (home,) = store.glob("run-*")
    own = shutil.copy(FILES[0], home / "run-tiny.swanlab")
    (run,) = load([store]).runs
    assert run.path == str(own)
    with pytest.raises(UnreadableLogError, match=r"'grpo-tiny' has a file of its own, .*run-tiny\.swanlab\. Give that"):
        load([store / "runs.swanlab"])


def test_a_point_that_cannot_be_read_is_told_and_a_torn_one_waited_for(store):
    (home,) = store.glob("run-*")
    points = home / "logs" / "0" / "1000.log"
    points.write_text(
        '{"index": 1, "data": 0.5}\nhello\n{"index": 2, "data": "x"}\n{"index": 3, "data": 0.25}\n{"index": 4, "da'
    )
    (log,) = read(Source.of(store / "runs.swanlab"))
    assert log.columns["train/loss"].values.tolist() == [0.5, 0.25]
    assert [skipped.line for skipped in log.skipped] == [2, 3]


@pytest.mark.parametrize("name", ["../outside", "..", "/tmp", ""])
def test_a_folder_outside_of_the_runs_own_is_not_read(store, name):
    (store / "outside").mkdir()
    (store / "outside" / "1000.log").write_text('{"index": 1, "data": 7.0}\n')
    with sqlite3.connect(store / "runs.swanlab") as connection:
        connection.execute("UPDATE tag SET folder = ? WHERE name = 'train/loss'", (name,))
    connection.close()
    (log,) = read(Source.of(store / "runs.swanlab"))
    assert "train/loss" not in log.columns


def test_a_step_that_no_counter_reaches_costs_its_record():
    with pytest.raises(MalformedError):
        message(
            b'{"model_type": "Scalar", "data": {"key": "a", "step": 1' + b"0" * 400 + b', "metric": {"data": 1.0}}}'
        )
