"""Hyper-parameters that lie beside a log."""

import json

import pytest

from holter.readers.yaml_text import settings
from holter.runs.load import load

ROWS = "".join(json.dumps({"step": i, "loss": 1 / i, "reward": i / 2}) + "\n" for i in range(1, 4))
WANDB = """\
wandb_version: 1

_wandb:
    desc: null
    value:
        cli_version: 0.17.0
        t:
            1:
            - 1
            - 11
actor_rollout_ref:
    desc: null
    value:
        rollout:
            n: 8
            name: "vllm # fast"
beta:
    value: 4.0e-02  # small
reward_weights:
    value:
        - 1
        - 0.5
"""


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def config(path):
    (run,) = load([path]).runs
    return run.config


def test_a_trackers_configuration_belongs_to_the_log_beside_it_without_its_wrapping(tmp_path):
    write(tmp_path, {"files/output.log": ROWS, "files/config.yaml": WANDB})
    expected = {
        "actor_rollout_ref": {"rollout": {"n": 8, "name": "vllm # fast"}},
        "beta": 0.04,
        "reward_weights": [1, 0.5],
    }
    assert config(tmp_path) == expected
    assert config(tmp_path / "files/output.log") == expected


def test_a_folders_configuration_is_believed_of_a_log_without_a_name_of_its_own(tmp_path):
    write(tmp_path, {"metrics.jsonl": ROWS, "seed-1.jsonl": ROWS, "config.json": '{"kl_coef": 0.1, "model": {"n": 2}}'})
    assert config(tmp_path / "metrics.jsonl") == {"kl_coef": 0.1, "model": {"n": 2}}
    assert config(tmp_path / "seed-1.jsonl") == {}


def test_what_the_log_carries_itself_comes_first(tmp_path):
    write(tmp_path, {"metrics.jsonl": '{"config": {"beta": 0.5}}\n' + ROWS, "config.json": '{"beta": 0.1}'})
    assert config(tmp_path / "metrics.jsonl") == {"beta": 0.5}


@pytest.mark.parametrize(
    "text",
    ['{"architectures": ["Qwen3"], "model_type": "qwen3", "hidden_size": 8}', "[1, 2]", "{broken", ""],
)
def test_what_is_no_configuration_of_a_run_is_left_alone(tmp_path, text):
    write(tmp_path, {"metrics.jsonl": ROWS, "config.json": text})
    assert config(tmp_path / "metrics.jsonl") == {}


def test_the_configuration_of_a_model_in_a_checkpoint_is_not_the_runs(tmp_path):
    write(tmp_path, {"checkpoint-3/log.jsonl": ROWS, "checkpoint-3/config.json": '{"hidden_size": 8}'})
    assert config(tmp_path / "checkpoint-3/log.jsonl") == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: -2.5e-3\nc: 'x: y'\nd: true\ne: ~\n", {"a": 1, "b": -0.0025, "c": "x: y", "d": True, "e": None}),
        ("a:\n- 1\n- x\nb: []\n", {"a": [1, "x"], "b": []}),
        ("a:\n  b:\n    c: 1\n  d: 2\ne: 3\n", {"a": {"b": {"c": 1}, "d": 2}, "e": 3}),
        ("url: s3://bucket/x\n", {"url": "s3://bucket/x"}),
        ("# nothing\n---\n...\n", {}),
        ("inf: .inf\nversion: 1.2.3\n", {"inf": float("inf"), "version": "1.2.3"}),
    ],
)
def test_the_yaml_of_trackers_is_read(text, expected):
    assert settings(text) == expected


def test_the_yaml_of_trackers_is_read_as_a_yaml_library_does():
    yaml = pytest.importorskip("yaml")
    assert settings(WANDB) == yaml.safe_load(WANDB) | {"_wandb": settings(WANDB)["_wandb"]}
