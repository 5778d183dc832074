"""Sums, means and variances over the tokens that count."""

import math

import pytest

torch = pytest.importorskip("torch")

from holter.signals.masked import masked_max, masked_mean, masked_min, masked_sum, masked_var, tally, whiten  # noqa: E402

NAN = math.nan


def test_masked_entries_are_left_out_whatever_they_are():
    values = torch.tensor([[1.0, 2.0, NAN], [4.0, math.inf, 6.0]])
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    assert masked_mean(values, mask).item() == pytest.approx(7 / 3)
    assert masked_sum(values, mask).item() == 7
    assert masked_min(values, mask).item() == 1
    assert masked_max(values, mask).item() == 4


def test_nan_under_the_mask_is_kept():
    values = torch.tensor([1.0, NAN, 3.0])
    mask = torch.tensor([True, True, False])
    for reduce in (masked_mean, masked_sum, masked_min, masked_max, masked_var):
        assert reduce(values, mask).isnan()


def test_masked_padding_has_no_gradient_even_where_it_is_nan():
    values = torch.tensor([1.0, NAN], requires_grad=True)
    masked_mean(values, torch.tensor([1.0, 0.0])).backward()
    assert values.grad.tolist() == [1.0, 0.0]


def test_tallies_of_parts_add_up_to_the_tally_of_the_whole():
    values = torch.tensor([[1.0, 2.0, 3.0, 4.0], [10.0, 0.0, 0.0, 0.0]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0]])
    whole = tally(values, mask)
    parts = [tally(values[i], mask[i]) for i in range(2)]
    assert sum(p.total for p in parts) == whole.total
    assert sum(p.count for p in parts) == whole.count == 5
    assert whole.mean.item() == 4
    # The mean of the parts' means is what must not come out.
    assert sum(p.mean for p in parts).item() / 2 == 6.25


def test_a_tally_along_the_tokens_has_one_entry_a_sequence():
    values = torch.tensor([[1.0, 2.0, 9.0], [5.0, 9.0, 9.0], [9.0, 9.0, 9.0]])
    mask = torch.tensor([[1, 1, 0], [1, 0, 0], [0, 0, 0]])
    found = tally(values, mask, dim=-1)
    assert found.total.tolist() == [3, 5, 0]
    assert found.count.tolist() == [2, 1, 0]
    assert found.mean[:2].tolist() == [1.5, 5]
    assert found.mean[2].isnan()


def test_an_empty_mask_gives_nan_and_not_zero():
    values, mask = torch.ones(3), torch.zeros(3)
    assert masked_mean(values, mask).isnan()
    assert masked_sum(values, mask) == 0
    assert masked_min(values, mask) == math.inf
    assert masked_max(values, mask) == -math.inf


def test_half_precision_and_booleans_are_summed_in_full_precision():
    ones = torch.ones(5000, dtype=torch.bfloat16)
    assert masked_sum(ones, torch.ones(5000)).item() == 5000
    assert masked_mean(torch.tensor([True, False, True, True])).item() == 0.75


def test_variance_is_that_of_the_tokens_that_count():
    values = torch.tensor([1.0, 2.0, 4.0, 100.0])
    mask = torch.tensor([1, 1, 1, 0])
    assert masked_var(values, mask).item() == pytest.approx(7 / 3)
    assert masked_var(values, mask, unbiased=False).item() == pytest.approx(14 / 9)
    assert masked_var(values[:1]).isnan()


def test_variance_survives_a_large_mean():
    values = torch.tensor([10000.0, 10001.0, 10002.0])
    assert masked_var(values).item() == pytest.approx(1.0, rel=1e-5)


def test_whitened_values_have_mean_zero_and_variance_one_and_padding_stays_zero():
    values = torch.tensor([[1.0, 5.0, NAN], [3.0, 7.0, 2.0]])
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    white = whiten(values, mask)
    assert white[0, 2] == 0
    assert masked_mean(white, mask).item() == pytest.approx(0, abs=1e-6)
    assert masked_var(white, mask).item() == pytest.approx(1, rel=1e-5)
    kept = whiten(values, mask, shift_mean=False)
    assert masked_mean(kept, mask).item() == pytest.approx(3.6, rel=1e-5)


def test_whitening_takes_the_moments_of_all_processes():
    values = torch.tensor([2.0, 4.0])
    white = whiten(values, mean=torch.tensor(0.0), var=torch.tensor(4.0), eps=0.0)
    assert white.tolist() == [1.0, 2.0]
