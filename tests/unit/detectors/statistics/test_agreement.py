"""How many groups agree, read off advantages, and how many groups a share tells of."""

import numpy as np

from holter.detectors.statistics.agreement import agreement, counted
from holter.runs.build import run_of


def groups(**columns):
    names = {"high": "reward/max", "low": "reward/min", "most": "advantages/max", "least": "advantages/min"}
    names["spread"] = "advantages/std"
    rows = len(next(iter(columns.values())))
    return agreement(run_of(range(1, rows + 1), {names[k]: v for k, v in columns.items()}))


def test_no_advantage_although_rewards_differ_is_no_spread_in_any_group():
    found = groups(high=[1, 1, 1], low=[0, 0, 1], most=[0, 1.2, 0], least=[0, -0.8, 0])
    assert found.share.tolist() == [1, 0, 1]
    assert found.proven.tolist() == [True, False, False]
    assert found.exact.tolist() == [True, False, False]
    assert found.metric(0) == "advantages/max"


def test_advantages_alone_speak_for_the_whole_batch():
    found = groups(most=[0.0, 1.5, 0.0], least=[0.0, -0.5, -0.5])
    assert found.share.tolist() == [1, 0, 0]
    assert not found.exact.any()


def test_advantages_without_a_spread_speak_for_the_whole_batch():
    found = groups(spread=[0.0, 0.9])
    assert found.share.tolist() == [1, 0]
    assert not found.exact.any()


def test_one_of_the_two_advantages_tells_nothing():
    assert groups(most=[0.0]) is None


def test_a_share_tells_of_as_many_groups_as_it_takes():
    assert counted(np.asarray([0.9, 0.92, 0.5, 1.0, 0.0])).tolist() == [10, 12, 2, 1, 1]
