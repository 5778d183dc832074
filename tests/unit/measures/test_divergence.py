"""The three estimators of a KL, and its two reductions."""

import math

import pytest

torch = pytest.importorskip("torch")

from holter.errors import UnknownNameError  # noqa: E402
from holter.signals.divergence import k1, k2, k3, kl, kl_per_sequence, kl_per_token  # noqa: E402

P = torch.tensor([0.5, 0.3, 0.2])
Q = torch.tensor([0.2, 0.3, 0.5])
EXACT = sum(p * math.log(p / q) for p, q in zip(P.tolist(), Q.tolist(), strict=True))


def test_k1_and_k3_are_unbiased_and_k2_is_not():
    logs = P.log(), Q.log()
    assert (P * k1(*logs)).sum().item() == pytest.approx(EXACT, rel=1e-6)
    assert (P * k3(*logs)).sum().item() == pytest.approx(EXACT, rel=1e-6)
    assert (P * k2(*logs)).sum().item() != pytest.approx(EXACT, rel=1e-2)


def test_only_k1_is_ever_negative():
    p, q = torch.randn(1000, generator=torch.Generator().manual_seed(0)), torch.zeros(1000)
    assert (k1(p, q) < 0).any()
    assert (k2(p, q) >= 0).all()
    assert (k3(p, q) >= 0).all()


def test_k3_keeps_its_digits_near_zero():
    difference = 1e-4
    exact = math.expm1(-difference) + difference
    found = k3(torch.tensor(difference, dtype=torch.float32), torch.tensor(0.0)).item()
    assert found == pytest.approx(difference**2 / 2, rel=2e-3)
    assert found == pytest.approx(exact, rel=2e-3)
    assert k3(torch.tensor(-1.5), torch.tensor(-1.5)).item() == 0


def test_an_overflow_is_infinite_and_not_hidden():
    assert k3(torch.tensor(-200.0), torch.tensor(0.0)).item() == math.inf


def test_per_token_weighs_tokens_and_per_sequence_adds_them_up():
    new = torch.tensor([[0.1, 0.2, math.nan], [0.4, math.nan, math.nan]])
    old = torch.zeros(2, 3)
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    assert kl_per_token(new, old, mask, "k1").mean.item() == pytest.approx(0.7 / 3)
    per_sequence = kl_per_sequence(new, old, mask)
    assert per_sequence.count.item() == 2
    assert per_sequence.mean.item() == pytest.approx(0.7 / 2)


def test_an_unknown_estimator_is_refused_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="Did you mean k3"):
        kl(P, Q, "k33")
