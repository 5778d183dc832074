"""A number that stops varying, and how long that can be an accident."""

import numpy as np

from holter.detectors.statistics.constancy import goes_constant


def test_a_stretch_is_proven_when_chance_could_not_repeat_so_often():
    rng = np.random.default_rng(2)
    x = np.r_[rng.normal(size=40), np.full(10, 0.1)]
    (stretch,) = goes_constant(x, 4)
    assert (stretch.first, stretch.raised, stretch.last) == (40, 43, 49)
    assert stretch.proven == 44  # one repeat in 41 at most: four in a row are rarer than one in a million
    assert 41**-4 < 1e-6 < 41**-3


def test_a_number_that_repeats_now_and_then_must_stand_longer():
    x = np.r_[np.tile([0.1, 0.3, 0.3, 0.2], 10), np.full(10, 0.25)]
    (stretch,) = goes_constant(x, 4)
    assert stretch.proven is None


def test_a_constant_from_the_start_is_no_stretch():
    assert goes_constant(np.full(30, 0.5), 4) == []
