"""Rewards within groups."""

import math
import statistics

import pytest

torch = pytest.importorskip("torch")

from holter.signals.grouped import group_advantages, group_statistics  # noqa: E402

NAN = math.nan


def test_spread_is_that_within_each_group():
    found = group_statistics(torch.tensor([1.0, 3.0, 100.0, 100.0]), 2)
    assert found.mean.tolist() == [2, 100]
    assert found.std.tolist() == pytest.approx([statistics.stdev([1, 3]), 0])
    assert found.zero.tolist() == [False, True]


def test_unscored_completions_are_left_out_of_their_group():
    found = group_statistics(torch.tensor([1.0, NAN, 4.0, NAN, 5.0, NAN, NAN, NAN, NAN]), 3)
    assert found.scored.tolist() == [2, 1, 0]
    assert found.mean[:2].tolist() == [2.5, 5]
    assert found.mean[2].isnan()
    assert found.std[0].item() == pytest.approx(statistics.stdev([1, 4]))
    assert found.std[1:].isnan().all()
    assert not found.zero.any()


def test_equal_rewards_that_no_binary_number_holds_have_zero_spread():
    found = group_statistics(torch.full((8,), 0.1), 8)
    assert found.zero.item()


def test_a_spread_that_means_something_is_not_zero():
    assert not group_statistics(torch.tensor([0.0, 1e-3]), 2).zero.item()


def test_advantages_are_centred_and_scaled_within_the_group():
    rewards = torch.tensor([1.0, 3.0, 10.0, 10.0])
    found = group_advantages(rewards, 2)
    deviation = statistics.stdev([1, 3]) + 1e-4
    assert found.tolist() == pytest.approx([-1 / deviation, 1 / deviation, 0, 0])
    assert group_advantages(rewards, 2, scale=False).tolist() == [-1, 1, 0, 0]


def test_an_unscored_or_single_completion_has_no_advantage():
    assert group_advantages(torch.tensor([1.0, NAN, NAN, NAN]), 2).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("scale", [True, False])
def test_an_infinite_reward_is_seen_and_stays_in_its_group(scale):
    found = group_advantages(torch.tensor([-math.inf, 1.0, 1.0, 3.0]), 2, scale=scale)
    assert found[:2].isnan().all()
    assert found[2:].isfinite().all()


def test_a_batch_of_broken_groups_is_refused():
    with pytest.raises(ValueError, match="not whole groups of 3"):
        group_statistics(torch.ones(4), 3)
