"""Following holds for every format: new rows once, a cut, another file in its place, a rotation, a writer that starts again.

Every format is written whole for a number of steps. What is only appended to begins with what it was, and must not be read from
its start again.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import sqlite3
from typing import TYPE_CHECKING

import pytest

from holter.readers.registry import all_readers
from holter.runs.follow import follow
from tests.unit.readers.tensorboard import writing
from tests.unit.readers.wandb import files
from tests.unit.runs.tails import counted

if TYPE_CHECKING:
    from collections.abc import Callable

Steps = list[int]


def values(step: int) -> dict[str, float]:
    return {"loss": step / 4, "reward": step / 8}


def records(steps: Steps) -> list[dict[str, float]]:
    return [{"step": step, **values(step)} for step in steps]


def json_lines(steps: Steps) -> bytes:
    return "".join(json.dumps(r) + "\n" for r in records(steps)).encode()


def table(steps: Steps) -> str:
    rows = "".join(f"| {s} | {s / 4} | {s / 8} |\n" for s in steps)
    return "| step | loss | reward |\n|---|---|---|\n" + rows


def event_file(steps: Steps) -> bytes:
    said = [(s, tag, value) for s in steps for tag, value in values(s).items()]
    version = writing.record(b"\x09" + bytes(8) + writing.part(3, b"brain.Event:2"))
    return version + b"".join(writing.record(writing.event(s, writing.simple(tag, v))) for s, tag, v in said)


def wandb_file(steps: Steps) -> bytes:
    rows = enumerate(records(steps), start=1)
    return files.framed([files.run(0, "r", {}), *(files.history(n, {**row, "_step": n}) for n, row in rows)])


def notebook(steps: Steps) -> bytes:
    cells = "".join(f"<tr><td>{s}</td><td>{s / 4}</td><td>{s / 8}</td></tr>" for s in steps)
    html = f"<table><tr><th>Step</th><th>Training Loss</th><th>reward</th></tr>{cells}</table>"
    output = {"output_type": "display_data", "data": {"text/html": html}, "metadata": {}}
    cell = {"cell_type": "code", "metadata": {}, "source": [], "outputs": [output]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def parquet(steps: Steps) -> bytes:
    import pyarrow
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(records(steps)), out)
    return out.getvalue()


def database(steps: Steps) -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE metrics (run_name TEXT, step INTEGER, metrics TEXT)")
    rows = [(s, json.dumps(values(s))) for s in steps]
    connection.executemany("INSERT INTO metrics VALUES ('r', ?, ?)", rows)
    connection.commit()
    data = connection.serialize()
    connection.close()
    return data


def state(steps: Steps, indent: int | None = None) -> bytes:
    return json.dumps(
        {"global_step": max(steps), "log_history": records(steps), "max_steps": 99}, indent=indent
    ).encode()


APPENDED: dict[str, Callable[[Steps], bytes]] = {
    "log.jsonl": json_lines,
    "verl.log": lambda steps: "".join(
        f"(TaskRunner pid=7) step:{s} - actor/loss:{s / 4} - critic/rewards/mean:{s / 8}\nsome worker talks\n"
        for s in steps
    ).encode(),
    "hf.log": lambda steps: "".join(f"{r}\n" for r in records(steps)).encode(),
    "log.csv": lambda steps: ("step,loss,reward\n" + "".join(f"{s},{s / 4},{s / 8}\n" for s in steps)).encode(),
    "events.out.tfevents.1.host": event_file,
    "run-ab12.wandb": wandb_file,
    "metrics-0.jsonl": lambda steps: "".join(
        json.dumps({"step": s, "time": 1.7e9 + s, **values(s)}, separators=(",", ":")) + "\n" for s in steps
    ).encode(),
}
REWRITTEN: dict[str, Callable[[Steps], bytes]] = {
    "trainer_state.json": lambda steps: state(steps, indent=2),
    "compact/trainer_state.json": state,
    "history.json": lambda steps: json.dumps(records(steps)).encode(),
    "columns.json": lambda steps: json.dumps(
        {k: [r[k] for r in records(steps)] for k in ("step", "loss", "reward")}
    ).encode(),
    "log.jsonl.gz": lambda steps: b"".join(gzip.compress(json_lines([s])) for s in steps),
    "notes.md": lambda steps: table(steps).encode(),
    "train.ipynb": notebook,
    "lab.db": database,
    **({"log.parquet": parquet} if importlib.util.find_spec("pyarrow") else {}),
}
FORMATS = {**APPENDED, **REWRITTEN}
LONG = 6000
"""Steps after which a log is so long that it is not told anew from its beginning which reader takes it."""
EACH = pytest.mark.parametrize("name", FORMATS)


def new_steps(followed) -> Steps:
    """The steps of the rows that came."""
    out = []
    for log in followed.poll().rows:
        axis = next(log.columns[name] for name in ("step", "Step", "_step") if name in log.columns)
        out += map(int, axis.values.tolist())
    return out


@pytest.fixture
def path(name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    return path


@EACH
def test_new_rows_come_once(name, path):
    path.write_bytes(FORMATS[name]([*range(1, 6)]))
    followed = follow(path)
    assert new_steps(followed) == [1, 2, 3, 4, 5]
    assert new_steps(followed) == []
    for newest in (6, 7):
        path.write_bytes(FORMATS[name]([*range(1, newest + 1)]))
        assert new_steps(followed) == [newest]
    (log,) = followed.logs()
    (loss,) = (column for key, column in log.columns.items() if key.lower().endswith("loss"))
    assert loss.values[-1] == 7 / 4


@pytest.mark.parametrize("name", APPENDED)
def test_what_is_appended_to_is_read_on_and_not_from_its_start(name, path, monkeypatch):
    write = APPENDED[name]
    path.write_bytes(write([*range(1, LONG)]))
    followed = follow(path)
    assert len(new_steps(followed)) == LONG - 1
    before = path.read_bytes()
    whole = write([*range(1, LONG + 3)])
    assert whole.startswith(before)
    read = counted(monkeypatch)
    for reader in all_readers().values():
        monkeypatch.setattr(type(reader), "read", lambda *_: pytest.fail("it is read from the start"))
    with path.open("ab") as file:
        file.write(whole[len(before) :])
    assert new_steps(followed) == [LONG, LONG + 1, LONG + 2]
    assert b"".join(read) == whole[len(before) :]


@EACH
@pytest.mark.parametrize("size", [5, LONG])
def test_a_log_that_is_cut_or_replaced_begins_anew(name, path, size, tmp_path):
    path.write_bytes(FORMATS[name]([*range(1, size)]))
    followed = follow(path)
    assert len(new_steps(followed)) == size - 1
    path.write_bytes(FORMATS[name]([1, 2, 3]))
    assert new_steps(followed) == [1, 2, 3]
    other = tmp_path / "other"
    other.write_bytes(FORMATS[name]([1, 2]))
    other.replace(path)
    assert new_steps(followed) == [1, 2]


@EACH
def test_a_log_that_is_moved_away_goes_on_under_its_name(name, path):
    path.write_bytes(FORMATS[name]([1, 2, 3]))
    followed = follow(path)
    new_steps(followed)
    path.rename(path.with_name("moved." + path.name))
    assert new_steps(followed) == []
    path.write_bytes(FORMATS[name]([4, 5]))
    assert new_steps(followed)[-2:] == [4, 5]


# W&B begins another file, in another folder.
@pytest.mark.parametrize("name", [name for name in APPENDED if not name.endswith(".wandb")])
def test_a_writer_that_starts_again_behind_a_torn_end_is_read_on(name, path):
    write = APPENDED[name]
    path.write_bytes(write([1, 2, 3, 4, 5])[:-3])
    followed = follow(path)
    assert new_steps(followed)[:4] == [1, 2, 3, 4]
    with path.open("ab") as file:
        file.write((b"" if name.startswith("events") else b"\n") + write([4, 5, 6]))
    assert new_steps(followed)[-3:] == [4, 5, 6]
