"""``trainer_state.json`` is read in blocks, and says the same wherever a block ends."""

import json
import math

import pytest

from holter.readers import json_blocks
from holter.readers.base import Source
from holter.readers.registry import read

HISTORY = [
    {"step": 1, "loss": 0.5, "note": "}, {"},
    {"step": 2, "loss": float("nan"), "lengths": [1, 2, 3]},
    {"step": 3, "loss": 0.25, "by": {"math": 1.5, "code": None}},
    {},
    {"step": 4, "loss": -1e-7, "eval_loss": 2.0},
]
BESIDE = {"callback": {"args": {"a": 1}}, "second": {"args": {}}, "third": {}}
LINES = [5, 10, 19, 28]
"""Counted by hand in the text below."""


def written(history=HISTORY):
    state = {
        "best_metric": None,
        "global_step": 4,
        "log_history": history,
        "max_steps": 9,
        "stateful_callbacks": BESIDE,
    }
    return json.dumps(state, indent=2) + "\n"


def read_in_blocks(monkeypatch, text, size):
    monkeypatch.setattr(json_blocks, "_BLOCK", size)
    (log,) = read(Source("trainer_state.json", data=text.encode()))
    return log


@pytest.mark.parametrize("size", [1, 7, 64, 100, 1000, 1 << 17])
def test_every_record_is_read_with_its_line_whatever_the_blocks(monkeypatch, size):
    log = read_in_blocks(monkeypatch, written(), size)
    assert log.columns["step"].values.tolist() == [1, 2, 3, 4]
    assert log.columns["loss"].values[[0, 2, 3]].tolist() == [0.5, 0.25, -1e-7]
    assert math.isnan(log.columns["loss"].values[1])
    assert log.columns["by/math"].at.tolist() == [2]
    assert log.columns["by/code"].null.tolist() == [True]
    assert log.columns["eval_loss"].values.tolist() == [2.0]
    starts = [n for n, line in enumerate(written().splitlines(), start=1) if line == "    {"]
    assert log.lines.tolist() == starts == LINES
    assert log.config["max_steps"] == 9
    assert not log.skipped


@pytest.mark.parametrize("size", [16, 200, 1 << 17])
def test_a_damaged_record_costs_itself_whatever_the_blocks(monkeypatch, size):
    text = written().replace('"loss": 0.25', '"loss": 0.2.5')
    log = read_in_blocks(monkeypatch, text, size)
    assert log.columns["step"].values.tolist() == [1, 2, 4]
    assert [s.line for s in log.skipped] == [LINES[2]]
    assert log.config["max_steps"] == 9


@pytest.mark.parametrize("size", [16, 200, 1 << 17])
def test_a_document_torn_anywhere_in_its_history_keeps_its_whole_records(monkeypatch, size):
    text = written()
    for end in range(text.index('"step": 2'), text.index('"step": 4'), 5):
        log = read_in_blocks(monkeypatch, text[:end], size)
        whole = text[:end].count("\n    },")
        assert log.columns["step"].values.tolist() == [1, 2, 3][:whole]
        assert any("ends early" in note for note in log.notes)


def test_records_that_are_never_closed_take_linear_time_and_are_told(monkeypatch):
    text = '{\n  "log_history": [\n    {\n      "step": 1, "loss": 2.0\n    },' + "\n    {" * 100_000 + "\n    }\n"
    log = read_in_blocks(monkeypatch, text, 1 << 17)
    assert log.columns["step"].values.tolist() == [1]
    assert log.skipped


def test_a_block_in_which_no_record_begins_is_named(monkeypatch):
    text = written().replace("\n    {\n", "\n    x\n", 2)
    log = read_in_blocks(monkeypatch, text.replace("[\n    x", '[\n    {"'), 60)
    assert log.columns["step"].values.tolist()[-1] == 4
    assert log.skipped
