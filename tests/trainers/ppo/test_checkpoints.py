"""A resumed run goes on as if nothing had happened, and what is saved can be loaded by others."""

import copy
import json
import math

import pytest
import tiny_world
import torch
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, TrainerCallback

from holter.errors import SettingsError

CLOCK = ("time/", "step_time", "throughput/", "eps")
SETTINGS = {
    "max_steps": 5,
    "lr_scheduler_type": "linear",
    "kl_target": 0.02,
    "kl_horizon": 100,
    "num_mini_batches": 2,
    "save_strategy": "steps",
    "save_steps": 2,
    "report_to": "holter",
}


class LostError(Exception):
    """What befalls a run on a bad day."""


class LosesPower(TrainerCallback):
    def on_log(self, args, state, control, **_):
        if state.global_step == 3:
            raise LostError


@pytest.mark.parametrize("shared", [False, True])
def test_a_resumed_run_goes_on_as_if_nothing_had_happened(ppo, trained, policy, tmp_path, shared):
    # The second epoch of the data begins between the checkpoint and the end.
    rows = [{"prompt": p} for p in tiny_world.prompts(56)]

    def trainer(name, **more):
        settings = {**SETTINGS, "share_value_trunk": shared, "output_dir": str(tmp_path / name)}
        return ppo(model=copy.deepcopy(policy), rows=rows, **settings, **more)

    through = trained(trainer("through"))
    with pytest.raises(LostError):
        trained(trainer("cut", callbacks=[LosesPower()]))
    torch.manual_seed(99)
    last = trained(trainer("cut"), resume_from_checkpoint=True)
    assert [row["step"] for row in last] == [1, 2, 3, 4, 5]
    for one, other in zip(through, last, strict=True):
        kept = [k for k in one if not k.startswith(CLOCK)]
        unlike = {k: (one[k], other[k]) for k in kept if not math.isclose(one[k], other[k], rel_tol=1e-5, abs_tol=1e-6)}
        assert not unlike
    lines = [json.loads(x) for x in (tmp_path / "cut" / "holter" / "metrics-1.jsonl").read_text().splitlines()]
    assert [row["step"] for row in lines] == [3, 4, 5]
    assert [row["episode"] for row in lines] == [48, 64, 80]


def test_policy_and_value_model_are_saved_as_models(ppo, trained, tmp_path):
    trainer = ppo(max_steps=1)
    trained(trainer)
    trainer.save_model(str(tmp_path / "saved"))
    policy = AutoModelForCausalLM.from_pretrained(tmp_path / "saved")
    value = AutoModelForSequenceClassification.from_pretrained(tmp_path / "saved" / "value_model")
    for mine, theirs in ((trainer.policy, policy), (trainer.both.value_model, value)):
        saved = theirs.state_dict()
        for name, tensor in mine.state_dict().items():
            assert torch.equal(tensor, saved[name]), name


def test_a_folder_of_another_trainer_is_no_checkpoint(ppo, trained, policy, tmp_path):
    policy.save_pretrained(tmp_path / "other")
    with pytest.raises(SettingsError, match="no checkpoint of this trainer"):
        trained(ppo(), resume_from_checkpoint=str(tmp_path / "other"))


def test_the_best_model_is_loaded_at_the_end(ppo, trained):
    trainer = ppo(
        max_steps=3,
        eval_dataset=[{"prompt": p} for p in tiny_world.prompts(8, seed=5)],
        eval_strategy="steps",
        eval_steps=1,
        save_strategy="steps",
        save_steps=1,
        load_best_model_at_end=True,
        metric_for_best_model="eval_completions/mean_length",
    )
    trained(trainer)
    best = AutoModelForCausalLM.from_pretrained(trainer.state.best_model_checkpoint)
    assert torch.equal(best.lm_head.weight, trainer.policy.lm_head.weight)
