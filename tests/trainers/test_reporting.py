import copy
import math
import threading

import pytest
import tiny_world

from holter.runs.load import load
from holter.store import reading


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
            self.release.wait(60)
        self.logged.append((state.global_step, dict(logs)))

    def on_train_end(self, args, state, control, **_):
        pass


@pytest.mark.parametrize("behaviour", ["works", "fails", "fails at the start", "hangs"])
def test_what_transformers_integrates_is_driven_and_cannot_stop_training(grpo, trained, monkeypatch, behaviour):
    from transformers.integrations import integration_utils

    from holter.sinks import isolated
    from holter.trainers import config

    monkeypatch.setattr(isolated, "PATIENCE", 0.2)
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
    from holter.trainers.reporting import Progress

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
