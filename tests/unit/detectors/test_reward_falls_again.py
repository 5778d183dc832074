"""A run that has come back from a fall once is not accused of the next one unless it is deeper, or something moved with it."""

from __future__ import annotations

import numpy as np
import pytest

from holter.detectors.registry import all_detectors
from holter.findings.finding import Severity
from holter.runs.build import run_of
from holter.testing.properties import agrees_live, said


def run_that_falls_twice(second, **columns):
    level = np.r_[np.linspace(0.1, 0.6, 40), [0.35] * 12, [0.6] * 40, [second] * 12]
    noise = np.random.default_rng(3).normal(0, 0.01, len(level))
    return run_of(range(len(level)), {"reward": (level + noise).tolist(), "reward_std": [0.4] * len(level), **columns})


def newest_of(run):
    return max(said(all_detectors()["reward-collapse"], run), key=lambda f: f.first_step)


def test_a_fall_as_deep_as_one_that_was_made_good_is_information():
    run = run_that_falls_twice(0.35)
    newest = newest_of(run)
    assert (newest.first_step, newest.active, newest.severity) == (92, True, Severity.INFO)
    assert "hardly deeper" in newest.title
    assert not agrees_live(all_detectors()["reward-collapse"], run)


@pytest.mark.parametrize(
    ("second", "columns"), [(0.2, {}), (0.35, {"kl": [0.05] * 92 + [0.05 * 1.6**n for n in range(12)]})]
)
def test_a_deeper_one_and_one_in_which_another_signal_moved_are_warned_of(second, columns):
    newest = newest_of(run_that_falls_twice(second, **columns))
    assert (newest.first_step, newest.active) == (92, True)
    assert newest.severity >= Severity.WARNING


@pytest.mark.parametrize(("spread", "told"), [(0.3, True), (1.0, False)])
def test_a_fall_in_a_few_rows_counts_only_beside_the_spread_of_single_rewards(spread, told):
    run = run_of(range(6), {"reward": [0.4, 0.42, 0.41, 0.08, 0.07, 0.08], "reward_std": [spread] * 6})
    assert bool(said(all_detectors()["reward-collapse"], run)) is told
