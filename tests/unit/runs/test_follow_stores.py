"""Databases and folders of trackers that grow: what is new is asked for, and nothing is read twice."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from holter.runs.follow import Follow
from holter.runs.load import load

SWANLAB = Path(__file__).parents[2] / "golden" / "swanlab" / "local-store"
NAMES = ("loss", "reward")


class Trackio:
    """A project as Trackio keeps it, written to by another process."""

    def __init__(self, folder):
        self.path = folder / "lab.db"
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_name TEXT, step INTEGER, metrics TEXT)"
        )

    def log(self, run, step):
        row = json.dumps({"global_step": step, **dict.fromkeys(NAMES, step / 4)})
        self.connection.execute("INSERT INTO metrics VALUES (NULL, ?, ?, ?)", (run, step, row))

    def forget(self, run):
        self.connection.execute("DELETE FROM metrics WHERE run_name = ?", (run,))


class Mlflow:
    """MLflow's database."""

    def __init__(self, folder):
        self.path = folder / "mlflow.db"
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("CREATE TABLE runs (run_uuid TEXT PRIMARY KEY, name TEXT, lifecycle_stage TEXT)")
        self.connection.execute(
            "CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT, step BIGINT)"
        )

    def log(self, run, step):
        self.connection.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, 'active')", (run, run))
        for name in NAMES:
            self.connection.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, ?)", (name, step / 4, step, run, step))

    def forget(self, run):
        self.connection.execute("DELETE FROM metrics WHERE run_uuid = ?", (run,))
        self.connection.execute("DELETE FROM runs WHERE run_uuid = ?", (run,))


class MlflowFiles:
    """MLflow's file store."""

    def __init__(self, folder):
        self.path = folder / "mlruns"

    def log(self, run, step):
        home = self.path / "0" / run
        (home / "metrics").mkdir(parents=True, exist_ok=True)
        if not (home / "meta.yaml").exists():
            (home / "meta.yaml").write_text(f"artifact_uri: x\nrun_id: {run}\nrun_name: {run}\n")
        for name in NAMES:
            with (home / "metrics" / name).open("a") as file:
                file.write(f"{step} {step / 4} {step}\n")

    def forget(self, run):
        shutil.rmtree(self.path / "0" / run)


EACH = pytest.mark.parametrize("store", [Trackio, Mlflow, MlflowFiles], indirect=True)
DATABASES = pytest.mark.parametrize("store", [Trackio, Mlflow], indirect=True)


@pytest.fixture
def store(request, tmp_path):
    made = request.param(tmp_path)
    yield made
    if hasattr(made, "connection"):
        made.connection.close()


@pytest.fixture
def follow(store):
    """A follower that looks for new files at every call."""
    ticks = iter(range(10**6))
    return Follow([store.path], clock=lambda: next(ticks))


def came(follow):
    """The steps that came, run by run."""
    axes = ("global_step", "step")
    return [
        [int(v) for axis in axes if axis in log.columns for v in log.columns[axis].values.tolist()]
        for log in follow.poll().rows
    ]


def by_run(follow):
    return {run.name.rpartition("/")[2]: run.steps.tolist() for run in follow.load().runs}


@EACH
def test_new_rows_of_every_run_come_once(store, follow):
    assert came(follow) == []
    for step in (1, 2):
        store.log("a", step)
    assert came(follow) == [[1, 2]]
    assert came(follow) == []
    store.log("a", 3)
    store.log("b", 1)
    assert came(follow) == [[3], [1]]
    store.log("b", 2)
    assert came(follow) == [[2]]
    assert sorted(by_run(follow).values()) == [[1, 2], [1, 2, 3]]


@EACH
def test_a_run_that_was_deleted_is_gone(store, follow):
    for step in (1, 2, 3):
        store.log("a", step)
        store.log("b", step)
    assert came(follow) == [[1, 2, 3], [1, 2, 3]]
    store.forget("b")
    store.log("a", 4)
    came(follow)
    assert list(by_run(follow).values()) == [[1, 2, 3, 4]]


@DATABASES
def test_rows_that_were_read_are_not_asked_for_again(store, follow, monkeypatch):
    for step in range(1, 301):
        store.log("a", step)
    assert came(follow) == [[*range(1, 301)]]
    asked = []
    connect = sqlite3.connect

    class Counting(sqlite3.Connection):
        def execute(self, sql, *parameters):
            cursor = super().execute(sql, *parameters)
            if "FROM metrics" not in sql:
                return cursor
            rows = cursor.fetchall()
            asked.extend(rows)
            return super().execute(sql, *parameters)

    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Counting))
    store.log("a", 301)
    assert came(follow) == [[301]]
    assert len(asked) < 10
    asked.clear()
    assert came(follow) == []
    assert asked == []


def test_the_lines_of_a_file_store_that_were_read_are_not_read_again(tmp_path, monkeypatch):
    store = MlflowFiles(tmp_path)
    for step in range(1, 301):
        store.log("a", step)
    follow = Follow([store.path])
    assert came(follow) == [[*range(1, 301)]]
    read_bytes = []
    plain = Path.open

    def counting(path, *arguments, **options):
        stream = plain(path, *arguments, **options)
        if path.name in NAMES:
            before = stream.read
            stream = _Counted(stream, before, read_bytes)
        return stream

    store.log("a", 301)
    monkeypatch.setattr(Path, "open", counting)
    assert came(follow) == [[301]]
    assert b"".join(read_bytes) == b"301 75.25 301\n" * len(NAMES)


class _Counted:
    def __init__(self, stream, read, into):
        self._stream, self._read, self._into = stream, read, into

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()

    def seek(self, at):
        return self._stream.seek(at)

    def read(self, size):
        data = self._read(size)
        self._into.append(data)
        return data


@EACH
def test_growing_is_what_reading_once_is(store, follow):
    for step in range(1, 20):
        store.log("a" if step % 3 else "b", step)
        came(follow)
        once, live = load([store.path]).runs, follow.load().runs
        assert [(run.name, run.steps.tolist(), run.notes) for run in live] == [
            (run.name, run.steps.tolist(), run.notes) for run in once
        ]
        for ours, theirs in zip(live, once, strict=True):
            assert {k: s.values.tolist() for k, s in ours.series.items()} == {
                k: s.values.tolist() for k, s in theirs.series.items()
            }


def test_a_database_in_the_place_of_another_is_read_anew(tmp_path):
    first, second = (Trackio(tmp_path / name) for name in ("a", "b") if (tmp_path / name).mkdir() is None)
    for step in (1, 2, 3):
        first.log("r", step)
    for step in (7, 8, 9, 10):
        second.log("r", step)
    follow = Follow([first.path])
    assert came(follow) == [[1, 2, 3]]
    for each in (first, second):
        each.connection.execute("PRAGMA journal_mode=DELETE")
        each.connection.close()
    shutil.copyfile(second.path, first.path)
    came(follow)
    assert list(by_run(follow).values()) == [[7, 8, 9, 10]]


def test_what_swanlab_keeps_in_its_folder_is_read_again_when_it_changed(tmp_path):
    folder = Path(shutil.copytree(SWANLAB, tmp_path / "swanlog"))
    follow = Follow([folder])
    assert len(follow.poll()) == 6
    assert len(follow.poll()) == 0
    for points in folder.glob("run-*/logs/*/1000.log"):
        if '"data": "' not in points.read_text() or "NaN" in points.read_text():
            with points.open("a") as file:
                file.write('{"index": 6, "data": 6}\n')
    assert len(follow.poll()) == 1
    assert follow.load().runs[0].steps.tolist() == [0, 1, 2, 3, 4, 5, 6]
