"""Recording from one's own loop: what is written, what is refused, what never happens to training."""

from __future__ import annotations

import copy
import logging
import math
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import holter
from holter.errors import SettingsError, UnknownNameError
from holter.runs.load import load
from holter.session import NoRunError, NoSuchRunError
from holter.sinks import registry
from holter.sinks.base import Tracker
from holter.sinks.registry import all_trackers
from holter.store.manifest import read_manifest
from holter.store.run_folder import RunFolderError
from tests.patience import PATIENCE


def rows(run, lines):
    return [{k: v for k, v in row.items() if k != "time"} for row in lines(run.path / f"metrics-{segment(run)}.jsonl")]


def segment(run):
    return max(int(p.stem.split("-")[1]) for p in run.path.glob("metrics-*.jsonl"))


def test_a_row_is_in_the_file_when_log_returns(begin, lines):
    run = begin()
    run.log({"reward": 0.3, "kl": 0.01}, step=7)
    assert rows(run, lines) == [{"step": 7, "reward": 0.3, "kl": 0.01}]


def test_steps_count_up_from_one_and_go_on_from_a_given_one(begin, lines):
    run = begin()
    for step in (None, None, 10, None):
        run.log({"reward": 1.0}, step=step)
    run.log({"step": 20, "reward": 1.0})
    run.log({"reward": 1.0}, step=np.int64(21))
    assert [r["step"] for r in rows(run, lines)] == [1, 2, 10, 11, 20, 21]


def test_numbers_of_all_kinds_are_written_and_nan_infinity_and_null_stay_apart(begin, lines):
    run = begin()
    run.log(
        {
            "a": np.float32(0.5),
            "b": np.array([2]),
            "c": float("nan"),
            "d": -math.inf,
            "e": None,
            "f": True,
            "losses": {"value": 1, "deep": {"er": 2.0}},
            5: 6,
        }
    )
    assert rows(run, lines) == [
        {
            "step": 1,
            "a": 0.5,
            "b": 2,
            "c": "NaN",
            "d": "-Infinity",
            "e": None,
            "f": 1,
            "losses/value": 1,
            "losses/deep/er": 2.0,
            "5": 6,
        }
    ]


def test_tensors_of_one_element_are_numbers(begin, lines):
    torch = pytest.importorskip("torch")
    run = begin()
    run.log({"a": torch.tensor([0.5], requires_grad=True), "b": torch.tensor(3), "c": torch.ones(2)})
    assert rows(run, lines) == [{"step": 1, "a": 0.5, "b": 3}]


def test_what_is_no_number_is_left_out_and_said_once(begin, lines, caplog):
    run = begin()
    itself: dict = {}
    itself["deeper"] = itself
    with caplog.at_level(logging.WARNING, "holter"):
        for _ in range(3):
            run.log({"phase": "warm-up", "logits": np.ones((3, 4)), "loop": itself, "kl": 0.1, "made": [1, 2]})
    assert rows(run, lines) == [{"step": n, "kl": 0.1} for n in (1, 2, 3)]
    said = [r.getMessage() for r in caplog.records]
    assert len(said) == 4
    assert "'phase' is text ('warm-up'), not a number" in said[0]
    assert "'logits' is a ndarray of shape (3, 4)" in said[1]


class Hostile:
    """A value that raises whatever is done with it."""

    shape = ()

    def item(self):
        raise RuntimeError("the device is lost")


@pytest.mark.parametrize(
    "values", [None, 3, "loss", {"a": Hostile()}, {Hostile(): 1.0}, {"a": 10**400}, {"a": 1j}, {"time": 3.0}, {}]
)
def test_nothing_that_is_logged_raises_into_training(begin, values):
    run = begin()
    run.log(values)
    run.log({"kl": 1.0}, step="seven")
    run.log({"kl": 1.0}, step=float("nan"))
    run.log_samples(values)
    run.alert(values, level=values)
    run.log({"kl": 2.0}, step=9)
    (loaded,) = load([run.path]).runs
    assert loaded["kl"].values.tolist() == [1, 1, 2]
    assert loaded.steps[-1] == 9


def test_completions_come_by_row_or_by_column(begin, lines):
    run = begin()
    run.log({"kl": 0.1}, step=3)
    run.log_samples([{"prompt": "p", "completion": "c", "rewards/length": 1.0}])
    run.log_samples({"prompt": ["q", "r"], "advantage": np.array([0.5, -0.5])}, step=4)
    assert lines(run.path / "samples-0.jsonl") == [
        {"step": 3, "prompt": "p", "completion": "c", "rewards/length": 1.0},
        {"step": 4, "prompt": "q", "advantage": 0.5},
        {"step": 4, "prompt": "r", "advantage": -0.5},
    ]


def test_columns_of_completions_that_differ_in_length_are_refused_with_their_lengths(begin, caplog):
    with caplog.at_level(logging.WARNING, "holter"):
        begin().log_samples({"prompt": ["q", "r"], "completion": ["a"]})
    assert "{'prompt': 2, 'completion': 1}" in caplog.text


def test_an_own_alert_is_written_and_told_and_waits_before_it_is_told_again(begin, lines, heard):
    run = begin()
    for _ in range(2):
        run.alert("disk", "almost full", level="ERROR", wait_duration=1000)
    run.finish()
    assert [str(each) for each in heard] == ["error: disk: almost full"]
    said = lines(run.path / "findings.jsonl")
    assert [(s["kind"], s.get("title")) for s in said] == [("alert", "disk"), ("finished", None)]


def test_a_second_run_is_not_written_over_the_first(begin):
    begin()
    with pytest.raises(RunFolderError, match="already holds a run: resume it"):
        begin()


def test_a_resume_is_a_new_segment_that_replaces_what_came_after_the_checkpoint(begin, lines):
    first = begin()
    for step in range(1, 11):
        first.log({"kl": float(step)}, step=step)
    first.finish()
    again = begin(resume=True, resumed_step=6)
    again.log({"kl": 70.0})
    again.log({"kl": 80.0})
    assert again.id == first.id
    assert rows(again, lines) == [{"step": 7, "kl": 70.0}, {"step": 8, "kl": 80.0}]
    (run,) = load(["mine"]).runs
    assert run["kl"].values.tolist() == [1, 2, 3, 4, 5, 6, 70, 80]


def test_a_run_is_resumed_by_its_id_and_goes_on_counting(begin, lines):
    first = begin("runs/a/b")
    first.log({"kl": 1.0})
    first.finish()
    for again in (lambda: begin(None, id=first.id, resume="must"), lambda: begin(None, resume=first.id)):
        run = again()
        assert (run.id, run.path.name) == (first.id, "b")
        run.log({"kl": 2.0})
        run.finish()
    assert load(["runs/a/b"]).runs[0].steps.tolist() == [1, 2, 3]


def test_a_run_that_is_not_there_cannot_be_resumed_unless_that_is_allowed(begin):
    with pytest.raises(NoSuchRunError, match="nowhere is neither the folder of a run nor the id of one"):
        begin("nowhere", resume=True)
    with pytest.raises(NoSuchRunError, match="give its path, its name or its id"):
        begin(None, resume=True)
    run = begin("new", resume="allow")
    run.log({"kl": 1.0})
    run.finish()
    begin("new", resume="allow").log({"kl": 2.0})
    assert load(["new"]).runs[0].steps.tolist() == [1, 2]


def test_habits_from_other_trackers_work(begin, lines):
    begin(None, project="rlhf", name="try it", config={"lr": 1e-6, "api_key": "secret"}, id="mine-1")
    holter.log({"reward": 0.1})
    holter.log_samples([{"prompt": "p"}])
    holter.alert("look", text="here", level="INFO")
    run = holter.session.current()
    holter.finish()
    assert (run.path.as_posix(), run.id, run.name) == ("runs/rlhf/try-it", "mine-1", "try it")
    assert run.config == {"lr": 1e-6, "api_key": "<hidden>"}
    with pytest.raises(NoRunError, match=r"call holter.init\(\) first"):
        holter.log({"reward": 0.1})
    assert begin(None, project="rlhf", name="try it").path.as_posix() == "runs/rlhf/try-it-2"
    assert begin(None).path.as_posix() == "runs/run-1"
    assert begin(None).path.as_posix() == "runs/run-2"


def test_what_is_not_committed_waits_for_the_rest_of_its_row(begin, lines):
    run = begin()
    run.log({"kl": 0.5, "reward": 1.0}, commit=False)
    run.log({"reward": 2.0}, commit=False)
    assert rows(run, lines) == []
    run.log({"entropy": 3.0})
    run.log({"kl": 0.6}, step=5, commit=False)
    run.log({"entropy": 2.0}, step=5)
    run.log({"kl": 0.7}, step=6, commit=False)
    run.log({"kl": 0.8}, step=7, commit=False)
    run.finish()
    assert rows(run, lines) == [
        {"step": 1, "kl": 0.5, "reward": 2.0, "entropy": 3.0},
        {"step": 5, "kl": 0.6, "entropy": 2.0},
        {"step": 6, "kl": 0.7},
        {"step": 7, "kl": 0.8},
    ]


@dataclass
class Arguments:
    lr: float = 1e-6
    hub_token: str = "hf_0123456789012345678901234"


def test_config_and_summary_may_be_set_after_the_start_and_are_written_down(begin, lines):
    import holter as wandb

    begin(None, project="rlhf", name="late", config={"beta": 0.04}, tags=["a"], entity="lab")
    wandb.define_metric("reward", step_metric="step", summary="max")
    wandb.config.update(Arguments(), allow_val_change=True)
    wandb.config["batch"] = np.int64(8)
    wandb.config.seed = 3
    wandb.config.setdefaults({"seed": 4, "gamma": 1.0})
    wandb.log({"reward": 0.1})
    wandb.summary["best"] = 0.1
    wandb.run.summary.update({"best": 0.1, "steps": 1})
    expected = {"beta": 0.04, "lr": 1e-6, "hub_token": "<hidden>", "batch": 8, "seed": 3, "gamma": 1.0}
    assert wandb.config == expected
    assert wandb.config.lr == 1e-6
    assert type(copy.deepcopy(wandb.config)) is dict
    assert copy.deepcopy(wandb.config) == expected
    assert read_manifest(wandb.run.path / "run.json").config == expected
    assert [s["values"] for s in lines(wandb.run.path / "findings.jsonl")] == [{"best": 0.1}, {"steps": 1}]
    with pytest.raises(AttributeError, match=r"no entry 'epochs'; there are beta, lr"):
        _ = wandb.config.epochs
    wandb.finish()
    assert wandb.run is None
    with pytest.raises(AttributeError, match=r"no config, because there is no run yet: call holter.init\(\) first"):
        _ = wandb.config


def test_a_resumed_segment_keeps_its_own_config(begin):
    begin(config={"lr": 1.0}).finish()
    again = begin(resume=True, config={"lr": 2.0})
    again.config.lr = 3.0
    assert [read_manifest(again.path / f).config["lr"] for f in ("run.json", "run-1.json")] == [1.0, 3.0]


def test_arguments_of_another_tracker_are_passed_on_and_misspelt_ones_refused(begin, tmp_path, monkeypatch):
    with pytest.raises(SettingsError, match=r"no argument 'projekt', nor has wandb.init\. Did you mean project"):
        begin(projekt="rlhf")
    begin(mode="disabled").log({"kl": 1.0})
    assert not list(tmp_path.iterdir())
    given = []
    tracker = Tracker(name="wandb", title="", create=lambda to: given.append(to) or Deaf())
    monkeypatch.setattr(registry, "all_trackers", lambda: {**all_trackers(), "wandb": tracker})
    run = begin(report_to="wandb", entity="lab", options={"wandb": {"tags": ["b"]}}, tags=["a"])
    run.config.lr = 1.0
    run.finish()
    assert given[0].options == {"wandb": {"entity": "lab", "tags": ["b"]}}


class Deaf:
    """A tracker that takes everything and keeps nothing."""

    name = "deaf"

    def open(self, manifest): ...
    def write(self, step, row): ...
    def samples(self, step, rows): ...
    def close(self): ...


def test_threads_may_share_a_run(begin, lines):
    run = begin()
    threads = [
        threading.Thread(target=lambda n=n: [run.log({f"of/{n}": float(i)}) for i in range(200)]) for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = lines(run.path / "metrics-0.jsonl")
    assert [r["step"] for r in said] == list(range(1, 801))
    assert len({r["time"] for r in said}) == 800


def test_a_block_that_raises_ends_the_run_as_failed_and_the_error_goes_on(begin, lines):
    def train():
        with begin() as run:
            run.log({"kl": 1.0})
            raise ZeroDivisionError("no tokens")

    with pytest.raises(ZeroDivisionError):
        train()
    last = lines(Path("mine/findings.jsonl"))[-1]
    assert (last["kind"], last["step"], last["why"]) == ("failed", 1, "ZeroDivisionError: no tokens")


def test_rows_after_the_end_are_refused_once(begin, lines, caplog):
    run = begin()
    run.log({"kl": 1.0})
    run.finish()
    with caplog.at_level(logging.WARNING, "holter"):
        run.log({"kl": 2.0})
        run.log({"kl": 3.0})
        run.finish()
    assert len(rows(run, lines)) == 1
    assert len(caplog.records) == 1


def test_only_the_main_process_records(begin, monkeypatch, tmp_path):
    monkeypatch.setenv("RANK", "1")
    run = holter.init("mine", stop_on="critical")
    run.log({"loss": math.nan})
    run.log_samples([{"prompt": "p"}])
    run.finish()
    assert (run.path, run.should_stop, run.monitor) == (None, False, None)
    assert not list(tmp_path.iterdir())


def test_report_to_none_records_nothing(begin, tmp_path):
    run = begin(report_to="none", monitor=True)
    run.log({"kl": 1.0})
    run.finish()
    assert not list(tmp_path.iterdir())


def test_other_trackers_get_the_rows_beside_the_run_folder(begin, lines, tmp_path):
    run = begin(report_to="jsonl")
    run.log({"kl": 1.0}, step=4)
    run.finish()
    assert rows(run, lines) == [{"step": 4, "kl": 1.0}]
    assert len([p for p in tmp_path.rglob("*.jsonl") if p.name not in ("metrics-0.jsonl", "findings.jsonl")]) == 1


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"report_to": "wnadb"}, UnknownNameError, "Did you mean wandb"),
        ({"stop_on": "kl-runawy"}, UnknownNameError, "Did you mean kl-runaway"),
        ({"stop_on": "info"}, SettingsError, "never a reason to stop"),
        ({"stop_on": [3]}, SettingsError, "names of detectors, not 3"),
    ],
)
def test_what_cannot_be_meant_is_said_before_training_starts(begin, tmp_path, options, error, says):
    with pytest.raises(error, match=says):
        begin(**options)
    assert not list(tmp_path.iterdir())


def test_a_process_that_ends_without_finish_leaves_a_finished_run(tmp_path, lines):
    code = "import holter; run = holter.init('mine'); run.log({'kl': 1.0, 'reward': float('nan')})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, timeout=PATIENCE, check=True, capture_output=True, text=True
    )
    kinds = [said["kind"] for said in lines(tmp_path / "mine/findings.jsonl")]
    assert kinds == ["opened", "finished"]
    assert done.stderr.startswith("holter: reward-not-finite critical since step 1 (seen at 1): reward is NaN")


def test_importing_holter_imports_no_recorder_and_no_framework():
    code = (
        "import sys, holter; bad = {'numpy', 'torch', 'transformers', 'holter.session'} & set(sys.modules); assert not bad, bad;"
        "holter.init; bad = {'torch', 'transformers', 'wandb', 'tensorboard'} & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)
