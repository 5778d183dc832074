"""What a handful of rows shows: cuts, how far they lie apart, and whether the old level comes back. Numbers by hand."""

import numpy as np
import pytest

from holter.detectors.statistics.snapshots import FEW, comes_back, errors_apart, shifts


def cuts(*values, up=False):
    return [(s.began, s.raised) for s in shifts(np.asarray(values, float), up=up)]


def test_every_later_value_lies_beyond_every_earlier_one():
    assert cuts(0.8, 0.9, 0.3, 0.2) == [(2, 2), (2, 3), (3, 3)]
    assert cuts(0.8, 0.3, 0.9, 0.2) == [(1, 1), (3, 3)]
    assert cuts(0.2, 0.3, up=True) == [(1, 1)]
    assert cuts(0.5, 0.5) == []


def test_a_level_is_the_median_of_its_values():
    *_, last = (s for s in shifts(np.asarray([0.8, 1.0, 0.9, 0.4, 0.1]), up=False) if s.began == 3)
    assert (last.before, last.after, last.earlier, last.later) == (0.9, 0.25, 3, 2)


def test_nothing_is_said_of_values_that_tests_can_judge():
    values = np.r_[np.ones(FEW), np.zeros(5)]
    assert list(shifts(values, up=False)) == []


def test_shares_of_64_completions_set_the_noise():
    (shift,) = shifts(np.asarray([0.5, 0.1]), up=False)
    by_hand = 0.4 / np.sqrt((0.5 * 0.5 + 0.1 * 0.9) / 64)
    assert errors_apart(np.asarray([0.5, 0.1]), shift) == pytest.approx(by_hand)


def test_the_noise_of_anything_but_shares_is_unknown():
    values = np.asarray([2.0, 0.1])
    (shift,) = shifts(values, up=False)
    assert np.isnan(errors_apart(values, shift))


def test_shares_without_noise_still_have_the_grain_of_their_count():
    values = np.asarray([1.0, 0.0])
    (shift,) = shifts(values, up=False)
    assert errors_apart(values, shift) == 64.0


def test_values_that_scatter_more_than_shares_of_64_set_their_own_noise():
    values = np.asarray([0.3, 0.8, 0.7, 0.2, 0.1])
    *_, shift = (s for s in shifts(values, up=False) if s.began == 3)
    within = (
        0.3**2 + 0.2**2 + 0.1**2 + 0.05**2 + 0.05**2
    ) / 3  # around means of 0.6 and 0.15, two of five degrees spent
    assert errors_apart(values, shift) == pytest.approx(0.55 / np.sqrt(within * (1 / 3 + 1 / 2)))


def test_half_of_a_fall_made_good_is_its_end():
    values = np.asarray([1.0, 0.2, 0.3, 0.7, 0.1])
    first = next(iter(shifts(values, up=False)))
    assert comes_back(values, first) == 3
    assert comes_back(values[:3], first) is None


def test_eight_values_and_more_tell_their_own_noise_whatever_they_are():
    values = np.asarray([3.0, 2.0, 3.0, 2.0, -3.0, -2.0, -3.0, -2.0])
    *_, shift = (s for s in shifts(values, up=False) if s.began == 4)
    by_hand = 5.0 / np.sqrt(
        8 * 0.25 / 6 * (1 / 4 + 1 / 4)
    )  # each half a unit from its mean, two of eight degrees spent
    assert errors_apart(values, shift) == pytest.approx(by_hand)
    assert np.isnan(errors_apart(values[:7], next(s for s in shifts(values[:7], up=False) if s.raised == 6)))
