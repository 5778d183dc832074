"""Which trackers a run reports to, and what they write."""

import json
import math
import os
from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest

from holter import discovery
from holter.errors import SettingsError, UnknownNameError
from holter.runs.load import load
from holter.sinks import registry
from holter.sinks.base import Destination, Sink, Tracker
from holter.sinks.isolated import Isolated
from holter.sinks.naming import as_transformers, renamed
from holter.sinks.registry import all_trackers, chosen, sinks_for
from holter.store.manifest import Manifest
from holter.store.reading import rows

MANIFEST = Manifest(id="run", created=0.0, algorithm="ppo", config={"beta": 0.1, "rate": "Infinity"})


def names(found):
    return [t.name for t in found]


def test_the_run_folder_is_the_default_and_comes_first():
    assert names(chosen(None)[0]) == ["holter"]
    assert names(chosen(["jsonl", "holter", "jsonl"])[0]) == ["holter", "jsonl"]
    assert chosen("none") == ((), ())
    assert chosen([]) == ((), ())


def test_names_that_somebody_else_drives_are_told_apart():
    ours, theirs = chosen(["mlflow", "holter"], foreign=["mlflow", "trackio"])
    assert (names(ours), theirs) == (["holter"], ("mlflow",))


def test_all_is_what_is_installed(monkeypatch):
    trackers = {**all_trackers(), "absent": Tracker(name="absent", title="", create=list, package="no_such_package")}
    monkeypatch.setattr(registry, "all_trackers", lambda: trackers)
    ours, theirs = chosen("all", foreign=["mlflow", "tensorboard"])
    assert "holter" in names(ours)
    assert "absent" not in names(ours)
    assert theirs == ("mlflow",)
    with pytest.raises(SettingsError, match="pip install no_such_package"):
        chosen("absent")


def test_a_tracker_of_another_package_is_found_by_its_entry_point(monkeypatch):
    offered = Tracker(name="acme", title="Acme's tracker", create=list)
    point = EntryPoint("acme", "acme.holter:TRACKER", "holter.sinks")
    monkeypatch.setattr(EntryPoint, "load", lambda self: offered)
    monkeypatch.setattr(discovery, "entry_points", lambda group: [point] if group == "holter.sinks" else [])
    found = registry.all_trackers.__wrapped__()
    assert found["acme"] is offered
    monkeypatch.setattr(registry, "all_trackers", lambda: found)
    assert names(chosen(["acme"])[0]) == ["acme"]


def test_unknown_and_contradictory_names_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean tensorboard"):
        chosen("tensorbord")
    with pytest.raises(SettingsError, match="'none' stands alone"):
        chosen(["none", "holter"])


def test_only_the_run_folder_and_plain_files_are_driven_directly(tmp_path):
    for tracker in all_trackers().values():
        (sink,) = sinks_for([tracker], Destination(folder=tmp_path))
        assert isinstance(sink, Sink)
        assert isinstance(sink, Isolated) is not tracker.direct
    assert {t.name for t in all_trackers().values() if t.direct} == {"holter", "jsonl"}


def test_names_at_trackers_are_those_of_transformers():
    row = {"time": 1.0, "objective/kl": 2.0, "eval/reward": math.nan, "eval_loss": 3.0, "gone": None}
    assert set(renamed(row, as_transformers)) == {"train/objective/kl", "eval/reward", "eval/loss"}


def test_the_run_folder_begins_and_resumes(tmp_path):
    to = Destination(folder=tmp_path / "run")
    for destination in (to, replace(to, resume=True, resumed_step=2)):
        (sink,) = sinks_for(chosen("holter")[0], destination)
        sink.open(MANIFEST)
        for step in (1, 2, 3):
            sink.write(step + 2 * destination.resume, {"time": float(step), "loss": math.nan})
        sink.samples(3, [{"prompt": "a"}])
        sink.close()
    assert [(r.segment, r.step) for r in rows(to.folder)] == [(0, 1), (0, 2), (1, 3), (1, 4), (1, 5)]
    assert (to.folder / "samples-1.jsonl").exists()


def test_the_plain_file_has_the_names_of_the_trackers(tmp_path):
    (sink,) = sinks_for(chosen("jsonl")[0], Destination(folder=tmp_path, rename=as_transformers))
    sink.open(MANIFEST)
    sink.write(3, {"time": 1.5, "loss": math.inf, "kl": None})
    sink.close()
    assert json.loads((tmp_path / "log.jsonl").read_text()) == {"step": 3, "time": 1.5, "train/loss": "Infinity"}


def test_event_files_hold_what_was_logged(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    to = Destination(folder=tmp_path, logging_dir=tmp_path / "tb", rename=as_transformers)
    (sink,) = sinks_for(chosen("tensorboard")[0], to)
    sink.open(MANIFEST)
    sink.write(1, {"time": 100.0, "loss": 0.5, "kl": math.nan, "gone": None})
    sink.write(2, {"time": 101.0, "loss": math.inf, "eval/reward": 1.0})
    sink.close()
    read = EventAccumulator(str(tmp_path / "tb"))
    read.Reload()
    assert sorted(read.Tags()["scalars"]) == ["eval/reward", "train/kl", "train/loss"]
    assert [(e.wall_time, e.step, e.value) for e in read.Scalars("train/loss")] == [
        (100.0, 1, 0.5),
        (101.0, 2, math.inf),
    ]
    assert math.isnan(read.Scalars("train/kl")[0].value)
    assert b'"beta": 0.1' in read.Tensors("args/text_summary")[0].tensor_proto.string_val[0]


def test_event_files_take_one_event_a_row_and_are_read_back_as_they_were(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    (sink,) = sinks_for(chosen("tensorboard")[0], Destination(folder=tmp_path, logging_dir=tmp_path / "tb"))
    sink.open(MANIFEST)
    logged = [{"time": 100.0 + n, "kl": 0.25 * n, "reward": math.nan, "loss": -math.inf} for n in range(5)]
    for step, row in enumerate(logged):
        sink.write(step, row)
    sink.write(5, {"time": 105.0, "kl": None})
    sink.close()
    (file,) = (tmp_path / "tb").iterdir()
    events = [e for e in EventFileLoader(str(file)).Load() if e.summary.value and e.summary.value[0].tag in logged[0]]
    assert [(e.step, e.wall_time, len(e.summary.value)) for e in events] == [(n, 100.0 + n, 3) for n in range(5)]
    (run,) = load([tmp_path / "tb"]).runs
    assert run.steps.tolist() == list(range(5))
    assert run["kl"].values.tolist() == [0.25 * n for n in range(5)]
    assert all(math.isnan(v) for v in run["reward"].values)
    assert run["loss"].values.tolist() == [-math.inf] * 5


@pytest.mark.parametrize("takes", [0, 10])
def test_a_full_disk_leaves_an_event_file_that_goes_on(tmp_path, monkeypatch, takes):
    sink = all_trackers()["tensorboard"].create(Destination(folder=tmp_path, logging_dir=tmp_path / "tb"))
    sink.open(MANIFEST)
    sink.write(1, {"time": 1.0, "kl": 0.1})
    write = os.write

    def full(descriptor, line):
        if not takes:
            raise OSError(28, "No space left on device")
        return write(descriptor, line[:takes])

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            sink.write(2, {"time": 2.0, "kl": 0.2})
    sink.write(2, {"time": 2.0, "kl": 0.2})
    sink.close()
    assert len(list((tmp_path / "tb").iterdir())) == 1
    (run,) = load([tmp_path / "tb"]).runs
    assert run["kl"].values.tolist() == pytest.approx([0.1, 0.2])


@pytest.mark.slow
def test_an_offline_wandb_run_holds_what_was_logged(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    for name, value in (
        ("MODE", "offline"),
        ("SILENT", "true"),
        ("DATA_DIR", str(tmp_path)),
        ("CACHE_DIR", str(tmp_path)),
    ):
        monkeypatch.setenv(f"WANDB_{name}", value)
    to = Destination(folder=tmp_path, project="p", rename=as_transformers)
    (sink,) = sinks_for(chosen("wandb")[0], to)
    sink.open(MANIFEST)
    for step in range(1, 4):
        sink.write(step, {"time": 100.0 + step, "loss": 0.5 * step, "kl": math.nan})
    sink.samples(3, [{"prompt": "a", "reward": 1.0}, {"prompt": "b", "extra": [1]}])
    sink.alert("kl-runaway critical", "it runs away", "ERROR")
    sink.close()
    # Ends wandb's own process, which writes the file a moment after a run is finished.
    wandb.teardown()
    (file,) = tmp_path.rglob("run-*.wandb")
    data = file.read_bytes()
    for said in (
        b"train/loss",
        b"1.5",
        b"train/kl",
        b"NaN",
        b"train/global_step",
        b"beta",
        b"completions",
        b"kl-runaway critical",
        b"it runs away",
    ):
        assert said in data
