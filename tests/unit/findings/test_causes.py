"""Roots and consequences."""

from dataclasses import replace

import numpy as np
import pytest

from holter.detectors.registry import all_detectors
from holter.findings.diagnosis.causes import attribute, can_explain
from holter.findings.finding import Confidence, Evidence, Finding, Severity
from holter.runs.build import run_of

RUN = run_of(list(range(1, 101)), {"loss": np.zeros(100).tolist()})


def finding(name: str, start: float, *, severity=Severity.WARNING, last: float = 100.0) -> Finding:
    return Finding(
        detector=name,
        code=all_detectors()[name].code,
        severity=severity,
        confidence=Confidence.MODERATE,
        title=name,
        first_step=start,
        last_step=last,
        onset=(start, start),
        raised_step=start,
        active=last == 100.0,
        evidence=(Evidence(metric="loss", key="loss", steps=(), values=(), unit="1", says=""),),
    )


def pair() -> tuple[str, str]:
    """A cause and a consequence that does not explain back, from the declarations."""
    for cause in all_detectors():
        for consequence in all_detectors():
            if cause != consequence and can_explain(cause, consequence) and not can_explain(consequence, cause):
                return cause, consequence
    pytest.fail("no detector explains another")


def test_the_earlier_finding_explains_the_later():
    cause, consequence = pair()
    by = {f.detector: f for f in attribute(RUN, [finding(consequence, 30), finding(cause, 10)])}
    assert by[consequence].caused_by == cause
    assert by[cause].caused_by is None


def test_what_began_much_later_is_no_cause():
    cause, consequence = pair()
    by = {f.detector: f for f in attribute(RUN, [finding(consequence, 10), finding(cause, 60)])}
    assert by[consequence].caused_by is None


def test_what_was_over_before_is_no_cause():
    cause, consequence = pair()
    by = {f.detector: f for f in attribute(RUN, [finding(cause, 10, last=20.0), finding(consequence, 60)])}
    assert by[consequence].caused_by is None


def test_information_explains_nothing():
    cause, consequence = pair()
    by = {f.detector: f for f in attribute(RUN, [finding(cause, 10, severity=Severity.INFO), finding(consequence, 20)])}
    assert by[consequence].caused_by is None


def test_every_chain_ends_at_a_root():
    everything = [finding(n, 10.0 + i % 7) for i, n in enumerate(all_detectors())]
    by = {f.detector: f for f in attribute(RUN, everything)}
    for name in by:
        seen = set()
        while by[name].caused_by is not None:
            assert name not in seen, f"{name} explains itself"
            seen.add(name)
            name = by[name].caused_by
    assert any(f.caused_by is None for f in by.values())


def test_declared_consequences_exist():
    for cls in all_detectors().values():
        assert set(cls.explains) <= set(all_detectors()), cls.name
        assert set(cls.explained_by) <= set(all_detectors()), cls.name
        assert cls.name not in cls.explains


def test_order_of_the_findings_changes_nothing():
    some = [finding(n, 10.0 + i % 5) for i, n in enumerate(list(all_detectors())[:12])]
    one = {f.detector: f.caused_by for f in attribute(RUN, some)}
    other = {f.detector: f.caused_by for f in attribute(RUN, some[::-1])}
    assert one == other
    assert replace(some[0]) == some[0]
