"""MLflow and Trackio, the real packages: what was logged stands in their stores. Skipped where they are not installed."""

import math
import sys

import pytest

from holter.sinks.base import Destination
from holter.sinks.mlflow import MLflowSink
from holter.sinks.registry import all_trackers, chosen
from holter.sinks.trackio import TrackioSink
from holter.store.manifest import Manifest

MANIFEST = Manifest(id="run", created=0.0, config={"beta": 0.1, "a?b": 3})
ROWS = [{"time": 100.0 + n, "kl": 0.25 * n, "x": math.nan, "KL散度[1]": 2.0, "gone": None} for n in range(3)]
SAMPLES = [{"prompt": "a", "reward": 1.0}, {"prompt": [{"role": "user"}], "extra": 2}]


def record(sink, rows, first=0):
    sink.open(MANIFEST)
    for step, row in enumerate(rows, start=first):
        sink.write(step, row)
    sink.samples(first, SAMPLES)
    sink.close()


@pytest.fixture
def client(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'store.db'}")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'store.db'}")
    yield mlflow.MlflowClient()
    mlflow.set_tracking_uri(None)


def history(client, run, name):
    return sorted((m.step, m.value, m.timestamp) for m in client.get_metric_history(run.info.run_id, name))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_holds_rows_settings_and_tables_and_a_resumed_run_goes_on(tmp_path, client):
    record(MLflowSink(Destination(folder=tmp_path, project="p")), ROWS)
    again = MLflowSink(Destination(folder=tmp_path, project="p", resume=True))
    record(again, ROWS, first=3)
    again.configure({"gamma": 1, "beta": 0.2})
    (run,) = client.search_runs([client.get_experiment_by_name("p").experiment_id])
    assert run.data.params == {"beta": "0.1", "a_b": "3", "gamma": "1"}
    assert run.info.status == "FINISHED"
    assert history(client, run, "kl") == [
        (n + 3 * part, 0.25 * n, 100_000 + 1000 * n) for part in range(2) for n in range(3)
    ]
    assert [math.isnan(value) for _, value, _ in history(client, run, "x")] == [True] * 6
    assert "KL___1_" in run.data.metrics
    assert "gone" not in run.data.metrics
    assert [a.path for a in client.list_artifacts(run.info.run_id, "completions")] == [
        "completions/00000000.json",
        "completions/00000003.json",
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_active_mlflow_run_is_joined_and_left_open(tmp_path, client):
    import mlflow

    with mlflow.start_run() as active:
        mlflow.log_param("beta", 0.5)
        record(MLflowSink(Destination(folder=tmp_path)), ROWS)
        assert client.get_run(active.info.run_id).info.status == "RUNNING"
    assert client.get_run(active.info.run_id).data.metrics["kl"] == 0.5
    assert client.get_run(active.info.run_id).data.params == {"beta": "0.5", "a_b": "3"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_takes_a_row_of_more_metrics_than_one_call_may_hold_and_goes_without_pandas(
    tmp_path, client, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pandas", None)
    record(MLflowSink(Destination(folder=tmp_path, project="p")), [{f"m{n}": float(n) for n in range(2500)}])
    (run,) = client.search_runs([client.get_experiment_by_name("p").experiment_id])
    assert run.data.metrics == {f"m{n}": float(n) for n in range(2500)}
    assert not client.list_artifacts(run.info.run_id)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_row_of_which_mlflow_took_a_part_is_offered_again_and_held_once(tmp_path, client, monkeypatch):
    sink = MLflowSink(Destination(folder=tmp_path, project="p"))
    sink.open(MANIFEST)
    row = {"time": 1e5, **{f"m{n}": float(n) for n in range(1500)}, "m7": math.nan}
    plain, calls = sink._client.log_batch, []

    def failing(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 2:
            raise ConnectionError("the network is gone")
        return plain(*arguments, **options)

    monkeypatch.setattr(sink._client, "log_batch", failing)
    with pytest.raises(ConnectionError):
        sink.write(1, row)
    sink.write(1, row)
    sink.close()
    (run,) = client.search_runs([client.get_experiment_by_name("p").experiment_id])
    assert len(calls) == 4
    assert [len(history(client, run, f"m{n}")) for n in (0, 7, 999, 1000, 1499)] == [1] * 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_trackio_holds_rows_settings_and_alerts(tmp_path, monkeypatch):
    trackio = pytest.importorskip("trackio")
    from trackio.sqlite_storage import SQLiteStorage

    for module in ("trackio.sqlite_storage", "trackio.utils"):
        monkeypatch.setattr(f"{module}.TRACKIO_DIR", tmp_path)
    sink = TrackioSink(
        Destination(folder=tmp_path, project="p", run_name="r", options={"trackio": {"auto_log_cpu": False}})
    )
    sink.open(MANIFEST)
    sink.configure({"gamma": 1})
    for step, row in enumerate(ROWS):
        sink.write(step, row)
    sink.samples(2, SAMPLES)
    sink.alert("kl-runaway critical", "it runs away", "ERROR")
    sink.close()
    assert trackio.__version__
    logged = [row for row in SQLiteStorage.get_logs("p", "r") if "kl" in row]
    assert [(row["step"], row["kl"]) for row in logged] == [(n, 0.25 * n) for n in range(3)]
    assert {"beta": 0.1, "gamma": 1}.items() <= SQLiteStorage.get_run_config("p", "r").items()
    (alert,) = SQLiteStorage.get_alerts("p")
    assert (alert["title"], alert["level"]) == ("kl-runaway critical", "error")


def test_a_trainer_that_drives_them_itself_goes_before(monkeypatch):
    for name in ("mlflow", "trackio"):
        assert all_trackers()[name].gives_way
    assert chosen(["mlflow", "holter"], foreign=["mlflow"])[1] == ("mlflow",)
    ours, theirs = chosen("all", foreign=["mlflow", "trackio"])
    assert theirs == ("mlflow", "trackio")
    assert not {"mlflow", "trackio"} & {t.name for t in ours}
