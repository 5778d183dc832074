"""Databases and folders of Trackio and MLflow, as their clients lay them out."""

import json
import math
import random
import sqlite3

import pytest

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.registry import read
from holter.runs.load import load


def values(run, metric):
    return next(s for s in run.series.values() if s.metric == metric).values


LARGEST = 1.7976931348623157e308


@pytest.fixture
def trackio(tmp_path):
    """A project of two runs, the second of them logged between the rows of the first."""
    path = tmp_path / "lab.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, "
            "run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL, log_id TEXT, space_id TEXT)"
        )
        connection.execute(
            "CREATE TABLE configs (id INTEGER PRIMARY KEY, run_id TEXT, run_name TEXT, config TEXT, created_at TEXT)"
        )
        connection.execute("INSERT INTO configs VALUES (1, 'b', 'seed-2', ?, '')", (b'{"beta": 0.04, "_Group": null}',))
        for i in range(6):
            for run, name in (("a", "seed-1"), ("b", "seed-2")):
                row = {
                    "train/global_step": 10 * i,
                    "train/loss": i / 4 if run == "a" else "NaN",
                    "train/kl": None,
                    "note": "x",
                }
                connection.execute(
                    "INSERT INTO metrics VALUES (NULL, ?, '', ?, ?, ?, NULL, NULL)",
                    (run, name, 3 * i, json.dumps(row).encode()),
                )
        connection.execute("INSERT INTO metrics VALUES (NULL, 'a', '', 'seed-1', 99, '{broken', NULL, NULL)")
    connection.close()
    return path


def test_every_run_of_a_trackio_project_is_a_run_by_its_training_step(trackio):
    first, second = load([trackio]).runs
    assert first.steps.tolist() == second.steps.tolist() == [0, 10, 20, 30, 40, 50]
    assert values(first, "train/loss").tolist() == [0, 0.25, 0.5, 0.75, 1, 1.25]
    assert all(math.isnan(v) for v in values(second, "train/loss"))
    assert second.config == {"beta": 0.04}
    assert any("row 13 of the table of metrics is not JSON" in str(s) for s in first.skipped)


def test_an_older_trackio_database_without_ids_is_told_apart_by_names(tmp_path):
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT)"
        )
        for i in range(4):
            connection.execute("INSERT INTO metrics VALUES (NULL, '', ?, ?, ?)", (f"r{i % 2}", i, f'{{"loss": {i}.5}}'))
    connection.close()
    assert [log.columns["loss"].values.tolist() for log in read(Source.of(path))] == [[0.5, 2.5], [1.5, 3.5]]


def test_a_database_that_is_being_written_is_read_with_what_is_in_its_write_ahead_log(trackio):
    writer = sqlite3.connect(trackio)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute(
        "INSERT INTO metrics VALUES (NULL, 'a', '', 'seed-1', 100, '{\"train/global_step\": 60, \"train/loss\": 7}', NULL, NULL)"
    )
    writer.commit()
    first, _ = load([trackio]).runs
    assert values(first, "train/loss")[-1] == 7
    writer.close()


@pytest.fixture
def mlflow(tmp_path):
    path = tmp_path / "mlflow.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE runs (run_uuid VARCHAR(32), name VARCHAR(250), status VARCHAR(9), lifecycle_stage VARCHAR(20))"
        )
        connection.execute("CREATE TABLE params (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32))")
        connection.execute(
            "CREATE TABLE metrics (key VARCHAR(250), value FLOAT, timestamp BIGINT, run_uuid VARCHAR(32), "
            "step BIGINT, is_nan BOOLEAN)"
        )
        runs = [("u1", "seed-1", "active"), ("u2", "seed-2", "active"), ("u3", "gone", "deleted")]
        connection.executemany("INSERT INTO runs VALUES (?, ?, 'FINISHED', ?)", runs)
        connection.executemany("INSERT INTO params VALUES (?, ?, 'u1')", [("lr", "1e-06"), ("algo", "grpo")])
        points = [
            ("loss", 0.5, 1, "u1", 10, 0),
            ("loss", 0.0, 2, "u1", 20, 1),
            ("loss", LARGEST, 3, "u1", 30, 0),
            ("loss", -LARGEST, 4, "u1", 40, 0),
            ("reward", 1.5, 2, "u1", 20, 0),
            ("reward", 2.5, 9, "u1", 20, 0),
            ("reward", 0.5, 5, "u1", 40, 0),
            ("system/cpu", 99.0, 1, "u1", 1, 0),
            *(("loss", v, t, "u2", 0, 0) for t, v in ((3, 0.25), (1, 1.0), (2, 0.5))),
            ("loss", 1.0, 1, "u3", 1, 0),
        ]
        connection.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", points)
    connection.close()
    return path


def test_nan_infinity_and_repeated_steps_of_an_mlflow_database(mlflow):
    first, second = read(Source.of(mlflow))
    assert first.columns["step"].values.tolist() == [10, 20, 30, 40]
    assert str(first.columns["loss"].values.tolist()) == "[0.5, nan, inf, -inf]"
    assert first.columns["reward"].at.tolist() == [1, 3]
    assert first.columns["reward"].values.tolist() == [2.5, 0.5]
    assert "system/cpu" not in first.columns
    assert first.config == {"lr": 1e-06, "algo": "grpo"}
    assert any("measurements of the machine left aside" in n for n in first.notes)
    assert any("logged again at the same step, of which the newest was taken: 1" in n for n in first.notes)
    assert second.columns["loss"].values.tolist() == [1.0, 0.5, 0.25]
    assert any("no step was given" in n for n in second.notes)


def test_a_row_that_is_no_point_is_counted(mlflow):
    with sqlite3.connect(mlflow) as connection:
        connection.execute(
            "INSERT INTO metrics VALUES ('loss', 'high', 5, 'u1', 50, 0), ('loss', 0.5, 6, 'u1', NULL, 0)"
        )
    connection.close()
    first, _ = read(Source.of(mlflow))
    assert first.columns["step"].values.tolist() == [10, 20, 30, 40]
    assert [s.why for s in first.skipped] == ["rows of the table of metrics that are no points: 2"]


def mlflow_folder(tmp_path, metrics, stage="active"):
    run = tmp_path / "mlruns" / "7" / "12be92"
    (run / "params").mkdir(parents=True)
    (run / "params" / "lr").write_text("1e-06")
    (tmp_path / "mlruns" / "7" / "meta.yaml").write_text("experiment_id: '7'\nname: grpo\nartifact_location: x\n")
    (run / "meta.yaml").write_text(f"artifact_uri: x\nlifecycle_stage: {stage}\nrun_id: 12be92\nrun_name: seed-1\n")
    for name, text in metrics.items():
        path = run / "metrics" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return run


def test_a_file_store_is_found_in_its_folder_and_names_with_slashes_lie_in_folders(tmp_path):
    metrics = {"train/loss": "1 0.5 10\n2 nan 20\n3 -inf 30\n", "train/reward": "1 1.5 10\n3 2.5 30 dataset digest\n"}
    run = mlflow_folder(tmp_path, metrics)
    for place in (tmp_path / "mlruns", run, run / "meta.yaml"):
        (found,) = load([place]).runs
        assert found.steps.tolist() == [10, 20, 30]
        assert str(values(found, "train/loss").tolist()) == "[0.5, nan, -inf]"
        assert found.get("reward").at.tolist() == [0, 2]
        assert found.config == {"lr": 1e-06}


def test_a_broken_line_and_a_torn_end_of_a_metric_are_told(tmp_path):
    run = mlflow_folder(tmp_path, {"loss": "1 0.5 10\nhello\n2 0.25 20\n3 0.125 3"})
    (log,) = read(Source.of(run / "meta.yaml"))
    assert log.columns["loss"].values.tolist() == [0.5, 0.25]
    assert [(s.line, s.why) for s in log.skipped] == [(2, "not a time, a value and a step")]
    assert any("not finished yet" in n for n in log.notes)


def test_a_step_that_no_counter_reaches_is_no_point(tmp_path):
    run = mlflow_folder(tmp_path, {"loss": "1 0.5 10\n2 0.5 inf\n3 0.5 nan\n4 0.25 20\n"})
    (log,) = read(Source.of(run / "meta.yaml"))
    assert log.columns["step"].values.tolist() == [10, 20]
    assert [s.line for s in log.skipped] == [2, 3]


def test_a_deleted_run_is_refused(tmp_path):
    run = mlflow_folder(tmp_path, {"loss": "1 0.5 10\n"}, stage="deleted")
    with pytest.raises(UnreadableLogError, match="was deleted"):
        read(Source.of(run / "meta.yaml"))


def test_a_database_of_something_else_is_refused_by_its_tables(tmp_path):
    path = tmp_path / "trials.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE trials (id INTEGER, value REAL)")
    connection.close()
    with pytest.raises(UnreadableLogError, match="none of Trackio, MLflow, Aim or SwanLab; its tables: trials"):
        read(Source.of(path))


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_database_is_read_or_refused(trackio, tmp_path, seed):
    chance = random.Random(seed)
    data = bytearray(trackio.read_bytes())
    for _ in range(20):
        data[chance.randrange(16, len(data))] = chance.randrange(256)
    path = tmp_path / "damaged.db"
    path.write_bytes(bytes(data[: chance.choice((len(data), chance.randrange(100, len(data))))]))
    for source in (Source.of(path), Source("damaged.db", data=path.read_bytes())):
        try:
            logs = read(source)
        except UnreadableLogError as error:
            refusal = str(error)
        else:
            assert all(log.rows for log in logs)
            continue
        assert "damaged.db" in refusal
