"""Ratios and clipping."""

import math

import pytest

torch = pytest.importorskip("torch")

from holter.signals.importance import (  # noqa: E402
    clip_fraction,
    clipped,
    clipped_per_sequence,
    log_ratio,
    ratio,
    ratio_statistics,
    sequence_log_ratio,
    value_clipped,
)
from holter.signals.masked import tally  # noqa: E402

NEW = torch.tensor([[0.0, math.log(2.0), math.log(0.5)], [math.log(1.1), math.nan, math.nan]])
OLD = torch.zeros(2, 3)
MASK = torch.tensor([[1, 1, 1], [1, 0, 0]])


def test_the_ratio_of_padding_is_one_whatever_stands_there():
    assert ratio(NEW, OLD, MASK)[1].tolist() == pytest.approx([1.1, 1.0, 1.0])


def test_statistics_count_real_tokens_only():
    found = ratio_statistics(ratio(NEW, OLD, MASK), MASK)
    ratios = [1.0, 2.0, 0.5, 1.1]
    mean = sum(ratios) / 4
    assert found.mean.mean.item() == pytest.approx(mean)
    variance = found.square.mean.item() - found.mean.mean.item() ** 2
    assert variance == pytest.approx(sum((r - mean) ** 2 for r in ratios) / 4)
    assert found.least.item() == pytest.approx(0.5)
    assert found.greatest.item() == pytest.approx(2.0)


def test_the_fraction_outside_the_range_ignores_the_advantage():
    assert clip_fraction(log_ratio(NEW, OLD, MASK), MASK).item() == 0.5
    assert clip_fraction(log_ratio(NEW, OLD, MASK), MASK, low=0.6, high=0.2).item() == 0.25
    assert clip_fraction(NEW, torch.zeros(2, 3)).isnan()


def test_a_clip_binds_exactly_where_the_clipped_surrogate_is_worse():
    generator = torch.Generator().manual_seed(1)
    ratios = torch.randn(500, generator=generator).mul(0.5).exp()
    advantages = torch.randn(500, generator=generator)
    unclipped, bounded = -advantages * ratios, -advantages * ratios.clamp(0.8, 1.28)
    found = clipped(ratios, advantages, low=0.2, high=0.28)
    assert torch.equal(found.region, bounded > unclipped)
    assert torch.equal(found.region, found.low | found.high)
    assert not (found.low & found.high).any()
    assert found.low.any()
    assert found.high.any()


def test_one_advantage_a_completion_is_enough():
    found = clipped(ratio(NEW, OLD, MASK), torch.tensor([[1.0], [-1.0]]))
    assert tally(found.high, MASK).total.item() == 1
    assert tally(found.low, MASK).total.item() == 0


def test_clipping_by_sequence_gives_shares_of_each_completion():
    entries = torch.tensor([[True, True, False], [True, True, True], [True, True, True]])
    mask = torch.tensor([[1, 1, 1], [1, 0, 0], [0, 0, 0]])
    found = clipped_per_sequence(entries, mask)
    assert found[:2].tolist() == pytest.approx([2 / 3, 1.0])
    assert found[2].isnan()


def test_sequence_ratios_are_length_normalised():
    found = sequence_log_ratio(log_ratio(NEW, OLD, MASK), MASK)
    assert found.shape == (2, 1)
    assert found[:, 0].tolist() == pytest.approx([0.0, math.log(1.1)], abs=1e-7)
    assert sequence_log_ratio(NEW, torch.zeros(2, 3)).tolist() == [[0.0], [0.0]]


def test_a_value_is_clipped_where_the_bounded_loss_is_greater():
    values, old = torch.tensor([1.0, 0.1, 1.0]), torch.zeros(3)
    returns = torch.tensor([2.0, 2.0, -1.0])
    # Moved beyond the range towards the target; within the range; beyond it away from the target.
    assert value_clipped(values, old, returns, clip=0.2).tolist() == [True, False, False]


def test_a_value_that_stays_in_range_is_not_clipped_by_rounding():
    torch.manual_seed(0)
    old = 100 * torch.randn(1000)
    values, returns = old + 0.1 * torch.randn(1000).clamp(-1, 1), old + torch.randn(1000)
    assert not value_clipped(values, old, returns, clip=0.2).any()
