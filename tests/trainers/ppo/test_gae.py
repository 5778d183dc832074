"""Advantages, returns and moments, against loops over single numbers."""

import math

import pytest
import torch

from holter.trainers.gae import BLOCK, generalized_advantages, moments


def naive(rewards, values, length, gamma, lam):
    """The recursion for one completion, by the book."""
    advantages, following, running = [0.0] * len(rewards), 0.0, 0.0
    for t in reversed(range(length)):
        error = rewards[t] + gamma * following - values[t]
        running = error + gamma * lam * running
        advantages[t], following = running, values[t]
    return advantages


@pytest.mark.parametrize("length", [1, 7, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 0.95), (0.99, 1.0), (0.9, 0.0), (1.0, 1.0), (0.0, 0.5)])
def test_advantages_are_those_of_the_recursion(length, gamma, lam):
    torch.manual_seed(length)
    rewards, values = (torch.randn(4, length, dtype=torch.float64) for _ in range(2))
    lengths = [length, max(1, length // 2), 1, max(1, length - 1)]
    mask = torch.arange(length) < torch.tensor(lengths).unsqueeze(-1)
    # What stands in the padding must not matter.
    rewards, values = rewards.where(mask, math.nan), values.where(mask, math.inf)
    advantages, returns = generalized_advantages(rewards, values, mask, gamma=gamma, lam=lam)
    for i, real in enumerate(lengths):
        expected = naive(rewards[i].tolist(), values[i].tolist(), real, gamma, lam)
        torch.testing.assert_close(advantages[i], torch.tensor(expected, dtype=torch.float64))
        torch.testing.assert_close(returns[i, :real], advantages[i, :real] + values[i, :real])
        assert not returns[i, real:].any()


def test_a_hand_computed_completion():
    rewards, values = torch.tensor([[0.0, 0.0, 1.0]]), torch.tensor([[0.5, 0.5, 0.25]])
    advantages, returns = generalized_advantages(
        rewards, values, torch.ones(1, 3, dtype=torch.bool), gamma=1.0, lam=0.5
    )
    # Errors are 0, -0.25 and 0.75.
    assert advantages.tolist() == [[0.0625, 0.125, 0.75]]
    assert returns.tolist() == [[0.5625, 0.625, 1.0]]


def test_moments_of_parts_are_those_of_the_whole():
    torch.manual_seed(0)
    values, mask = torch.randn(6, 5), torch.rand(6, 5) < 0.6
    kept = values[mask]
    found = moments(values, mask, lambda t: t)
    torch.testing.assert_close(found.mean, kept.mean())
    torch.testing.assert_close(found.var, kept.var())


def test_moments_of_too_few_values_are_numbers():
    values = torch.tensor([[2.0, math.nan]])
    none = moments(values, torch.tensor([[False, False]]), lambda t: t)
    one = moments(values, torch.tensor([[True, False]]), lambda t: t)
    assert (float(none.mean), float(none.var)) == (0.0, 0.0)
    assert (float(one.mean), float(one.var)) == (2.0, 0.0)
