"""Folders as trackers lay them out: one run each, read from the fullest of its files."""

import json

import pytest

from holter.errors import UnreadableLogError
from holter.runs.load import load
from tests.unit.readers.wandb import files

PRINTED = "".join(
    f"{{'loss': 0.5, 'reward': 0.{s}, 'reward_std': 0.1, 'kl': 0.01, 'epoch': 0.{s}}}\n" for s in range(1, 8)
)
SUMMARY = {"train/loss": 0.5, "train/reward": 0.8, "_step": 40, "_runtime": 9.5, "train/global_step": 20, "_wandb": {}}


@pytest.fixture
def wandb(tmp_path):
    """A run as W&B's client lays it out; every training row is followed by a row of a timer."""
    folder = tmp_path / "wandb" / "offline-run-20260101_000000-abc"
    (folder / "files").mkdir(parents=True)
    records = [files.run(0, "brisk-sun-1", {"beta": 0.04, "actor": {"lr": 1e-6}})]
    for step in range(1, 8):
        stamp = {"train/global_step": 5 * step, "_timestamp": 1e9 + step, "_runtime": 2.0 * step}
        row = {"train/loss": 0.5, "train/reward": step / 10, "train/reward_std": 0.1, "train/kl": 0.01}
        records.append(files.history(2 * step, {**row, **stamp, "_step": 2 * step}))
        records.append(files.history(2 * step + 1, {"profiling/mine": 1.0, **stamp, "_step": 2 * step + 1}))
    (folder / "run-abc.wandb").write_bytes(files.framed(records))
    (folder / "files" / "output.log").write_text(PRINTED)
    (folder / "files" / "config.yaml").write_text("beta:\n    desc: null\n    value: 0.04\n")
    (folder / "files" / "wandb-summary.json").write_text(json.dumps(SUMMARY))
    (tmp_path / "wandb" / "latest-run").symlink_to(folder.name)
    return folder


def test_a_wandb_folder_gives_its_run_once_from_the_run_file(wandb, tmp_path):
    (run,) = load([tmp_path]).runs
    assert run.path == str(wandb / "run-abc.wandb")
    assert run.config["beta"] == 0.04
    assert any("output.log" in note and "left aside" in note for note in run.notes)


def test_rows_of_a_timer_do_not_hide_the_training_step(wandb):
    (run,) = load([wandb]).runs
    assert run.step_axis.endswith("logged as train/global_step")
    assert run.steps.tolist() == [5, 10, 15, 20, 25, 30, 35]


def test_what_the_tracker_counts_itself_is_no_metric(wandb):
    (run,) = load([wandb]).runs
    assert not {"_runtime", "_timestamp", "_step"} & {s.metric for s in run.series.values()}
    assert not {"_runtime", "_timestamp", "_step"} & set(run.unknown)


def test_without_the_run_file_the_console_is_read_and_then_the_summary(wandb):
    (wandb / "run-abc.wandb").unlink()
    (run,) = load([wandb]).runs
    assert run.path.endswith("output.log")
    assert run.config == {"beta": 0.04}
    (wandb / "files" / "output.log").unlink()
    (run,) = load([wandb]).runs
    assert run.steps.tolist() == [20]
    assert any("last value of every metric" in note for note in run.notes)


def test_columns_of_swanlab_are_no_runs_beside_its_run_file(tmp_path):
    column = tmp_path / "run-1" / "logs" / "3"
    column.mkdir(parents=True)
    lines = [{"index": i, "data": 0.5, "create_time": "2026-01-01T00:00:00"} for i in range(5)]
    (column / "1000.log").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (column / "_summary.json").write_text("{}")
    with pytest.raises(UnreadableLogError, match="no log was found"):
        load([tmp_path])
