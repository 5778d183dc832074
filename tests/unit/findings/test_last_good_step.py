"""The step to go back to is one at which nothing was wrong."""

from dataclasses import replace

import pytest

from holter.findings import diagnosis as diagnosing
from holter.findings.finding import Confidence, Severity
from holter.runs.build import run_of
from tests.unit.findings.test_verdict import finding

ADVICE = ("Go back to {before}.",)


def lasting(first):
    return replace(
        finding("lasting", Severity.CRITICAL, Confidence.STRONG), first_step=first, last_step=30.0, advice=ADVICE
    )


def past(first, last, severity=Severity.WARNING):
    return replace(
        finding("past", severity, Confidence.STRONG), first_step=first, last_step=last, active=False, advice=ADVICE
    )


@pytest.fixture
def diagnosed(monkeypatch):
    def diagnosed(*found):
        monkeypatch.setattr(diagnosing, "run_detectors", lambda *_, **__: iter(found))
        return diagnosing.diagnose(run_of(range(1, 31), {"reward": [0.5] * 30}))

    return diagnosed


@pytest.mark.parametrize(
    ("found", "good"),
    [
        ([lasting(21.0)], 20.0),
        ([lasting(21.0), past(5.0, 12.0)], 20.0),
        ([lasting(21.0), past(5.0, 25.0)], 4.0),
        ([lasting(21.0), past(18.0, 20.0), past(5.0, 17.0)], 4.0),
        ([lasting(21.0), past(5.0, 25.0, Severity.INFO)], 20.0),
        ([lasting(21.0), past(1.0, 25.0)], None),
        ([past(5.0, 12.0)], None),
    ],
)
def test_it_lies_in_no_trouble_that_is_over_either(diagnosed, found, good):
    assert diagnosed(*found).last_good_step == good


def test_advice_names_no_other_step_than_one_at_which_nothing_was_wrong(diagnosed):
    told = diagnosed(lasting(21.0), past(5.0, 25.0))
    assert told.findings[0].advice == ("Go back to step 4.",)
    never = diagnosed(lasting(21.0), past(1.0, 25.0))
    assert [f.advice for f in never.findings] == [(diagnosing.FROM_THE_FIRST_ROW,)] * 2
