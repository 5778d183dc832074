"""A departure stays flagged until the series is half-way back, and what is said of a point needs no later one."""

import numpy as np

from holter.detectors.statistics.hold import hold


def flags(n, *up):
    out = np.zeros(n, bool)
    out[list(up)] = True
    return out


def test_a_level_that_stays_is_not_over():
    x = np.r_[np.full(30, 10.0), np.full(40, 100.0)]
    assert np.flatnonzero(hold(flags(70, 33), x)).tolist() == list(range(33, 70))


def test_a_level_that_comes_back_is_over_when_the_median_of_five_is_half_way():
    x = np.r_[np.full(30, 10.0), np.full(20, 100.0), np.full(20, 10.0)]
    assert np.flatnonzero(hold(flags(70, 33), x)).tolist() == list(range(33, 52))


def test_falls_are_held_too():
    x = np.r_[np.full(30, 100.0), np.full(40, 10.0)]
    assert hold(flags(70, 35), x, up=False)[35:].all()


def test_a_level_that_the_test_knows_better_is_what_it_has_to_come_back_to():
    x = np.r_[np.linspace(1.0, 0.0, 40), np.full(20, 0.45)]
    slow = hold(flags(60, 39), x, up=False, log=False)
    known = hold(flags(60, 39), x, up=False, log=False, base=np.ones(60))
    assert np.flatnonzero(slow)[-1] == 41  # half-way back to the values just before: 0.16 at the median of five
    assert known[39:].all()  # half-way back to 1.0 would be 0.53


def test_a_prefix_says_the_same():
    rng = np.random.default_rng(0)
    x = np.exp(rng.normal(size=80).cumsum() * 0.3)
    f = rng.random(80) < 0.1
    whole = hold(f, x)
    for n in range(1, 81):
        assert (hold(f[:n], x[:n]) == whole[:n]).all()


def test_without_flags_nothing_is_held():
    assert not hold(flags(5), np.ones(5)).any()
