"""Any way of cutting a batch gives the same number."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holter.recorder import fold
from holter.recorder.fold import Kind

KINDS = [kind for kind in vars(fold).values() if isinstance(kind, Kind)]
VALUES = st.floats(-1e3, 1e3) | st.sampled_from([math.nan, math.inf, -math.inf])


def lanes_of(kind, value):
    """The lanes of one value."""
    return {
        "mean": (value, 1.0),
        "sum": (value, 1.0),
        "min": (value, 1.0),
        "max": (value, 1.0),
        "last": (value, 1.0),
        "variance": (1.0, value, value * value),
        "deviation": (1.0, value, value * value),
        "explained variance": (1.0, value, value * value, value / 2, value * value / 4),
    }[kind.name]


def same(one, other):
    return all(
        a == b or (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.name)
@given(parts=st.lists(st.lists(VALUES, max_size=4), max_size=5))
def test_the_fold_of_all_is_the_merge_of_folds_in_any_grouping(kind, parts):
    flat = kind.fold(lanes_of(kind, v) for part in parts for v in part)
    folds = [kind.fold(lanes_of(kind, v) for v in part) for part in parts]
    assert same(flat, kind.fold(folds))
    right = kind.empty
    for each in reversed(folds):
        right = kind.merge(each, right)
    assert same(flat, right)


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.name)
def test_nothing_recorded_is_no_number(kind):
    assert kind.finish(kind.empty) is None


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=20))
def test_finished_folds_are_the_plain_statistics(values):
    def of(kind):
        return kind.finish(kind.fold(lanes_of(kind, v) for v in values))

    assert of(fold.MEAN) == pytest.approx(statistics.fmean(values))
    assert of(fold.SUM) == pytest.approx(math.fsum(values), abs=1e-9)
    assert of(fold.MIN) == min(values)
    assert of(fold.MAX) == max(values)
    assert of(fold.VARIANCE) == pytest.approx(statistics.variance(values), rel=1e-6, abs=1e-8)
    assert of(fold.DEVIATION) == pytest.approx(statistics.stdev(values), rel=1e-6, abs=1e-4)


def test_one_nan_makes_the_whole_nan_in_every_kind():
    for kind in KINDS:
        assert math.isnan(kind.finish(kind.fold([lanes_of(kind, 1.0), lanes_of(kind, math.nan)])))


def test_one_value_has_no_variance_and_constants_explain_nothing():
    assert fold.VARIANCE.finish(fold.VARIANCE.fold([lanes_of(fold.VARIANCE, 3.0)])) is None
    constant = [(1.0, 2.0, 4.0, 0.5, 0.25)] * 3
    assert fold.EXPLAINED_VARIANCE.finish(fold.EXPLAINED_VARIANCE.fold(constant)) is None
