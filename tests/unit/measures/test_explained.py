"""Explained variance, whole and in parts."""

import pytest

torch = pytest.importorskip("torch")

from holter.recorder.fold import EXPLAINED_VARIANCE  # noqa: E402
from holter.signals.explained import explained_parts, explained_variance  # noqa: E402


def test_perfect_constant_and_contrary_values():
    returns = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert explained_variance(returns, returns).item() == 1
    assert explained_variance(torch.full((4,), 7.0), returns).item() == pytest.approx(0, abs=1e-6)
    assert explained_variance(-returns, returns).item() == pytest.approx(-3)


def test_a_constant_offset_costs_nothing():
    returns = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert explained_variance(returns + 5, returns).item() == pytest.approx(1)


def test_returns_that_do_not_vary_cannot_be_explained():
    assert explained_variance(torch.tensor([1.0, 2.0]), torch.ones(2)).isnan()


def test_parts_of_micro_batches_give_the_explained_variance_of_the_batch():
    generator = torch.Generator().manual_seed(2)
    returns = torch.randn(6, 10, generator=generator) * 3 + 100
    values = returns + torch.randn(6, 10, generator=generator)
    mask = torch.rand(6, 10, generator=generator) < 0.7
    values[~mask] = float("nan")
    whole = explained_variance(values.double(), returns.double(), mask).item()
    lanes = [
        tuple(t.item() for t in explained_parts(values[i : i + 2], returns[i : i + 2], mask[i : i + 2]))
        for i in (0, 2, 4)
    ]
    assert EXPLAINED_VARIANCE.finish(EXPLAINED_VARIANCE.fold(lanes)) == pytest.approx(whole, rel=1e-6)
