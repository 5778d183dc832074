"""``holter keys`` as a user types it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from holter.cli import holter
from holter.cli.keys import conversion
from holter.dialects.base import Name

ROWS = [
    {"step": s, "actor/policykl": -0.01, "critic/score/mean": 0.5, "actor/pg_loss": 0.1, "time/step_generate": 1.0}
    | {"system/tps": 9.0, "mine": 1.0, "group/mixed_groups_ratio": 0.25}
    for s in (1, 2)
]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    return str(path)


def test_every_name_of_the_log_is_in_the_answer(log):
    answer = json.loads(CliRunner().invoke(holter, ["keys", log, "--format", "json"], catch_exceptions=False).output)
    assert answer["schema"] == "holter.keys/1"
    run = answer["runs"][0]
    keys = {k["metric"]: k for k in run["keys"]}
    assert run["dialect"] == "roll"
    assert keys["actor/policykl"]["key"] == "policy/kl_k1_avg"
    assert keys["actor/policykl"]["conversion"] == "-x"
    assert keys["actor/policykl"]["unit"] == "nats/token"
    derived = [k for k in run["keys"] if k["standing"] == "derived"]
    assert [(k["key"], k["inputs"]) for k in derived] == [("frac_reward_zero_std", ["group/mixed_groups_ratio"])]
    assert run["unknown"] == [{"metric": "mine", "values": 2}]
    logged = {name for row in ROWS for name in row}
    assert logged <= set(keys) | {u["metric"] for u in run["unknown"]} | {"step"}


def test_text_shows_names_signals_and_what_is_not_understood(log):
    result = CliRunner().invoke(holter, ["keys", log], catch_exceptions=False)
    assert result.exit_code == 0
    assert "actor/policykl" in result.output
    assert "policy/kl_k1_avg" in result.output
    assert "Not understood: mine" in result.output


def test_dialect_can_be_named(log):
    result = CliRunner().invoke(holter, ["keys", log, "--dialect", "verl", "--format", "json"], catch_exceptions=False)
    assert json.loads(result.output)["runs"][0]["dialect"] == "verl"


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        (Name("a", "kl"), ""),
        (Name("a", "kl", scale=-1.0), "-x"),
        (Name("a", "kl", scale=0.01), "0.01 x"),
        (Name("a", "kl", power=2.0), "x^2"),
        (Name("a", "kl", power=-1.0), "x^-1"),
        (Name("a", "kl", scale=-1.0, offset=1.0), "1 - x"),
        (Name("a", "kl", scale=-2.0, offset=1.0), "1 - 2 x"),
        (Name("a", "kl", offset=1.0), "1 + x"),
        (None, ""),
    ],
)
def test_conversion_is_a_formula(name, formula):
    assert conversion(name) == formula
