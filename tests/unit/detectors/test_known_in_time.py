"""A warning cannot have been raised before the log held what it rests on."""

import numpy as np

from holter.detectors.base import Need
from holter.detectors.evaluation.held_out import held_out, known_since
from holter.detectors.registry import run_detectors
from holter.runs.build import run_of
from holter.testing.properties import warns_since_it_says


def test_a_finding_is_not_raised_before_the_detector_had_what_it_needs(a_detector):
    cls = a_detector(needs=(Need(concepts=("reward",), points=3),), raised=0)
    (found,) = run_detectors(run_of([10, 20, 30, 40], {"reward": [0.1, None, 0.2, 0.3]}), [cls()])
    assert (found.first_step, found.raised_step) == (10.0, 40.0), "the third value is that of step 40"


def test_a_warning_dated_back_is_a_complaint(a_detector):
    cls = a_detector(needs=(), raised=0, only_from=3)
    (complaint,) = warns_since_it_says(cls, run_of([1, 2, 3, 4], {"reward": [0.1, 0.2, 0.3, 0.4]}))
    assert "claims to have warned of step 1.0 at step 1.0, and said [] then" in complaint


def test_that_a_function_is_not_paid_is_known_once_the_rows_tell_the_weights():
    rng = np.random.default_rng(0)
    paid, gold = rng.uniform(size=(2, 20))
    columns = {"reward": 2.0 * paid, "rewards/proxy/mean": paid, "rewards/gold/mean": gold}
    run = run_of(range(1, 21), columns)
    (series,) = held_out(run)
    assert series.key == "rewards/gold/mean"
    assert known_since(run, series.key) == 4, "two weights and three rows to spare"
    assert known_since(run, "rewards/proxy/mean") == 0
