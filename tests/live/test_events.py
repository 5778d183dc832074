"""Live and afterwards, on every real run that is here: the same findings, and events that tell one consistent story."""

from __future__ import annotations

import pytest

from holter.findings.diagnosis import diagnose
from holter.findings.finding import Severity
from holter.runs.load import load
from tests.patience import PATIENCE

from .test_monitor import REAL, SHARED, logged, said_by

FEW = [path for path in REAL if path.exists()]
ALL = sorted(SHARED.glob("*")) if SHARED.is_dir() else []


def key(finding) -> tuple:
    """What stays the same of a finding while its beginning is estimated anew."""
    return finding["detector"], tuple(finding["metrics"][:1])


def checked(begin, lines, path, every: int) -> None:
    rows = logged(path)
    run = begin(monitor=True)
    for number, row in enumerate(rows, start=1):
        run.log(row, step=row.get("step", number))
        if number % every == 0 or number <= 8:
            assert run.monitor.settle(PATIENCE)
    run.finish()
    (read,) = load([run.path]).runs
    afterwards = diagnose(read)
    assert said_by(run.monitor.diagnosis) == said_by(afterwards), "live is what check says"

    open_now: list[tuple] = []
    told: list[tuple] = []
    for event in lines(run.path / "findings.jsonl"):
        if event["kind"] == "opened":
            open_now += [key(event["finding"])] if event["finding"]["active"] else []
            told += [key(event["finding"])] if event["told"] else []
        elif event["kind"] == "persists":
            assert key(event["finding"]) in open_now
            assert event["told"]
            told.append(key(event["finding"]))
        elif event["kind"] == "worsened":
            assert event["finding"]["severity"] in ("warning", "critical")
        elif event["kind"] == "resolved":
            open_now.remove(key(event["finding"]))
    last = afterwards.findings
    active = [(f.detector, f.metrics[:1]) for f in last if f.active and f.severity >= Severity.WARNING]
    if len(read) > 5:
        assert sorted(open_now) == sorted(active), "what was opened and not resolved is what check says still holds"
    roots = {f.detector for f in last if f.active and f.severity is Severity.CRITICAL and f.caused_by is None}
    assert roots <= {detector for detector, _ in told}, "nobody learns of a critical root only afterwards"


@pytest.mark.parametrize("path", FEW, ids=lambda p: p.parent.name if p.is_file() else p.name)
def test_events_of_a_real_run_end_in_what_check_says(begin, lines, path):
    checked(begin, lines, path, every=10)


@pytest.mark.slow
@pytest.mark.parametrize("path", ALL, ids=lambda p: p.name)
def test_events_of_every_real_run_end_in_what_check_says(begin, lines, path):
    checked(begin, lines, path, every=25)
