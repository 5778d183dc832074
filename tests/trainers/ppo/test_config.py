"""Settings of PPO: TRL's names, sizes that follow from others, and errors that say what to do."""

import pytest

from holter import PPOConfig
from holter.errors import SettingsError

QUIET = {"report_to": "none", "use_cpu": True}


def test_sizes_are_those_of_trl(tmp_path):
    args = PPOConfig(
        str(tmp_path), per_device_train_batch_size=4, gradient_accumulation_steps=6, num_mini_batches=3, **QUIET
    )
    assert (args.local_batch_size, args.batch_size) == (24, 24)
    assert (args.local_mini_batch_size, args.mini_batch_size) == (8, 8)
    assert args.local_micro_batch_size == 4


def test_episodes_become_updates(tmp_path):
    args = PPOConfig(
        str(tmp_path), total_episodes=100, per_device_train_batch_size=8, gradient_accumulation_steps=2, **QUIET
    )
    assert args.max_steps == 7


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"kl_coeff": 0.1}, "Did you mean kl_coef"),
        ({"init_kl_coef": 0.1}, "is called kl_coef"),
        ({"max_new_tokens": 5}, "is called response_length"),
        ({"batch_size": 64}, "batch_size is called per_device_train_batch_size"),
        ({"kl_estimator": "k2"}, "k1 or k3"),
        ({"stop_token": "</s>"}, "stop_token_id takes any token"),
        ({"stop_token": "eos", "stop_token_id": 2}, "set one of them"),
        ({"missing_eos_penalty": -1.0}, "must be positive"),
        ({"total_episodes": 10, "max_steps": 5}, "set one of them"),
        ({"kl_target": 6.0, "kl_coef": 0.0}, "a coefficient of 0 stays 0"),
        ({"per_device_train_batch_size": 4, "num_mini_batches": 3}, "do not make num_mini_batches=3"),
        (
            {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 3, "num_mini_batches": 2},
            "cannot be cut into passes of per_device_train_batch_size=4",
        ),
        ({"lam": 1.5}, r"lam must lie in \[0, 1\]"),
        ({"gamma": -0.1}, "gamma"),
        ({"target_kl": 0.0}, "target_kl"),
        ({"num_ppo_epochs": 0}, "num_ppo_epochs"),
        ({"use_vllm": True}, "HolterCallback"),
    ],
)
def test_what_is_wrong_is_said(wrong, said, tmp_path):
    with pytest.raises(SettingsError, match=said):
        PPOConfig(str(tmp_path), **QUIET, **wrong)
