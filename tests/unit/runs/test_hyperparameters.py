"""Hyper-parameters are found under any framework's name, flat, nested, dotted or wrapped by a tracker."""

import pytest

from holter.runs.build import run_of
from holter.runs.hyperparameters import hyperparameter, kl_target, reward_weights


def run(config):
    return run_of([1.0], {"reward": [0.1]}, config=config)


@pytest.mark.parametrize(
    "config",
    [
        {"num_generations": 8},
        {"num_generations": {"value": 8, "desc": None}},
        {"actor_rollout_ref": {"rollout": {"n": 8}}},
        {"actor_rollout_ref.rollout.n": 8},
        {"actor_rollout_ref/rollout/n": 8},
        {"trainer": {"n_samples_per_prompt": 8.0}},
    ],
)
def test_finds_the_group_size_wherever_it_is(config):
    assert hyperparameter(run(config), "group_size") == 8


@pytest.mark.parametrize("config", [{}, {"num_generations": "8"}, {"num_generations": True}, {"n": 8}])
def test_says_nothing_where_the_configuration_says_nothing(config):
    assert hyperparameter(run(config), "group_size") is None


def test_a_coefficient_of_zero_is_a_value():
    assert hyperparameter(run({"beta": 0.0}), "kl_coefficient") == 0.0


def test_reward_weights_come_in_their_order_or_not_at_all():
    assert reward_weights(run({"reward_weights": [1, 0.5]})) == (1.0, 0.5)
    assert reward_weights(run({"reward_weights": [1, None]})) is None
    assert reward_weights(run({})) is None


@pytest.mark.parametrize(
    "config",
    [
        {"kl_target": 6},
        {"kl_target": {"value": 6.0}},
        {"algorithm": {"kl_ctrl": {"type": "adaptive", "target_kl": 6.0}}},
        {"algorithm.kl_ctrl.target_kl": 6.0},
        {"adap_kl_ctrl": True, "target": 6},
    ],
)
def test_the_target_of_a_kl_controller_is_found(config):
    assert kl_target(run(config)) == 6.0


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"target_kl": 0.1},
        {"kl_target": 0},
        {"kl_target": None},
        {"target": 6},
        {"adap_kl_ctrl": False, "target": 6},
        {"algorithm": {"kl_ctrl": {"type": "fixed", "target_kl": 0.1}}},
    ],
)
def test_a_target_that_nothing_steers_by_is_none(config):
    assert kl_target(run(config)) is None


def test_a_configuration_without_end_is_read_as_far_as_settings_go():
    deep = {"beta": 0.1}
    for _ in range(5000):
        deep = {"beta": 0.2, "inner": deep}
    assert hyperparameter(run({"args": {"beta": 0.04}, "deep": deep}), "kl_coefficient") == 0.04
