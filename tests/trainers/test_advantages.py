import math

import pytest
import torch

from holter.trainers.advantages import group_relative

NAN, INF = float("nan"), float("inf")


def naive(rewards, size, scale):
    """Written with Python's own arithmetic."""

    def std(values):
        known = [v for v in values if v == v]
        if len(known) < 2:
            return 0.0
        mean = sum(known) / len(known)
        return math.sqrt(sum((v - mean) ** 2 for v in known) / (len(known) - 1))

    out = []
    for g in range(0, len(rewards), size):
        group = rewards[g : g + size]
        known = [r for r in group if r == r]
        spread = {"group": std(group) + 1e-4, "batch": std(rewards) + 1e-4, "none": 1.0}[scale]
        out += [0.0 if r != r else (r - sum(known) / len(known)) / spread for r in group]
    return out


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_advantages_are_those_of_the_plain_formula(scale):
    rewards = [1.0, 2.0, 4.0, 3.0, 3.0, 3.0, 0.5, NAN, 7.0, NAN, NAN, NAN, NAN, NAN, 2.0]
    found = group_relative(torch.tensor(rewards), 3, scale)
    torch.testing.assert_close(found, torch.tensor(naive(rewards, 3, scale)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
@pytest.mark.parametrize("bad", [INF, -INF])
def test_an_infinite_reward_takes_its_group_out_and_no_other(scale, bad):
    found = group_relative(torch.tensor([bad, 1.0, 2.0, 0.0, 1.0, 5.0]), 3, scale)
    assert found[:3].tolist() == [0, 0, 0]
    assert found[3:].isfinite().all()
    assert found[3:].abs().max() > 0.5


def test_equal_rewards_teach_nothing():
    assert group_relative(torch.full((8,), 3.3), 4, "group").tolist() == [0.0] * 8
