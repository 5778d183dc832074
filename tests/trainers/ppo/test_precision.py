"""What changes how passes are computed changes no number, or none by more than it must."""

import copy
import math

import pytest
import torch

from holter.trainers.scoring import sequences
from holter.trainers.value_model import value

from ..test_gradients import remembering


def test_mixed_precision_trains_and_measures_its_own_noise(ppo, trained):
    rows = trained(ppo(bf16=True, max_steps=3))
    assert all(math.isfinite(v) for r in rows for v in r.values())
    assert 0 < rows[0]["sampling/sampling_logp_difference/mean"] < 0.1
    assert all(0.5 < row["val/ratio"] < 1.5 for row in rows)
    assert abs(rows[0]["objective/kl"]) < 1.0


@pytest.mark.parametrize("shared", [False, True])
def test_gradient_checkpointing_changes_no_number(ppo, trained, taught, shared):
    settings = {"max_steps": 2, "share_value_trunk": shared}
    plain = trained(ppo(model=copy.deepcopy(taught), gradient_checkpointing=False, **settings))
    trainer = ppo(model=copy.deepcopy(taught), gradient_checkpointing=True, **settings)
    again = trained(trainer)
    models = filter(None, (trainer.policy, trainer.both.value_model))
    assert all(model.is_gradient_checkpointing for model in models)
    for row, other in zip(plain, again, strict=True):
        for key in ("completions/mean_length", "objective/kl", "loss/policy_avg", "loss/value_avg", "grad_norm"):
            assert other[key] == pytest.approx(row[key], rel=1e-4, abs=1e-6), key


def test_dropout_is_for_training_and_not_for_what_is_expected(ppo, trained, policy):
    policy.config.attention_dropout = 0.5
    for layer in policy.model.layers:
        layer.self_attn.attention_dropout = 0.5
    trainer = ppo(disable_dropout=False, max_steps=1)
    both = copy.deepcopy(trainer.both)
    torch.nn.init.normal_(both.value_model.score.weight)
    trainer.both.value_model.load_state_dict(both.value_model.state_dict())
    assert both.value_model.model.layers[0].self_attn.attention_dropout == 0.5
    (kept, (row,)) = remembering(trainer), trained(trainer)
    batch = sequences(kept[0].prompts, kept[0].completions, torch.device("cpu"))
    with torch.no_grad():
        expected = value(both.eval(), batch)
    torch.testing.assert_close(kept[0].columns["values"], expected, rtol=1e-4, atol=1e-4)
    assert abs(row["objective/kl"]) < 1e-3
