"""The KL coefficient, against hand computation."""

import math

import pytest
import torch

from holter.trainers.kl_control import KLCoefficient


def test_without_a_target_it_stays():
    coefficient = KLCoefficient(0.1)
    coefficient.update(torch.tensor(50.0), 256)
    assert coefficient.value == 0.1


@pytest.mark.parametrize(
    ("kl", "expected"),
    [
        (12.0, 0.2 * (1 + 0.2 * 256 / 10_000)),  # twice the target: the error is cut at 20 %
        (6.6, 0.2 * (1 + 0.1 * 256 / 10_000)),
        (6.0, 0.2),
        (5.4, 0.2 * (1 - 0.1 * 256 / 10_000)),
        (-3.0, 0.2 * (1 - 0.2 * 256 / 10_000)),
        (math.nan, 0.2),
    ],
)
def test_it_is_led_towards_the_target(kl, expected):
    coefficient = KLCoefficient(0.2, target=6.0, horizon=10_000)
    coefficient.update(torch.tensor(kl), 256)
    assert coefficient.state() == pytest.approx(expected, rel=1e-6)


def test_updates_multiply():
    coefficient = KLCoefficient(0.2, target=6.0, horizon=1000)
    for kl in (12.0, 12.0, 3.0):
        coefficient.update(torch.tensor(kl), 100)
    assert coefficient.state() == pytest.approx(0.2 * 1.02 * 1.02 * 0.98, rel=1e-6)


def test_a_restored_one_goes_on_and_a_fixed_one_obeys_the_settings():
    led, fixed = KLCoefficient(0.2, target=6.0), KLCoefficient(0.05)
    led.restore(0.31)
    fixed.restore(0.31)
    assert (led.value, fixed.value) == (0.31, 0.05)


def test_a_batch_larger_than_the_horizon_makes_no_negative_price():
    coefficient = KLCoefficient(0.2, target=6.0, horizon=100)
    coefficient.update(torch.tensor(0.0), 1024)
    assert coefficient.state() == pytest.approx(0.2 * 0.8, rel=1e-6)
