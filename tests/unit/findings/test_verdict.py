"""The verdict says no more than the log carries."""

from dataclasses import replace

import pytest

from holter.findings.diagnosis import diagnose
from holter.findings.diagnosis.story import stories
from holter.findings.diagnosis.verdict import verdict
from holter.findings.finding import Confidence, Evidence, Finding, Severity
from holter.runs.build import run_of


def finding(detector, severity, confidence, caused_by=None):
    evidence = Evidence(metric=detector, key="reward", steps=(1.0,), values=(0.5,), unit="", says="seen")
    return Finding(
        detector=detector,
        code="TST001",
        severity=severity,
        confidence=confidence,
        title=f"{detector} is seen",
        first_step=1.0,
        last_step=9.0,
        onset=(1.0, 1.0),
        raised_step=1.0,
        active=True,
        evidence=(evidence,),
        caused_by=caused_by,
    )


@pytest.mark.parametrize(
    ("root", "consequence", "said"),
    [
        ((Severity.WARNING, Confidence.MODERATE), (Severity.CRITICAL, Confidence.CERTAIN), Confidence.MODERATE),
        ((Severity.WARNING, Confidence.CERTAIN), (Severity.CRITICAL, Confidence.STRONG), Confidence.STRONG),
        ((Severity.CRITICAL, Confidence.STRONG), (Severity.CRITICAL, Confidence.CERTAIN), Confidence.STRONG),
    ],
)
def test_the_verdict_is_as_sure_as_the_least_sure_finding_it_names(root, consequence, said):
    run = run_of(range(1, 31), {"reward": [0.01 * i for i in range(30)]})
    both = [finding("root", *root), finding("after", *consequence, caused_by="root")]
    assert verdict(run, stories(both), []).confidence is said


@pytest.mark.parametrize(
    ("title", "begins"),
    [("kl leaves its trend", "kl leaves"), ("klaxons sound", "Klaxons sound"), ("numbers end", "Numbers end")],
)
def test_a_metric_is_written_as_the_log_writes_it_even_where_a_sentence_begins(title, begins):
    run = run_of(range(1, 31), {"reward": [0.01 * i for i in range(30)]})
    found = replace(finding("kl", Severity.WARNING, Confidence.STRONG), title=title)
    assert verdict(run, stories([found]), []).text.startswith(begins)


@pytest.mark.parametrize(
    ("last", "says"),
    [(1.0, "At step 1: root is seen (certain, over)"), (4.0, "From step 1: root is seen (certain, over since step 4)")],
)
def test_what_is_over_is_said_to_be(last, says):
    run = run_of(range(1, 31), {"reward": [0.01 * i for i in range(30)]})
    over = replace(finding("root", Severity.WARNING, Confidence.CERTAIN), last_step=last, active=False)
    assert verdict(run, stories([over]), []).title == says


def test_one_row_without_a_fault_is_not_called_healthy():
    assert diagnose(run_of([1], {"reward": [0.5], "kl": [0.0]})).verdict.status == "cannot-tell"


def test_a_log_without_vital_signs_is_not_called_healthy():
    said = diagnose(run_of(list(range(50)), {"step_time": [1.0] * 50})).verdict
    assert said.status == "cannot-tell"


def test_a_log_without_held_out_score_says_what_that_means():
    run = run_of(
        list(range(1, 41)),
        {"reward": [0.01 * i for i in range(40)], "grad_norm": [1.0 + 0.01 * (i % 7) for i in range(40)]},
    )
    said = diagnose(run)
    assert "cannot be excluded" in said.verdict.text
    assert any(u.detector == "reward-hacking" for u in said.unchecked)


def test_the_text_counts_what_was_checked():
    run = run_of(
        list(range(1, 41)),
        {"reward": [0.01 * i for i in range(40)], "grad_norm": [1.0 + 0.01 * (i % 7) for i in range(40)]},
    )
    said = diagnose(run)
    assert "detectors had what they need" in said.verdict.text
