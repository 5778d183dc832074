"""Weights of reward functions, from ``reward = sum of weight * mean``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from holter.runs.build import run_of
from holter.runs.component_weights import component_weights, held_out_components
from holter.runs.load import load

TRL = Path(__file__).parents[4] / "shared/runs/trl"


def run(weights, n=20, seed=0, config=None, **replaced):
    rng = np.random.default_rng(seed)
    parts = {f"rewards/{name}/mean": rng.random(n) for name in weights} | replaced
    reward = sum(w * parts[f"rewards/{name}/mean"] for name, w in weights.items())
    return run_of(range(n), {**parts, "reward": reward}, config=config)


def test_weights_are_recovered_and_a_weight_of_zero_is_zero():
    made = run({"format": 0.5, "accuracy": 2.0, "length": -0.25, "gold": 0.0})
    found = component_weights(made)
    assert found == {
        "format": pytest.approx(0.5),
        "accuracy": pytest.approx(2.0),
        "length": pytest.approx(-0.25),
        "gold": 0.0,
    }
    assert [s.labels["name"] for s in held_out_components(made)] == ["gold"]


def test_rounded_values_still_give_the_weights():
    made = run({"format": 1.0, "gold": 0.0}, n=60)
    rounded = run_of(
        made.steps.tolist(),
        {k: np.round(s.values, 3) for k, s in made.series.items()},
    )
    assert component_weights(rounded) == {"format": pytest.approx(1.0, abs=0.01), "gold": 0.0}


def test_configured_weights_are_taken_in_the_order_of_the_log():
    made = run({"format": 1.0, "gold": 0.0}, config={"reward_weights": [1.0, 0.0]})
    assert component_weights(made) == {"format": 1.0, "gold": 0.0}
    named = run({"format": 1.0, "gold": 0.0}, config={"reward_weights": {"gold": 0.0, "format": 3.0}})
    assert component_weights(named) == {"format": 3.0, "gold": 0.0}
    nested = run({"format": 1.0, "gold": 0.0}, config={"args": {"reward_weights": [2.0, 0.0]}})
    assert component_weights(nested) == {"format": 2.0, "gold": 0.0}


@pytest.mark.parametrize(
    "said", [[1.0], ["high", "low"], [1.0, None], {"format": 1.0}, {"format": None, "gold": 0.0}, "1, 0"]
)
def test_weights_that_cannot_be_meant_are_solved_for(said):
    made = run({"format": 1.0, "gold": 0.0}, config={"reward_weights": said})
    assert component_weights(made) == {"format": pytest.approx(1.0), "gold": 0.0}


def test_functions_that_move_together_are_unknown_and_the_others_are_not():
    base = np.random.default_rng(3).random(20)
    made = run({"a": 1.0, "b": 1.0, "gold": 0.0}, **{"rewards/a/mean": base, "rewards/b/mean": base})
    assert component_weights(made) == {"a": None, "b": None, "gold": 0.0}


def test_function_that_is_always_zero_is_unknown_and_not_held_out():
    made = run({"a": 1.0, "dead": 1.0}, **{"rewards/dead/mean": np.zeros(20)})
    assert component_weights(made) == {"a": pytest.approx(1.0), "dead": None}
    assert held_out_components(made) == []


def test_nothing_is_said_where_the_sum_does_not_explain_the_reward():
    made = run({"a": 1.0, "b": 1.0})
    noise = np.random.default_rng(5).random(20)
    other = run_of(made.steps.tolist(), {**{k: s.values for k, s in made.series.items()}, "reward": noise})
    assert component_weights(other) == {"a": None, "b": None}


def test_nothing_is_said_of_too_few_rows_or_a_constant_reward():
    assert component_weights(run({"a": 1.0, "gold": 0.0}, n=4)) == {"a": None, "gold": None}
    assert component_weights(run({"a": 0.0, "gold": 0.0})) == {"a": None, "gold": None}


def test_a_few_rows_in_which_a_function_abstained_do_not_hide_the_weights():
    made = run({"a": 1.0, "gold": 0.0}, n=40)
    reward = made["reward"].values.copy()
    reward[[7, 23]] += 5.0
    broken = run_of(made.steps.tolist(), {**{k: s.values for k, s in made.series.items()}, "reward": reward})
    assert component_weights(broken) == {"a": pytest.approx(1.0), "gold": 0.0}


def test_rows_that_are_not_finite_are_left_out():
    made = run({"a": 1.0, "gold": 0.0})
    values = made["rewards/a/mean"].values.copy()
    values[3] = np.nan
    holed = run_of(made.steps.tolist(), {**{k: s.values for k, s in made.series.items()}, "rewards/a/mean": values})
    assert component_weights(holed) == {"a": pytest.approx(1.0), "gold": 0.0}


@pytest.mark.skipif(not TRL.is_dir(), reason="the real runs are not here")
def test_zero_weight_function_of_real_runs_is_held_out():
    seen = 0
    for folder in sorted(TRL.glob("grpo-healthy*")):
        made = load([folder / "log.jsonl"]).runs[0]
        found = component_weights(made)
        assert found["gold"] == 0.0, json.dumps(found)
        assert all(w == pytest.approx(1.0, abs=1e-3) for name, w in found.items() if name != "gold")
        seen += 1
    assert seen >= 3


def test_one_huge_value_does_not_make_the_reward_a_sum_of_its_parts():
    rng = np.random.default_rng(0)
    a, b, reward = rng.random((3, 20))
    a[7] = reward[7] = 1e9
    made = run_of(range(20), {"rewards/a/mean": a, "rewards/b/mean": b, "reward": reward})
    assert component_weights(made) == {"a": None, "b": None}
    assert not held_out_components(made)
