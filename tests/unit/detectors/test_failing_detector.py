"""A detector that breaks off costs its own answer and nothing else, and is told of; a test of it sees its error."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from rich.console import Console

from holter.detectors import chosen, registry
from holter.detectors.base import Detector
from holter.detectors.registry import run_detectors
from holter.findings.diagnosis import diagnose
from holter.reports.terminal import print_diagnoses
from holter.runs.build import run_of


@dataclass(frozen=True, kw_only=True)
class Breaks(Detector):
    """Fails after its first finding."""

    name: ClassVar = "breaks"
    code: ClassVar = "TST001"
    since: ClassVar = "0"

    def check(self, run):
        yield self.unchecked("said before it broke.")
        raise IndexError("list index out of range")


RUN = run_of(range(30), {"reward": [0.01 * (i % 7) + 0.01 * i for i in range(30)]})


@pytest.fixture
def beside_the_others(monkeypatch):
    known = {**registry.all_detectors(), "breaks": Breaks}
    for module in (registry, chosen):
        monkeypatch.setattr(module, "all_detectors", lambda: known)


def test_a_test_sees_the_error_of_a_detector():
    with pytest.raises(IndexError, match="list index"):
        list(run_detectors(RUN, [Breaks()]))


def test_a_detector_that_breaks_off_is_reported_by_name_error_and_place():
    (answer,) = run_detectors(RUN, [Breaks()], strict=False)
    assert (answer.detector, answer.code, answer.failed, answer.missing) == ("breaks", "TST001", True, ())
    assert answer.why.startswith(
        "breaks broke off with an error of its own, IndexError: list index out of range (test_failing_detector.py:"
    )


@pytest.mark.usefixtures("beside_the_others")
def test_the_other_detectors_are_asked_all_the_same_and_the_verdict_names_the_broken_one():
    diagnosis = diagnose(RUN)
    assert [u.detector for u in diagnosis.unchecked if u.failed] == ["breaks"]
    assert len({u.detector for u in diagnosis.unchecked}) > 1
    assert "Not looked for, because the detector broke off with an error: breaks." in diagnosis.verdict.text


@pytest.mark.usefixtures("beside_the_others")
def test_the_terminal_names_a_broken_detector_without_being_asked(capsys):
    print_diagnoses(Console(width=400), [diagnose(RUN)], verbose=False)
    assert "breaks: breaks broke off with an error of its own, IndexError" in capsys.readouterr().out
