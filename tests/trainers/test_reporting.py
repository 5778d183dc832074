import contextlib
import copy
import io
import math
import sys
import threading
import types
from pathlib import Path

import pytest
import tiny_world

from holter.runs.load import load
from holter.store import reading
from holter.store.run_folder import RunFolderError
from tests.patience import PATIENCE


def test_the_run_folder_holds_every_row_completions_and_the_configuration(grpo, trained):
    trainer = grpo(report_to="holter", beta=0.04, max_steps=3, num_completions_to_record=5)
    rows = trained(trainer)
    folder = trainer.report.folder
    told = list(reading.rows(folder))
    assert [int(r.step) for r in told] == [1, 2, 3]
    for row, logged in zip(told, rows, strict=True):
        assert {k: v for k, v in row.values.items() if k != "time"} == pytest.approx(
            {k: v for k, v in logged.items() if k != "step"}
        )
    manifest = reading.segments(folder)[0].manifest
    assert manifest.algorithm == "grpo"
    assert manifest.config["beta"] == 0.04
    assert manifest.config["reward_functions"] == ["cheerfulness", "on_topic"]
    samples = [line.row for line in reading.lines(folder / "samples-0.jsonl")]
    assert [s["step"] for s in samples] == [1] * 5 + [2] * 5 + [3] * 5
    assert {"prompt", "completion", "rewards/cheerfulness", "advantage", "group", "truncated"} <= set(samples[0])


def test_a_second_run_has_a_folder_of_its_own(grpo, trained, taught):
    first = grpo(report_to="holter")
    trained(first)
    second = grpo(model=copy.deepcopy(taught), report_to="holter")
    trained(second)
    assert (first.report.folder.name, second.report.folder.name) == ("holter", "holter-2")


def test_a_run_folder_that_is_taken_is_said_and_nothing_else(grpo, trained, taught, tmp_path):
    settings = {"report_to": "holter", "run_dir": str(tmp_path / "run"), "beta": 0.0}
    trained(grpo(model=copy.deepcopy(taught), **settings))
    with pytest.raises(RunFolderError, match="already holds a run"):
        trained(grpo(model=copy.deepcopy(taught), **settings))


def test_tensorboard_writes_event_files_to_the_logging_dir_that_our_reader_reads(grpo, trained, tmp_path):
    pytest.importorskip("tensorboard")
    rows = trained(grpo(report_to="tensorboard", logging_dir=str(tmp_path / "tb"), beta=0.04, max_steps=3))
    run = load([str(tmp_path / "tb")]).runs[0]
    assert run.steps.tolist() == [1, 2, 3]
    for concept, key in (("ref_kl", "kl"), ("reward", "reward"), ("entropy", "entropy"), ("lr", "learning_rate")):
        series = run.get(concept)
        assert series.metric == f"train/{key}"
        assert series.values.tolist() == pytest.approx([r[key] for r in rows], rel=1e-5)


def test_nan_reaches_the_run_folder_and_tensorboard(grpo, trained, tmp_path):
    pytest.importorskip("tensorboard")

    def none(completions, **_):
        return [float("inf") if i == 0 else 0.0 for i, _ in enumerate(completions)]

    trainer = grpo([none], report_to=["holter", "tensorboard"], logging_dir=str(tmp_path / "tb"), beta=0.0)
    rows = trained(trainer)
    assert rows[0]["reward"] == math.inf
    assert next(iter(reading.rows(trainer.report.folder))).values["reward"] == math.inf
    assert load([str(tmp_path / "tb")]).runs[0].get("reward").values[0] == math.inf


def test_wandb_works_offline(grpo, trained, tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    trainer = grpo(report_to=["holter", "wandb"], log_completions=False)
    trained(trainer)
    assert list(tmp_path.glob("out/**/*.wandb"))


def test_nothing_is_written_where_nothing_is_asked_for(grpo, trained, tmp_path):
    trained(grpo(report_to="none"))
    assert not list((tmp_path / "out").rglob("*.jsonl"))


class Callback:
    """An integration that remembers, fails or hangs."""

    def __init__(self, behaviour):
        self.behaviour, self.logged, self.release = behaviour, [], threading.Event()

    def on_train_begin(self, args, state, control, **_):
        if self.behaviour == "fails at the start":
            raise ConnectionError("no network")

    def on_log(self, args, state, control, logs=None, **_):
        if self.behaviour == "fails":
            raise ConnectionError("no network")
        if self.behaviour == "hangs":
            self.release.wait()
        self.logged.append((state.global_step, dict(logs)))

    def on_train_end(self, args, state, control, **_):
        pass


@pytest.mark.parametrize("behaviour", ["works", "fails", "fails at the start", "hangs"])
def test_what_transformers_integrates_is_driven_and_cannot_stop_training(grpo, trained, monkeypatch, behaviour):
    from transformers.integrations import integration_utils

    from holter.sinks.isolated import Isolated
    from holter.trainers import config

    monkeypatch.setitem(Isolated.__init__.__kwdefaults__, "patience", 0.2 if behaviour == "hangs" else PATIENCE)
    callback = Callback(behaviour)
    monkeypatch.setitem(integration_utils.INTEGRATION_TO_CALLBACK, "mlflow", lambda: callback)
    monkeypatch.setattr(config, "get_available_reporting_integrations", lambda: ["mlflow", "tensorboard"])
    trainer = grpo(
        report_to=["mlflow", "holter"],
        eval_strategy="steps",
        eval_steps=2,
        eval_dataset=[{"prompt": p} for p in tiny_world.prompts(4, seed=9)],
    )
    trained(trainer)
    callback.release.set()
    assert [int(r.step) for r in reading.rows(trainer.report.folder)] == [0, 1, 2, 2]
    if behaviour == "works":
        assert [step for step, _ in callback.logged] == [0, 1, 2, 2, 2]
        assert "eval_reward" in callback.logged[0][1]
        assert "reward" in callback.logged[1][1]


def test_the_progress_bar_shows_the_numbers_that_matter(grpo, trained, monkeypatch):
    from holter.trainers.printing import Progress

    shown = []

    class Bar:
        def set_postfix(self, numbers, refresh):
            shown.append(dict(numbers))

        def update(self, *_):
            pass

        def close(self):
            pass

    trainer = grpo(disable_tqdm=False, beta=0.04)
    bar = next(c for c in trainer.callback_handler.callbacks if isinstance(c, Progress))
    monkeypatch.setattr(bar, "on_train_begin", lambda *_, **__: setattr(bar, "training_bar", Bar()))
    monkeypatch.setattr(bar, "on_step_end", lambda *_, **__: None)
    trained(trainer)
    assert set(shown[0]) == {"reward", "kl", "entropy", "mean_length"}


def test_completions_of_every_generation_are_recorded_with_their_step(grpo, trained):
    trainer = grpo(report_to="holter", max_steps=4, logging_steps=4, num_completions_to_record=3)
    trained(trainer)
    samples = [line.row for line in reading.lines(trainer.report.folder / "samples-0.jsonl")]
    assert [s["step"] for s in samples] == [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3


def noted(trainer):
    return [line.row for line in reading.lines(trainer.report.folder / "findings.jsonl")]


def test_what_goes_wrong_is_said_while_it_trains_and_kept_in_the_run_folder(grpo, trained, capfd):
    trainer = grpo(report_to="holter", max_steps=8, max_completion_length=3)
    trained(trainer)
    assert "holter: no-eos critical" in capfd.readouterr().err
    notes = noted(trainer)
    assert any(n["kind"] == "opened" and n["finding"]["detector"] == "no-eos" for n in notes)
    assert (notes[-1]["kind"], notes[-1]["step"]) == ("finished", 8)


def test_without_a_monitor_nothing_is_said(grpo, trained, capfd):
    trainer = grpo(report_to="holter", max_steps=8, max_completion_length=3, monitor=False)
    trained(trainer)
    assert "holter:" not in capfd.readouterr().err
    assert [n["kind"] for n in noted(trainer)] == ["finished"]


@pytest.mark.parametrize("report_to", ["holter", "none"])
def test_a_run_stops_where_it_is_asked_to_and_saves_a_checkpoint(grpo, trained, caplog, report_to):
    def broken(completions, trainer_state, **_):
        return [math.nan if trainer_state.global_step >= 3 else float(i) for i, _ in enumerate(completions)]

    trainer = grpo(
        [broken], report_to=report_to, max_steps=50, stop_on=["critical"], save_strategy="steps", save_steps=2
    )
    trained(trainer)
    assert trainer.state.global_step < 50
    assert f"training stops at step {trainer.state.global_step}" in caplog.text
    folders = {int(p.name.split("-")[1]) for p in Path(trainer.args.output_dir).glob("checkpoint-*")}
    assert trainer.state.global_step in folders
    if report_to == "holter":
        kinds = [n["kind"] for n in noted(trainer)]
        assert kinds.count("stopped") == 1
        assert kinds[-1] == "finished"


def test_a_run_that_breaks_off_is_written_down_as_failed(grpo, trained):
    def fails(completions, trainer_state, **_):
        if trainer_state.global_step == 2:
            raise RuntimeError("the judge is gone")
        return [float(i) for i, _ in enumerate(completions)]

    trainer = grpo([fails], report_to="holter", max_steps=5)
    with pytest.raises(RuntimeError, match="the judge is gone"):
        trained(trainer)
    last = noted(trainer)[-1]
    assert (last["kind"], last["step"], last["why"]) == ("failed", 2, "RuntimeError: the judge is gone")


@pytest.mark.parametrize("wrong", ["no-such-detector", "info"])
def test_a_stop_that_cannot_be_is_refused_before_training(grpo, wrong):
    with pytest.raises(ValueError if wrong == "info" else KeyError):
        grpo(stop_on=wrong)


@pytest.mark.parametrize("tracker", ["mlflow", "trackio", "comet_ml"])
def test_trackers_that_have_tables_get_completions_as_one(grpo, trained, monkeypatch, tracker):
    from transformers.integrations import integration_utils

    from holter.trainers import config

    tables = []

    class Table:
        def __init__(self, dataframe):
            self.columns = dataframe.to_dict("list")

    experiment = types.SimpleNamespace(
        log_table=lambda file, tabular_data, headers: tables.append(
            dict(zip(headers, map(list, zip(*tabular_data, strict=True)), strict=True))
        )
    )
    fakes = {
        "mlflow": types.SimpleNamespace(log_table=lambda columns, artifact_file: tables.append(columns)),
        "trackio": types.SimpleNamespace(Table=Table, log=lambda row: tables.append(row["completions"].columns)),
        "comet_ml": types.SimpleNamespace(get_running_experiment=lambda: experiment),
    }
    monkeypatch.setitem(sys.modules, tracker, fakes[tracker])
    monkeypatch.setitem(integration_utils.INTEGRATION_TO_CALLBACK, tracker, lambda: Callback("works"))
    monkeypatch.setattr(config, "get_available_reporting_integrations", lambda: [tracker])
    with contextlib.redirect_stdout(io.StringIO()):
        trained(grpo(report_to=tracker, log_completions=True, num_completions_to_print=0))
    assert [t["step"] for t in tables] == [[1] * 8, [2] * 8]
    assert {"prompt", "completion", "rewards/cheerfulness", "reward", "advantage"} <= tables[0].keys()
