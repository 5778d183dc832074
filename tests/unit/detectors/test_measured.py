"""What a detector's page says of its measured error rates."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from holter.detectors import measured as module
from holter.detectors.base import Detector, limit
from holter.detectors.kl.kl_runaway import KLRunaway
from holter.detectors.measured import Rate, measured, measurement, section
from holter.detectors.registry import all_detectors
from holter.reports.lookup import look_up


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (1, 1000, 0.000177, 0.005642)],
)
def test_the_interval_is_wilson_s(hits, of, low, high):
    """Values of the formula worked out by hand: (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)."""
    assert Rate(hits, of).interval == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.93])
def test_the_interval_holds_the_true_share_about_nineteen_times_in_twenty(share):
    drawn = np.random.default_rng(0).binomial(60, share, size=2000)
    inside = sum(low <= share <= high for low, high in (Rate(int(k), 60).interval for k in drawn))
    assert 0.91 < inside / 2000 < 0.99


def test_a_rate_of_nothing_says_nothing():
    assert str(Rate(0, 0)) == "-"
    assert Rate(0, 0).interval == (0.0, 1.0)


def test_rates_are_written_with_their_interval():
    assert str(Rate(5, 10)) == "0.50 (0.24-0.76)"
    assert str(Rate(6, 1000)) == "0.006 (0.003-0.013)"
    assert Rate(1, 1000).per_thousand() == "1.0 per 1,000 (95 %: 0.2 to 5.6)"


RECORD = {
    "version": "0.0",
    "made": {"healthy": 1000},
    "sets": {"runs/trl": {}, "cases": None, "made": {}},
    "detectors": {
        "kl-runaway": {
            "limits": {f.name: f.default for f in dataclasses.fields(KLRunaway)},
            "accused": [3, 950],
            "mentioned": 4,
            "recall": {"kl-explosion": [95, 100, 100], "kl-drift": [20, 100, 80]},
            "onset": [2.0, 9.0],
            "delay": [5.0, 12.0],
            "named": [12, 20],
            "flagged": [1, 46],
        },
        "silent": {
            "limits": {"old": 2.0, "level": 1.0},
            "accused": [0, 0],
            "mentioned": 0,
            "recall": {},
            "onset": None,
            "delay": None,
            "named": [0, 0],
            "flagged": [0, 0],
        },
    },
}


@pytest.fixture
def record(monkeypatch):
    monkeypatch.setattr(module, "measurement", lambda: RECORD)


def test_a_page_says_false_alarms_recall_onset_and_what_they_were_measured_on(record):
    text = section(KLRunaway)
    for said in (
        "3 of 950 healthy made runs accused, 3.2 per 1,000 (95 %: 1.1 to 9.2)",
        "50 more do not hold what it needs",
        "of 4 it said something as an info",
        "kl-explosion 0.95 (0.89-0.98), 95 of 100;",
        "kl-drift 0.20 (0.13-0.29), 20 of 100 (20 do not hold what it needs)",
        "off by 2 logged rows in the median, 90 % by at most 9",
        "5 rows after the onset in the median, 90 % within 12",
        "Labelled logs (runs/trl): accused 1 of 46 healthy runs that hold what it needs; spoke on 12 of 20 sick runs",
        "Measured with Holter 0.0",
        "`docs/accuracy.md`",
    ):
        assert said in text
    assert "Changed since" not in text


@dataclass(frozen=True, kw_only=True)
class Silent(Detector):
    """Never says anything."""

    name: ClassVar = "silent"
    code: ClassVar = "TST1"

    level: float = limit(3.0, unit="x", help="")


def test_what_could_not_be_measured_is_said_and_not_called_zero(record):
    text = section(Silent)
    assert "not measured on made runs: none of the 1,000 healthy ones holds what it needs" in text
    assert "recall is not measured" in text
    assert "no healthy run holds what it needs; no sick run is labelled with its kind of trouble" in text
    assert "per 1,000" not in text


def test_limits_that_changed_since_are_named(record):
    assert "Changed since it was measured: level was 1, is 3, old was 2, is no limit." in section(Silent)


def test_a_detector_that_was_not_measured_says_so(record):
    @dataclass(frozen=True, kw_only=True)
    class Foreign(Detector):
        name: ClassVar = "foreign"

    assert measured("foreign") is None
    assert "Not measured: how often it is right or wrong is unknown." in section(Foreign)


def test_every_page_of_a_detector_ends_with_its_measurement():
    for name in all_detectors():
        page = look_up(name)
        assert page.markdown.count("\n## Measured\n") == 1
        assert page.facts["measured"] == measurement()["detectors"].get(name)


def test_what_was_measured_are_detectors_that_exist():
    assert set(measurement()["detectors"]) <= set(all_detectors())
