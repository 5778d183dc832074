"""Per token or per sequence: told by the name, or by the first values and their company."""

from __future__ import annotations

import pytest

from holter.runs.canonical import canonical
from holter.signals.base import Unit
from tests.unit.runs.logs import log_of

TABLE = [
    {"步骤": 1000, "平均奖励": 2.5, "KL散度": 15.2, "策略损失": 0.25, "价值损失": 0.40, "评估分数": 0.65},
    {"步骤": 2000, "平均奖励": 3.1, "KL散度": 18.5, "策略损失": 0.18, "价值损失": 0.32, "评估分数": 0.70},
    {"步骤": 3000, "平均奖励": 3.5, "KL散度": 22.1, "策略损失": 0.15, "价值损失": 0.28, "评估分数": 0.72},
]


def kl_of(rows):
    run = canonical(log_of(rows))[0]
    found = run.get("ref_kl")
    return found, run


def rows_of(name, values, **more):
    return [{"step": i, "mean_reward": 1.0, name: v, **more} for i, v in enumerate(values)]


def test_kl_of_the_hands_on_table_is_per_sequence():
    kl, run = kl_of(TABLE)
    assert (kl.key, kl.unit, kl.metric) == ("objective/kl", Unit.NATS_PER_SEQUENCE, "KL散度")
    assert kl.values.tolist() == [15.2, 18.5, 22.1]
    assert any("KL散度 is read in nats per sequence" in note for note in run.notes)
    assert list(run.series)[:2] == ["reward", "objective/kl"]


def test_a_prefix_of_the_log_has_the_same_unit():
    for n in (1, 2, 3):
        assert kl_of(TABLE[:n])[0].unit is Unit.NATS_PER_SEQUENCE


@pytest.mark.parametrize(
    ("name", "values", "more", "unit"),
    [
        ("kl", [0.0, 0.01, 0.02, 30.0], {"value_loss": 0.3}, Unit.NATS_PER_TOKEN),
        ("kl", [0.0, 5.0, 8.0, 0.01], {"value_loss": 0.3}, Unit.NATS_PER_SEQUENCE),
        ("kl", [-4.0, -5.0, -6.0], {"critic_loss": 0.3}, Unit.NATS_PER_SEQUENCE),
        ("kl", [5.0, 8.0, 9.0], {"policy_loss": 0.3}, Unit.NATS_PER_TOKEN),
        ("kl", [0.0, 0.0], {"value_loss": 0.3}, Unit.NATS_PER_TOKEN),
        ("KL (nats/token)", [5.0, 8.0], {"value_loss": 0.3}, Unit.NATS_PER_TOKEN),
        ("KL (nats/sequence)", [0.01, 0.02], {}, Unit.NATS_PER_SEQUENCE),
        ("kl_per_token", [5.0, 8.0], {"value_loss": 0.3}, Unit.NATS_PER_TOKEN),
        ("sequence_kl", [0.01], {}, Unit.NATS_PER_SEQUENCE),
    ],
)
def test_unit_is_inferred(name, values, more, unit):
    assert kl_of(rows_of(name, values, **more))[0].unit is unit


def test_a_framework_that_says_its_unit_is_believed():
    rows = [{"step": s, "reward": 1.0, "reward_std": 0.1, "completions/mean_length": 9.0, "kl": 50.0} for s in (1, 2)]
    kl, run = kl_of(rows)
    assert kl.unit is Unit.NATS_PER_TOKEN
    assert not run.notes
