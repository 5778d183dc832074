"""Which runs are seeds of one setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holter.compare.groups import grouped, stem
from holter.compare.settings_apart import apart, settings_of
from holter.runs.build import run_of

if TYPE_CHECKING:
    from holter.runs.run import Run


def run(name: str, **config: object) -> Run:
    return run_of([1, 2, 3], {"reward": [0.1, 0.2, 0.3]}, config=config, name=name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ppo-healthy-0/log.jsonl", "ppo-healthy"),
        ("ppo-healthy-2/trainer_state.json", "ppo-healthy"),
        ("rho100-s42", "rho100"),
        ("qwen_seed=7_long", "qwen_long"),
        ("wordle-lr5e-4", "wordle-lr5e-4"),
        ("sweep-lr-3", "sweep-lr-3"),
        ("beta_10", "beta_10"),
        ("run", "run"),
    ],
)
def test_a_seed_is_taken_off_a_name_and_a_setting_is_not(name: str, expected: str) -> None:
    assert stem(name) == expected


def test_equal_configurations_are_one_setting_whatever_the_names() -> None:
    runs = [run("a", lr=1, seed=1), run("b", lr=1, seed=2), run("c", lr=2, seed=1)]
    groups = grouped(runs).groups
    assert [[r.name for r in g.runs] for g in groups] == [["a", "b"], ["c"]]
    assert [g.label for g in groups] == ["lr=1", "lr=2"]


def test_a_few_repeated_fields_are_no_configuration_so_names_decide() -> None:
    runs = [run("x-s1", logging_steps=1), run("x-s2", logging_steps=1), run("y-s1", logging_steps=1)]
    assert [len(g.runs) for g in grouped(runs).groups] == [2, 1]


def test_names_never_join_runs_whose_shared_fields_differ() -> None:
    runs = [run("x-s1", max_steps=10), run("x-s2", max_steps=20)]
    assert [len(g.runs) for g in grouped(runs).groups] == [1, 1]


def test_the_baseline_is_one_group_whatever_its_settings() -> None:
    found = grouped([run("new", lr=1, seed=1)], baseline=[run("old", lr=2, seed=1), run("older", lr=3, seed=1)])
    assert found.groups[0].baseline
    assert len(found.groups[0].runs) == 2


def test_nothing_is_grouped_when_told_so() -> None:
    assert [len(g.runs) for g in grouped([run("a-s1"), run("a-s2")], by="none").groups] == [1, 1]


def test_no_two_groups_share_a_label() -> None:
    runs = [run("one/run-s1", max_steps=1), run("two/run-s1", max_steps=2)]
    labels = [g.label for g in grouped(runs, by="name").groups]
    assert len(set(labels)) == 2


def test_seed_name_and_places_are_no_settings() -> None:
    config = {"seed": 1, "run_name": "x", "output_dir": "/a", "learning_rate": 1e-5, "model": {"path": "m"}}
    assert settings_of(run("a", **config)) == {"learning_rate": 1e-5, "model.path": "m"}


def test_a_trackers_wrapping_is_no_setting_of_its_own() -> None:
    assert settings_of(run("a", beta={"value": 0.04, "desc": None})) == {"beta": 0.04}


def test_settings_that_differ_are_listed_with_every_value() -> None:
    found = apart([run("a", lr=1.0, beta=0.1), run("b", lr=1, beta=0.2), run("c", lr=1)])
    assert [(s.name, s.values) for s in found] == [("beta", (0.1, 0.2, None))]


def test_a_log_without_a_configuration_differs_in_nothing() -> None:
    assert apart([run("a", lr=1), run("b")]) == ()


def test_the_settings_of_a_sweep_stand_in_the_order_of_their_numbers() -> None:
    runs = [run(f"lr-{lr:g}", learning_rate=lr, beta=b) for lr in (1e-4, 3e-6, 1e-5) for b in (0.1, 0.02)]
    values = [(g.runs[0].config["learning_rate"], g.runs[0].config["beta"]) for g in grouped(runs).groups]
    assert values == sorted(values)
    held = [run("base", learning_rate=1e-4, beta=0.1)]
    assert grouped(runs, baseline=held).groups[1].runs[0] is runs[0]


def test_where_there_is_no_sweep_the_first_named_stays_the_yardstick() -> None:
    three = [run("c", learning_rate=3), run("a", learning_rate=1), run("b", learning_rate=2)]
    assert [g.runs[0].name for g in grouped(three).groups] == ["c", "a", "b"]
    two = [run(f"{n}{s}", learning_rate=n, seed=s) for n in (2, 1) for s in (0, 1)]
    assert [g.runs[0].name for g in grouped(two).groups] == ["20", "10"]
