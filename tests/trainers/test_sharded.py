"""Models whose parameters lie in parts with two processes: the numbers of one, and runs that go on where they were cut off."""

import dataclasses
import json
from types import SimpleNamespace

import pytest

from holter.errors import SettingsError
from holter.trainers.liger import LigerLoss
from holter.trainers.sharded import check_checkpoints

from .ppo import test_invariance as invariance
from .ppo.replay import replay, rows_of
from .test_resume import assert_gone_on
from .test_two_processes import assert_same, on_two, run

SETTINGS = {
    "max_steps": 3,
    "per_device_train_batch_size": 4,
    "num_iterations": 2,
    "eval_strategy": "steps",
    "eval_steps": 3,
    "per_device_eval_batch_size": 3,
    "report_to": "none",
}
FSDP = {
    "ACCELERATE_USE_FSDP": "true",
    "FSDP_VERSION": "2",
    "FSDP_STATE_DICT_TYPE": "SHARDED_STATE_DICT",
    "FSDP_AUTO_WRAP_POLICY": "TRANSFORMER_BASED_WRAP",
    "FSDP_RESHARD_AFTER_FORWARD": "true",
    "FSDP_USE_ORIG_PARAMS": "true",
}
ZERO = {
    "ACCELERATE_USE_DEEPSPEED": "true",
    "ACCELERATE_USE_CPU": "false",
    "ACCELERATE_DEEPSPEED_ZERO3_SAVE_16BIT_MODEL": "true",
    "DS_ACCELERATOR": "cpu",
}


def told(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_fsdp_trains_saves_and_resumes_as_one_process_does(taught, tmp_path):
    taught.save_pretrained(tmp_path / "policy")
    one = run(tmp_path, 1, **{**SETTINGS, "per_device_train_batch_size": 8})
    whole = rows_of(replay(tmp_path / "whole", invariance.updates(), **invariance.SETTINGS))
    on_two("sharded.py", tmp_path, "fsdp", json.dumps(SETTINGS), **FSDP)
    for version in "12":
        assert_same(one, told(tmp_path, f"grpo-fsdp{version}"))
    invariance.assert_same(told(tmp_path, "ppo-fsdp2"), whole)
    saved = tmp_path / "out-ppo-fsdp2"
    # Asked for by name a model is saved whole, though checkpoints are in parts.
    assert (saved / "model.safetensors").exists()
    assert (saved / "value_model" / "model.safetensors").exists()
    assert_gone_on(tmp_path)


@pytest.mark.slow
def test_zero_of_deepspeed_trains_as_one_process_does_and_resumes(taught, tmp_path):
    pytest.importorskip("deepspeed")
    taught.save_pretrained(tmp_path / "policy")
    one = run(tmp_path, 1, **{**SETTINGS, "per_device_train_batch_size": 8})
    on_two("sharded.py", tmp_path, "zero", json.dumps(SETTINGS), **ZERO)
    for stage in "123":
        assert_same(one, told(tmp_path, f"grpo-zero{stage}"))
    assert_gone_on(tmp_path)


def test_a_fused_loss_that_would_read_parts_of_the_head_is_refused(grpo):
    trainer = grpo()
    trainer.sampling = dataclasses.replace(trainer.sampling, synchronised=True)
    with pytest.raises(SettingsError, match="use_liger_loss=False"):
        LigerLoss(trainer)


@pytest.mark.parametrize(
    ("version", "kind", "saved", "refused"),
    [
        (1, "SHARDED_STATE_DICT", True, True),
        (1, "SHARDED_STATE_DICT", False, False),
        (1, "FULL_STATE_DICT", True, False),
        (2, "SHARDED_STATE_DICT", True, False),
    ],
)
def test_checkpoints_that_lose_the_optimizer_are_refused_before_training(version, kind, saved, refused):
    plugin = SimpleNamespace(fsdp_version=version, state_dict_type=f"StateDictType.{kind}")
    accelerator = SimpleNamespace(state=SimpleNamespace(fsdp_plugin=plugin))
    if refused:
        with pytest.raises(SettingsError, match="set fsdp_version to 2"):
            check_checkpoints(accelerator, saved=saved)
    else:
        check_checkpoints(accelerator, saved=saved)
