from __future__ import annotations

import json
import math
import struct

import pytest

from holter.readers.base import GatheringReader, Source
from holter.readers.registry import readers_for
from holter.readers.tensorboard.reader import TENSORBOARD, in_order, read_files
from holter.runs.canonical import canonical
from tests.unit.readers.tensorboard import writing as w
from tests.unit.readers.tensorboard.reading import everything, in_pieces, read, series, steps

ROWS = [(s, {f"train/metric_{k}": float(s * k) for k in range(7)}) for s in range(200)]
DATA = w.scalars(ROWS)


def test_the_registry_finds_it_for_files_by_name_and_for_streams_by_their_first_bytes():
    assert isinstance(TENSORBOARD, GatheringReader)
    assert next(readers_for("standard input", DATA)) is TENSORBOARD
    assert TENSORBOARD.recognises("runs/a/events.out.tfevents.1700000000.host.1.0", b"")
    assert TENSORBOARD.recognises("events.out.tfevents.1.host.gz", b"")
    assert not TENSORBOARD.recognises("my.tfevents.d/log.jsonl", b'{"step": 1}')
    assert not TENSORBOARD.recognises("log.jsonl", b"")
    assert not TENSORBOARD.recognises("zeros.bin", bytes(4096))


def test_a_regular_file_is_read_exactly():
    log = read(DATA)
    assert steps(log) == list(range(200))
    for k in range(7):
        assert series(log, f"train/metric_{k}") == [(s, float(s * k)) for s in range(200)]
    assert log.columns["wall_time"].values.tolist() == [1.7e9 + s for s in range(200)]
    assert (log.notes, log.skipped, log.reader) == ((), (), "tensorboard")


@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_the_size_of_the_pieces_does_not_matter(size):
    gathered, torn = in_pieces(DATA, [size] * (len(DATA) // size))
    rows = gathered.stretches.rows()
    whole = read(DATA)
    assert torn == 0
    assert rows.steps.tolist() == steps(whole)
    assert {t: c.values.tolist() for t, c in rows.columns.items()} == {
        t: c.values.tolist() for t, c in whole.columns.items() if t not in ("step", "wall_time")
    }


def test_steps_that_grow_in_width_are_read_exactly():
    numbers = [
        0,
        1,
        2,
        126,
        127,
        128,
        129,
        16382,
        16383,
        16384,
        16385,
        *range(2097149, 2097160),
        1 << 40,
        (1 << 40) + 1,
    ]
    log = read(w.scalars([(s, {"a": 1.0, "b": 2.0}) for s in numbers]))
    assert steps(log) == numbers


def test_negative_steps_are_steps():
    log = read(w.scalars([(s, {"a": float(s)}) for s in range(-50, 50)]))
    assert series(log, "a") == [(s, float(s)) for s in range(-50, 50)]


@pytest.mark.parametrize("tag", ["", "损失/训练", "a" * 300, "step (tag)", "with space"])
def test_any_tag_is_a_name(tag):
    log = read(w.scalars([(s, {tag: float(s)}) for s in range(100)]))
    assert series(log, tag) == [(s, float(s)) for s in range(100)]


def test_tags_that_are_not_utf8_stay_apart():
    log = read(b"".join(w.record(w.event(1, w.simple(tag, 1.0))) for tag in (b"\xff", b"\xfe")))
    assert list(log.columns)[2:] == ["\\xff", "\\xfe"]


def test_a_tag_called_like_the_step_column_keeps_its_values():
    log = read(w.scalars([(s, {"step": s * 10.0, "step (tag)": 1.0, "wall_time": 2.0}) for s in range(3)]))
    assert steps(log) == [0, 1, 2]
    assert log.columns["step (tag) (tag)"].values.tolist() == [0.0, 10.0, 20.0]
    assert log.columns["wall_time (tag)"].values.tolist() == [2.0] * 3
    assert len(log.notes) == 2


def test_nan_and_infinities_survive_in_bulk():
    values = [math.nan, math.inf, -math.inf, -0.0, 1.5]
    rows = [(s, {"a": values[s % 5], "b": 1.0}) for s in range(100)]
    found = [v for _, v in series(read(w.scalars(rows)), "a")]
    assert [math.isnan(v) for v in found] == [s % 5 == 0 for s in range(100)]
    assert [v for v in found if not math.isnan(v)] == [values[s % 5] for s in range(100) if s % 5]
    assert math.copysign(1, found[3]) == -1


def test_numbers_of_several_forms_in_one_step_are_read_in_bulk():
    def step(s: int) -> bytes:
        return b"".join(
            w.record(w.event(s, value))
            for value in (
                w.simple("simple", s / 4),
                w.tensor("double", 2, 4, struct.pack("<d", s / 3), shape=b"", plugin="scalars"),
                w.tensor("float", 1, 5, struct.pack("<f", s / 8), plugin="scalars"),
                w.tensor("int", 9, 4, struct.pack("<q", s << 40)),
                w.tensor("varint", 9, 10, w.varint(s)),
            )
        )

    log = read(b"".join(map(step, range(150))))
    assert steps(log) == list(range(150))
    assert series(log, "simple") == [(s, s / 4) for s in range(150)]
    assert series(log, "double") == [(s, s / 3) for s in range(150)]
    assert series(log, "float") == [(s, s / 8) for s in range(150)]
    assert series(log, "int") == [(s, float(s << 40)) for s in range(150)]
    assert series(log, "varint") == [(s, float(s)) for s in range(150)]


def test_records_of_one_layout_and_different_steps_are_not_taken_for_one_step():
    def pair(s: int, other: int) -> bytes:
        return w.record(w.event(s, w.simple("a", s))) + w.record(w.event(other, w.simple("b", other)))

    log = read(b"".join(pair(s, s) for s in range(20, 60)) + pair(60, 61) + b"".join(pair(s, s) for s in range(62, 90)))
    assert series(log, "a") == [(s, float(s)) for s in [*range(20, 61), *range(62, 90)]]
    assert series(log, "b") == [(s, float(s)) for s in [*range(20, 60), *range(61, 90)]]


def test_a_value_that_takes_another_form_is_not_read_at_the_old_place():
    rows = b"".join(w.record(w.event(s, w.simple("a", 1.0))) for s in range(1, 50))
    # Same tag, same length of record, another meaning of the last bytes.
    other = w.part(1, b"a") + b"\xfd\x7f" + bytes(4)
    shorter = w.part(1, b"a") + b"\x15" + struct.pack("<f", 3.0)
    log = read(rows + w.record(w.event(50, other)) + w.record(w.event(51, shorter)))
    assert [v for _, v in series(log, "a")] == [1.0] * 49 + [3.0]


def test_other_kinds_are_counted_and_left_aside():
    more = b"".join(w.record(w.event(s, w.histogram("h"), w.text("t", "hello"))) for s in range(3))
    log = read(DATA + more)
    assert log.notes == ("left aside: 3 histograms, 3 texts. Only scalars are read.",)
    assert everything(log) == everything(read(DATA))


def test_arguments_that_transformers_writes_become_the_configuration():
    said = {"learning_rate": 1e-06, "beta": 0.04, "logging_dir": "runs/损失", "max_grad_norm": math.inf}
    data = w.record(w.event(0, w.text("args/text_summary", json.dumps(said))))
    data += w.record(w.event(0, w.text("model_config/text_summary", json.dumps({"hidden_size": 64}))))
    data += w.record(w.event(0, w.text("completions/text_summary", json.dumps({"learning_rate": 5}))))
    log = read(data + DATA)
    assert log.config == {**said, "model_config": {"hidden_size": 64}}
    assert log.notes == ("left aside: 1 text. Only scalars are read.",)


def test_a_table_of_hyperparameters_becomes_the_configuration():
    table = "|param|value|\n|-|-|\n|learning_rate|0.0003|\n|anneal_lr|True|\n|exp_name|ppo\n|track|None|"
    log = read(w.record(w.event(0, w.text("hyperparameters/text_summary", table))) + DATA)
    assert log.config == {"learning_rate": 0.0003, "anneal_lr": True, "exp_name": "ppo", "track": None}


@pytest.mark.parametrize("said", ["", "{", "[1]", "[" * 100_000, "|", "|a|\n|-|", "plain words"])
def test_a_text_that_does_not_parse_is_left_aside(said):
    log = read(w.record(w.event(0, w.text("args/text_summary", said))) + DATA)
    assert log.config == {}


def session(**hparams: bytes) -> bytes:
    """What add_hparams writes, as tensorboard/plugins/hparams/plugin_data.proto lays it out."""
    entries = b"".join(w.part(1, w.part(1, k.encode()) + w.part(2, v)) for k, v in hparams.items())
    plugin = w.part(1, b"hparams") + w.part(2, w.part(3, entries))
    return w.part(1, b"_hparams_/session_start_info") + w.part(9, w.part(1, plugin))


def test_a_folder_of_hyperparameters_alone_is_no_run():
    number = b"\x11" + struct.pack("<d", 0.04)
    data = w.VERSION + w.record(
        w.event(0, session(beta=number, name=w.part(3, b"x"), fp16=b"\x20\x01", seed=b"\x08\x00"))
    )
    result = w.record(w.event(0, w.simple("hparam/reward", 1.0)))
    for written in (data, data + result):
        log = read(written)
        assert log.config == {"beta": 0.04, "name": "x", "fp16": True, "seed": None}
        assert log.rows == 0
        assert canonical(log) == []
    assert read(data + DATA).rows == 200


def test_the_files_of_one_folder_are_one_log_in_the_order_of_their_times(tmp_path):
    first, second = ROWS[:120], ROWS[100:]
    late = tmp_path / "events.out.tfevents.1700000900.host.7.0"
    early = tmp_path / "events.out.tfevents.999.host.8.0"
    late.write_bytes(w.scalars(second))
    early.write_bytes(w.scalars(first)[:-3])
    copy = tmp_path / "events.out.tfevents.999.host.8.0.gz"
    copy.write_bytes(b"not read, because its original is there")
    assert in_order([late, copy, early]) == [early, late]
    log = read_files([late, copy, early], "run")
    assert steps(log) == [*range(120), *range(100, 200)]
    assert "still being written" in log.notes[0]
    assert "999" in log.notes[0]
    (run,) = canonical(log)
    assert len(run) == 200
    assert run.resumes == (100,)


def test_files_of_one_second_come_in_the_order_of_their_writers(tmp_path):
    files = [tmp_path / f"events.out.tfevents.1764500000.node7.4711.{n}" for n in (9, 10, 99, 100)]
    assert in_order(files[::-1]) == files


def test_a_second_writer_of_other_tags_adds_columns_and_no_rows(tmp_path):
    train = tmp_path / "events.out.tfevents.1.host.7.0"
    evaluation = tmp_path / "events.out.tfevents.2.host.7.1"
    train.write_bytes(DATA)
    evaluation.write_bytes(w.scalars([(s, {"eval/reward": 1.0}) for s in range(0, 200, 10)]))
    (log,) = TENSORBOARD.read(Source(str(tmp_path), path=train, parts=(train, evaluation)))
    assert steps(log) == list(range(200))
    assert log.columns["eval/reward"].at.tolist() == list(range(0, 200, 10))


def test_two_runs_in_one_folder_are_two_runs(tmp_path):
    paths = [tmp_path / f"events.out.tfevents.{n}.host" for n in (1, 2)]
    for path in paths:
        path.write_bytes(DATA)
    assert [len(run) for run in canonical(read_files(paths, "run"))] == [200, 200]
