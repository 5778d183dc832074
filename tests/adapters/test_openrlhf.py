"""OpenRLHF's trainers with Holter's logger in the place of their own."""

from __future__ import annotations

import inspect
from argparse import Namespace

import orjson
import pytest

from holter.adapters.openrlhf import HolterLogger
from holter.runs.load import load
from holter.store.manifest import read_manifest


def arguments(root) -> Namespace:
    wandb = Namespace(run_name="qwen", key=None)
    return Namespace(logger=Namespace(tensorboard_dir=str(root), wandb=wandb), actor_learning_rate=1e-6)


ROW = {
    "policy_loss": 0.1,
    "actor_lr": 1e-6,
    "reward": 0.5,
    "return": 0.4,
    "response_length": 200.0,
    "kl": None,
    "ppo_clip_ratio": 0.01,
    "ppo_kl": 0.001,
    "vllm_kl": 0.001,
}


def test_what_the_trainer_logs_is_recorded_under_its_names(tmp_path, rows):
    logger = HolterLogger(arguments(tmp_path), monitor=False)
    for step in (1, 2, 3):
        logger.log_train(step, {**ROW, "generated_samples": ("a prompt, a completion", 0.5)})
    logger.log_eval(3, {"eval_pass1": 0.25})
    logger.close()
    found = rows(tmp_path / "qwen")
    assert [r["step"] for r in found] == [1, 2, 3, 3]
    assert found[0]["train/reward"] == 0.5
    assert found[0]["train/kl"] is None, "a null, not an absence"
    assert found[3] == {"step": 3, "eval/eval_pass1": 0.25}
    assert read_manifest(tmp_path / "qwen" / "run.json").config["logger"]["wandb"]["run_name"] == "qwen"
    sample = orjson.loads((tmp_path / "qwen" / "samples-0.jsonl").read_bytes().splitlines()[0])
    assert (sample["completion"], sample["rewards/reward"], sample["step"]) == ("a prompt, a completion", 0.5, 1)
    assert load([tmp_path / "qwen"]).runs[0].dialect == "openrlhf"


def test_older_arguments_are_understood(tmp_path):
    old = Namespace(use_tensorboard=str(tmp_path / "tb"), wandb_run_name="old")
    logger = HolterLogger(old, monitor=False)
    logger.close()
    assert logger.run.path == tmp_path / "tb" / "old"


@pytest.mark.parametrize("method", ["log_train", "log_eval", "close", "__init__"])
def test_the_real_logger_has_the_same_methods(module_of, method):
    theirs = module_of("openrlhf", "openrlhf/utils/logging_utils.py").TensorboardLogger
    wanted = [p.name for p in inspect.signature(getattr(theirs, method)).parameters.values()]
    ours = inspect.signature(getattr(HolterLogger, method)).parameters
    assert [n for n in ours if n != "options"] == wanted
