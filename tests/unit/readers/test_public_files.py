"""The files that other people's frameworks wrote load with the framework named and its own step, by the labels beside them."""

import json
from pathlib import Path

import pytest

from holter.errors import UnreadableLogError
from holter.runs.load import load

PUBLIC = Path(__file__).parents[4] / "shared" / "runs" / "public"
FOLDERS = sorted(p.parent for p in PUBLIC.glob("*/meta.json"))
FRAMEWORKS = (
    ("TRL via Unsloth", {"unsloth", "trl-grpo"}),
    ("TRL (0.4", {"trl-ppo-classic"}),
    ("TRL", {"trl-grpo", "trl-rloo", "trl-ppo", "hf-trainer"}),
    ("verl", {"verl"}),
    ("Tinker", {"tinker-cookbook"}),
    ("DeepSpeed-Chat", {"deepspeed-chat"}),
    ("ROLL", {"roll"}),
    ("custom", {"generic"}),
    ("MLX", {"generic"}),
)
RENAMED = {
    "countdown-grpo-trl": "the author's own callback writes names of the author's",
    "fair-rlvr-990": "the author's own callback writes names of the author's",
    "fair-rlvr-wandb": "the author's own callback writes names of the author's",
    "kg-heuristic": "the author renamed three metrics of verl (train_reward) in a file of extracts",
    "kg-verifiable": "the author renamed three metrics of verl (train_reward) in a file of extracts",
}
"""Files in which nothing of the framework is left to see: the names are generic, and so is what is said of them."""

pytestmark = pytest.mark.skipif(not FOLDERS, reason="the public logs are not here")


def label(folder):
    return json.loads((folder / "meta.json").read_text(encoding="utf-8"))


def by_hand(folder):
    """The steps that were taken by hand from the file."""
    with (folder / "log.jsonl").open(encoding="utf-8") as lines:
        return {row["step"] for row in map(json.loads, lines) if "step" in row}


def fault(folder):
    """What of a file's reading is not as its label says; empty where all is."""
    said = label(folder)
    try:
        loaded = load([folder / said["raw_file"]])
    except UnreadableLogError as error:
        return f"refused: {error}"
    expected = next(names for start, names in FRAMEWORKS if said["framework"].startswith(start))
    if folder.name in RENAMED:
        expected = {"generic"}
    spoken = {run.dialect for run in loaded.runs}
    if not spoken <= expected:
        return f"{spoken} instead of {expected}"
    steps = {step for run in loaded.runs for step in run.steps.tolist()}
    if said["step_source"] == "as logged" and not by_hand(folder) <= steps:
        return f"steps {sorted(by_hand(folder) - steps)[:5]} are missing"
    if said["step_source"].startswith("ordinal") and sum(map(len, loaded.runs)) != said["n_steps"]:
        return f"{sum(map(len, loaded.runs))} rows instead of {said['n_steps']}"
    return ""


def test_at_least_95_percent_of_the_files_load_with_framework_and_step():
    wrong = {folder.name: why for folder in FOLDERS if (why := fault(folder))}
    assert len(wrong) <= 0.05 * len(FOLDERS), wrong
    assert not any(why.startswith("refused") for why in wrong.values()), wrong


@pytest.mark.parametrize(
    ("name", "axis"),
    [
        ("opd-rise-wandb", "training/global_step"),
        ("opd-collapse-short-wandb", "training/global_step"),
        ("fair-rlvr-wandb", "_step"),
        ("rdan-roll-430", "system/step"),
        ("text2sql-3b-75", "epoch"),
        ("gemma3-rl-abdo", "step"),
    ],
)
def test_the_axis_is_the_frameworks_and_is_named(name, axis):
    folder = PUBLIC / name
    for run in load([folder / label(folder)["raw_file"]]).runs:
        assert run.step_axis.endswith(f"logged as {axis}")


def test_runs_that_were_appended_to_one_file_stay_apart_and_repeated_steps_are_counted():
    folder = PUBLIC / "rookworld-appended"
    runs = load([folder / label(folder)["raw_file"]]).runs
    assert [len(run) for run in runs] == [2, 2, 2, 2]
    assert [run.repeated for run in runs] == [6, 0, 0, 0]
