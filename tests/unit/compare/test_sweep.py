"""When a sweep says that nothing stands out, and when that it could not have."""

import itertools

import numpy as np
import pytest

from holter.compare.settings_apart import Setting
from holter.compare.sweep import spearman, sweep


@pytest.mark.parametrize(
    ("values", "too_few"),
    [([1, 1, 1, 3, 3, 3], True), ([1, 2, 3, 4], True), ([1, 2, 3, 4, 5], False), ([1, 1, 3, 3, 9, 9], False)],
)
def test_too_few_is_when_no_order_of_the_ends_could_stand_out(values, too_few):
    numbers = tuple(float(v) for v in values)
    least = min(
        spearman(np.asarray(numbers), np.asarray(order))[1] for order in itertools.permutations(range(len(values)))
    )
    assert (least > 0.05) == too_few
    setting = Setting(name="lr", values=tuple(values))
    found = sweep([setting], {"reward": np.arange(len(values), dtype=float)})
    assert found.too_few == too_few
