"""Holter's own checks, run as a third party runs them."""

import pytest
from holter_refusals.refusals_rise import RefusalsRise

from holter.testing import checks


@pytest.mark.parametrize("check", checks(RefusalsRise), ids=str)
def test_refusals_rise(check):
    check()
